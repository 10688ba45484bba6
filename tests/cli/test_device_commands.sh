#!/usr/bin/env bash
# --device of every command that runs a network: the same files and reports for auto and cpu, studies and comparisons
# that go on with another device, and names that are refused before anything is written.
. "$SOURCE/tests/support/transcript.sh"

"$SFUMATO" data make -o small.safetensors --nodes 300 --classes 3 --vocabulary 60 --words 6 --seed 3 >/dev/null
"$SFUMATO" train small.safetensors gcn -o model --epochs 8 -q >/dev/null

# refused COMMAND...: exit status 2 and one line for a name that is none; nothing is written.
refused() {
    local code=0 before
    before=$(ls)
    "$SFUMATO" "$@" --device gpu --quiet >out 2>err </dev/null || code=$?
    [ "$code" = 2 ] || fail "$*: exit $code instead of 2: $(cat err)"
    [ "$(cat err)" = 'sfumato: device "gpu": expected auto, cpu, cuda or cuda:N with a number N from 0 to 1023' ] ||
        fail "$*: $(cat err)"
    rm -f out err
    [ "$(ls)" = "$before" ] || fail "$*: it has written something: $(ls)"
}
refused train small.safetensors gcn -o other
refused predict small.safetensors model -o labels.csv
refused predict small.safetensors model --embedding -o labels.csv
refused evaluate small.safetensors model
refused explain small.safetensors gcn --measure
refused bench small.safetensors gcn --no-keep
refused tune small.safetensors gcn --trials 2
refused compare small.safetensors --nets sgcn --trials 2 --splits 1 -o results
refused reproduce set1 --datasets small.safetensors --trials 2 -o results
refused label small.safetensors --all --budget steps:1 -o labels.csv

# ---- the same bytes
for device in auto cpu; do
    "$SFUMATO" train small.safetensors gcn -o $device.model --epochs 8 -q --device $device >/dev/null
    "$SFUMATO" predict small.safetensors model -o $device.csv -q --device $device >/dev/null
    "$SFUMATO" predict small.safetensors model --embedding -o $device.hidden -q --device $device >/dev/null
    "$SFUMATO" evaluate small.safetensors model --device $device >$device.scores
    "$SFUMATO" label small.safetensors --all --budget steps:1 --nets sgcn -o $device.labels --forget -q \
        --device $device >/dev/null
    "$SFUMATO" explain small.safetensors gcn --json -q --device $device >$device.json
    grep -qx "  \"device\": \"$device\"" $device.json || fail "the JSON does not have the device: $(tail -3 $device.json)"
done
cmp auto.model model || fail "auto is not the default"
for kind in model csv hidden scores labels; do
    cmp auto.$kind cpu.$kind || fail "--device cpu gives another $kind"
done

# ---- a study, and a folder of results, go on with another device
if "$SFUMATO" tune small.safetensors sgcn --trials 3 --epochs 5 --study a.db -q --device auto >/dev/null 2>err; then
    "$SFUMATO" tune small.safetensors sgcn --trials 6 --epochs 5 --study a.db -q --device cpu --export a.csv >/dev/null
    "$SFUMATO" tune small.safetensors sgcn --trials 6 --epochs 5 --study memory -q --device cpu --export b.csv >/dev/null
    cmp a.csv b.csv || fail "a study that went on with another device has other trials"
else
    grep -q SQLite err || fail "$(cat err)"
fi
compare=(compare small.safetensors --nets sgcn --trials 2 --jobs 1 -o folder -q)
"$SFUMATO" "${compare[@]}" --splits 1 --device auto >/dev/null
"$SFUMATO" "${compare[@]}" --splits 2 --device cpu >/dev/null
! grep -q '"device"' folder/manifest.json || fail "the manifest has the device"

# ---- a GPU: the same model, or one line that says why not
if "$SFUMATO" train small.safetensors gcn -o cuda.model --epochs 8 -q --device cuda >/dev/null 2>err; then
    cmp model cuda.model || fail "--device cuda gives another model"
else
    [ "$(grep -c . err)" = 1 ] && grep -q 'cuda' err || fail "--device cuda: $(cat err)"
    [ ! -e cuda.model ] || fail "--device cuda has failed and written a model"
fi
