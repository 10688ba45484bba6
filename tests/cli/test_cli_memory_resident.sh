#!/usr/bin/env bash
# --memory: networks that hold everything in memory are refused with little more than they take, before they compute.
set -euo pipefail
. "$SOURCE/tests/support/memory_limit.sh"

if [ "${BUILD_KIND:-plain}" != plain ]; then
    echo "sanitizers and emulators reserve more memory than the limits: skipped"
    exit 77
fi
"$SFUMATO" data make --nodes 40000 --degree 12 --vocabulary 2000 --words 30 -o sparse.safetensors --quiet >/dev/null
"$SFUMATO" data make --nodes 30000 --degree 8 --classes 5 --dense 64 -o dense.safetensors --quiet >/dev/null
"$SFUMATO" data make --nodes 8000 --degree 8 --vocabulary 1000 --words 20 -o words.safetensors --quiet >/dev/null

# A network that cannot stream is refused with at most about 1.3 times what it takes, whatever it smooths, and for its
# training as for the prediction that follows.
tight() { # COMMAND...
    local peak size
    named 12 "$@" # the model of LPNN takes 6 MB itself
    size=$(sed -n 's/.* about \([0-9.]*\)M .*/\1/p' first)
    peak=$(peak_of "$SFUMATO" "$@" --quiet --memory "${size}M")
    awk -v size="$size" -v peak="$peak" 'BEGIN { exit !(size * 1024 > peak && size * 1024 < 1.35 * peak) }' || {
        echo "$*: a limit of ${size}M is named, for a peak of $peak KiB" >&2
        exit 1
    }
}
for network in gcn sgcn+lp lpnn; do
    tight train sparse.safetensors "$network" --epochs 2 --force -o model.st
    tight predict sparse.safetensors model.st --force -o labels.csv
done
tight train words.safetensors 'smooth^2(act=tanh) | dense 32 relu | smooth(teleport=0.1) | softmax' --epochs 2 --force \
    -o model.st
tight predict words.safetensors model.st --force -o labels.csv

# What scores the model takes more than its training, which is refused before its first epoch, not after its last.
awk 'BEGIN { print "node,part"
    for (i = 0; i < 30000; i++) print i "," (i < 20 ? "train" : i < 40 ? "val" : "test") }' >split.csv
within 20 train dense.safetensors gcn --split file:split.csv --epochs 100000000 --patience 0 --force -o model.st
grep -q 'needs about' error

# The limit that a labelling names holds all folds, and the prediction of all nodes.
python3 - dense.safetensors hidden.safetensors <<'PYTHON'
import array, json, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
start = 8 + struct.unpack("<Q", data[:8])[0]
begin, end = json.loads(data[8:start])["y"]["data_offsets"]
labels = array.array("i", bytes(data[start + begin:start + end]))
data[start + begin:start + end] = array.array("i", [y if i % 150 == 0 else -1 for i, y in enumerate(labels)]).tobytes()
open(sys.argv[2], "wb").write(data)
PYTHON
for network in sgcn gcn; do
    named 4 label hidden.safetensors --nets "$network" --budget steps:1 --force -o labels.csv
done
