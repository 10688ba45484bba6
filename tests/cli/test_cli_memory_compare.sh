#!/usr/bin/env bash
# compare --memory: networks that do not fit are left out and named, the others have the bytes of a run without a limit,
# and a run without one adds what is missing.
set -euo pipefail

# Sanitizers and emulators reserve more memory than the limits for themselves.
[ "${BUILD_KIND:-plain}" = plain ] || exit 0

fail() { # MESSAGE
    echo "$1" >&2
    exit 1
}

same() { # FILE FILE
    cmp "$1" "$2" || fail "$1 and $2 differ"
}

"$SFUMATO" data make --nodes 30000 --degree 8 --dense 256 --classes 5 -o few.safetensors --quiet >/dev/null
comparison=(compare few.safetensors --nets 'gcn,sgcn,fp+mlp' --splits 2 --trials 2 --jobs 2 --quiet)
"$SFUMATO" "${comparison[@]}" --nets sgcn,fp+mlp -o some >/dev/null
"$SFUMATO" "${comparison[@]}" -o all >/dev/null
(
    ulimit -d 25600
    "$SFUMATO" "${comparison[@]}" -o within --memory 25M --json
) >within.json
for file in results.csv curves.csv details.csv; do
    same "some/$file" "within/$file"
done
python3 - within.json <<'PYTHON'
import json, re, sys
out = json.load(open(sys.argv[1]))["left_out"]
assert [(one["dataset"], one["net"], one["size"]) for one in out] == [("few.safetensors", "gcn", "1")], out
assert re.fullmatch(r"[0-9.]+M", out[0]["needs"]) and float(out[0]["needs"][:-1]) > 25, out
PYTHON
"$SFUMATO" "${comparison[@]}" -o within >text
if grep -q 'Left out' text; then
    fail 'a run without a limit leaves nothing out'
fi
same all/results.csv within/results.csv
if "$SFUMATO" "${comparison[@]}" -o never --memory 1M 2>error; then
    fail 'expected a failure with 1M'
fi
if [ "$(wc -l <error)" != 1 ] || [ -e never ]; then
    fail "expected one line and no folder: $(cat error)"
fi
grep -q 'no network fits the memory limit of 1M; the smallest, .* on few.safetensors, needs up to' error
named=$(sed 's/.*needs up to \([0-9.]*[KMG]\);.*/\1/' error)
"$SFUMATO" "${comparison[@]}" -o named --memory "$named" | tr -s '\n ' ' ' |
    grep -q 'Left out because of the memory limit: gcn on few.safetensors, size 1: needs up to [0-9.]*M'
