#!/usr/bin/env bash
# --memory: the limit that a refusal names works, and two thirds of it do not, however small the limit was. What it takes
# to find it is in temporary files: a refused run stays within its limit.
set -euo pipefail
. "$SOURCE/tests/support/memory_limit.sh"

"$SFUMATO" data make --nodes 60000 --degree 12 --vocabulary 2000 --words 30 -o sparse.safetensors --quiet >/dev/null
if [ "${BUILD_KIND:-plain}" != plain ]; then # sanitizers and emulators reserve more memory than the limits
    train=(train sparse.safetensors sgcn --epochs 2 --quiet -o model.st)
    [ "$BUILD_KIND" != cross ] || exit 0
    ! "$SFUMATO" "${train[@]}" --memory 2M 2>error || exit 1
    "$SFUMATO" "${train[@]}" --memory "$(sed -n 's/.* up to \([0-9.]*M\) .*/\1/p' error)" >/dev/null
    exit 0
fi
"$SFUMATO" data make --nodes 30000 --degree 8 --classes 5 --dense 64 -o dense.safetensors --quiet >/dev/null

# LIMIT_IN_MIB COMMAND...
named() {
    local limit=$1 size less
    shift
    within "$limit" "$@"
    size=$(sed -n 's/.* \(up to\|about\) \([0-9.]*[KMG]\)[ ,].*/\2/p' error)
    cp error first
    "$SFUMATO" "$@" --quiet --memory "$size" >/dev/null
    less=$(awk -v size="$size" 'BEGIN { print int(size * (size ~ /G$/ ? 1048576 : 1024) * 2 / 3) }')
    if "$SFUMATO" "$@" --quiet --memory "${less}K" >/dev/null 2>&1; then
        echo "$*: a limit of $size is named, but $less KiB are enough" >&2
        exit 1
    fi
}
for data in sparse dense; do
    for network in sgcn fp+mlp gcn; do
        named 2 train $data.safetensors "$network" --epochs 2 --force -o model.st
        named 2 predict $data.safetensors model.st --force -o labels.csv
    done
done
named 6 train sparse.safetensors fp+mlp --epochs 2 --force -o model.st
named 6 predict sparse.safetensors model.st --force -o labels.csv
# Networks with an activation between their smoothings hold no features in a prediction: little memory is enough to score
# all nodes, and to predict them, with the bytes of a run without a limit.
"$SFUMATO" data make --nodes 8000 --degree 8 --vocabulary 1000 --words 20 -o words.safetensors --quiet >/dev/null
"$SFUMATO" data make --nodes 8000 --degree 8 --dense 128 -o values.safetensors --quiet >/dev/null
for data in words values; do
    for network in 'smooth^2(teleport=0.2,act=relu) | dense 16 relu | softmax' 'smooth(act=sigmoid) | softmax' \
        'smooth(act=tanh) | smooth | dense 24 relu | softmax'; do
        activated=(train $data.safetensors "$network" --epochs 2 --force)
        named 4 "${activated[@]}" --split holdout:0 -o model.st
        named 4 "${activated[@]}" -o model.st
        "$SFUMATO" "${activated[@]}" -o all.st --quiet >/dev/null
        cmp all.st model.st
        named 4 predict $data.safetensors model.st --force -o labels.csv
        "$SFUMATO" predict $data.safetensors model.st --force -o all.csv --quiet >/dev/null
        cmp all.csv labels.csv
    done
done

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
for network in gcn sgcn+lp lpnn 'smooth^2(act=tanh) | dense 32 relu | smooth(teleport=0.1) | softmax'; do
    tight train sparse.safetensors "$network" --epochs 2 --force -o model.st
    tight predict sparse.safetensors model.st --force -o labels.csv
done
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

# Without space for temporary files a larger limit is named, which works too.
(
    ulimit -f 0
    "$SFUMATO" train sparse.safetensors sgcn --quiet --memory 2M 2>&1 || exit 0
) | grep -q 'needs up to .* of memory, more than the limit of 2M; use a larger limit'
