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

# Without space for temporary files a larger limit is named, which works too.
(
    ulimit -f 0
    "$SFUMATO" train sparse.safetensors sgcn --quiet --memory 2M 2>&1 || exit 0
) | grep -q 'needs up to .* of memory, more than the limit of 2M; use a larger limit'
