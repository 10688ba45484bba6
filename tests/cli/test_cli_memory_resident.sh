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
    local peak=0 size now
    named 12 "$@" # the model of LPNN takes 6 MB itself
    size=$(sed -n 's/.* about \([0-9.]*\)M .*/\1/p' first)
    for _ in 1 2 3; do # on a busy machine the peak may pass between two looks at the memory
        now=$(peak_of "$SFUMATO" "$@" --quiet --memory "${size}M")
        peak=$((now > peak ? now : peak))
        awk -v size="$size" -v peak="$peak" 'BEGIN { exit !(size * 1024 < 1.35 * peak) }' && break
    done
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

# A study is refused before it is created. The limit that is named holds its largest network, and is enough for any
# number of jobs, with the trials of a run without a limit.
study=(tune sparse.safetensors gcn --space 'paper hidden={16,256}' --trials 12 --epochs 5 --force)
"$SFUMATO" "${study[@]}" --jobs 1 --study memory -o one.st --export one.csv --quiet >/dev/null
study+=(--jobs 8 --study jobs.db -o jobs.st --export jobs.csv)
within 12 "${study[@]}"
[ ! -e jobs.db ]
size=$(sed -n 's/.*dense 256 relu.* about \([0-9.]*M\) .*/\1/p' error)
"$SFUMATO" "${study[@]}" --memory "$size" --quiet >/dev/null
cmp one.st jobs.st
cmp one.csv jobs.csv

# The limit that a labelling names holds all folds, and the prediction of all nodes.
hide_labels dense.safetensors hidden.safetensors
for network in sgcn gcn; do
    named 4 label hidden.safetensors --nets "$network" --budget steps:3 --force -o labels.csv
done
