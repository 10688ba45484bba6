#!/usr/bin/env bash
# --memory with sparse features, which smoothing fills in: a run stays below the limit or is refused in one line, and
# the limit that a refusal names is enough; under RLIMIT_DATA. The decision depends neither on the run nor on threads.
set -euo pipefail
. "$SOURCE/tests/support/memory_limit.sh"

# Sanitizers and emulators reserve more memory than the limits for themselves.
[ "${BUILD_KIND:-plain}" = plain ] || exit 0

"$SFUMATO" data make --nodes 8000 --degree 20 --classes 5 -o words.safetensors --quiet >/dev/null
"$SFUMATO" data make --nodes 50000 --degree 8 --classes 5 --dense 64 -o dense.safetensors --quiet >/dev/null

enough() { # LIMIT COMMAND...: refused, and not with the limit that the refusal names
    local limit=$1
    shift
    if "$SFUMATO" "$@" --quiet --memory "$limit" 2>error >/dev/null; then
        echo "$*: expected a refusal within $limit" >&2
        exit 1
    fi
    named=$(sed -n 's/.* up to \([0-9.]*[KMG]\)[ ,].*/\1/p' error)
    (
        ulimit -d "$(awk -v size="$named" 'BEGIN {
            unit["K"] = 1; unit["M"] = 1024; unit["G"] = 1048576
            printf "%d", size * unit[substr(size, length(size))] }')"
        "$SFUMATO" "$@" --quiet --memory "$named"
    ) >/dev/null
}

for network in sgcn fp+mlp; do
    train=(train words.safetensors "$network" --split holdout:0 --epochs 2 --force)
    for limit in 20 40 80 120; do
        within "$limit" "${train[@]}" -o within.st
    done
    "$SFUMATO" "${train[@]}" -o all.st --quiet >/dev/null
    enough 40M "${train[@]}" -o enough.st
    cmp all.st enough.st
    enough 30M "${train[@]}" -k 1 -o enough.st
done

# Once the strategies are chosen, the limit that a refusal names is less than twice the memory that the run takes.
"$SFUMATO" data make --nodes 60000 --degree 12 --vocabulary 2000 --words 40 -o wide.safetensors --quiet >/dev/null
train=(train wide.safetensors fp+mlp --hidden 16 --epochs 2 --force)
"$SFUMATO" "${train[@]}" -o all.st --quiet >/dev/null
enough 10M "${train[@]}" -o enough.st
cmp all.st enough.st
peak=$(peak_of "$SFUMATO" "${train[@]}" -o enough.st --quiet --memory "$named")
awk -v size="$named" -v peak="$peak" 'BEGIN { exit !(size ~ /M$/ && size * 1024 < 2 * peak) }' || {
    echo "a limit of $named is named, for a peak of $peak KiB" >&2
    exit 1
}

# Here a plan in memory is tried first, does not fit, and leaves what it has copied of the dataset.
"$SFUMATO" data make --nodes 25000 --degree 14 --classes 6 --vocabulary 1500 --words 40 -o full.safetensors --quiet >/dev/null
enough 2M train full.safetensors sgcn --split holdout:0 --size 4500 --epochs 2 --force -o enough.st
enough 2M tune full.safetensors sgcn --split holdout:0 --size 4500 --epochs 2 --trials 2 --study memory

# Temporary files need no writable current folder.
mkdir gone
(
    here=$PWD
    cd gone
    rmdir "$here/gone"
    "$SFUMATO" train "$here/wide.safetensors" fp+mlp --hidden 16 --epochs 2 --force -o "$here/gone.st" --quiet \
        --memory "$named"
) >/dev/null
cmp all.st gone.st

# A labelling that does not fit is refused before its first step.
if "$SFUMATO" label wide.safetensors --all --budget steps:1 --memory 10M -o labels.csv --quiet 2>error >/dev/null; then
    echo "label: expected a refusal within 10M" >&2
    exit 1
fi
grep -q 'no network fits the memory limit of 10M' error

# Where a labelling is estimated to fit in memory and its plans do not, all folds stream: what is named is the same.
"$SFUMATO" data make --nodes 4000 --degree 20 --classes 5 -o small.safetensors --quiet >/dev/null
hide_labels small.safetensors some.safetensors 5
label=(label some.safetensors --nets sgcn --budget steps:1 --force)
"$SFUMATO" "${label[@]}" -o all.csv --quiet >/dev/null
enough 10M "${label[@]}" -o enough.csv
cmp all.csv enough.csv
within 30 "${label[@]}" -o enough.csv
grep -q "up to $named of memory, more than the limit of 30M" error
within 60 tune words.safetensors fp+mlp --split holdout:0 --trials 2 --epochs 2 --study memory
within 20 train dense.safetensors sgcn --split holdout:0 --epochs 2 -o within.st --force

# Many threads need no larger limit, and the same limit has the same result every time.
for kib in 7000 8000 9000 10000 11000 12000; do
    found=
    for threads in 1 8 8 8; do
        code=0
        (
            ulimit -d "$kib"
            "$SFUMATO" train dense.safetensors sgcn -k 3 --epochs 2 --memory "${kib}K" --threads "$threads" -o again.st \
                --force --quiet
        ) >/dev/null 2>error || code=$?
        if [ -n "$found" ] && [ "$found" != "$code" ]; then
            echo "a limit of $kib KiB: exit $found, then $code with $threads threads: $(cat error)" >&2
            exit 1
        fi
        found=$code
    done
done
