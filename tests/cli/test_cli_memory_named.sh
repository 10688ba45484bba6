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
# The prediction that scores a model holds the features of a network with an activation between its smoothings.
named 2 train sparse.safetensors 'smooth(act=tanh) | smooth | softmax' --epochs 2 --force -o model.st

# Without space for temporary files a larger limit is named, which works too.
(
    ulimit -f 0
    "$SFUMATO" train sparse.safetensors sgcn --quiet --memory 2M 2>&1 || exit 0
) | grep -q 'needs up to .* of memory, more than the limit of 2M; use a larger limit'
