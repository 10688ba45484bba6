#!/usr/bin/env bash
# --device cuda of the commands that run one network, with the emulated driver: the files and reports of the CPU; one
# line, and nothing written, if a GPU fails or has too little memory.
. "$SOURCE/tests/support/transcript.sh"

export LD_LIBRARY_PATH="$BUILD/emulated_driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" SFUMATO_EMULATED_DRIVER=report
"$SFUMATO" data make -o small.safetensors --nodes 300 --classes 3 --vocabulary 60 --words 6 --seed 3 >/dev/null
if ! "$SFUMATO" train small.safetensors linear -o try --epochs 2 -q --device cuda >/dev/null 2>err; then
    grep -q 'no CUDA backend' err || fail "$(cat err)"
    echo "skipped: training on NVIDIA GPUs is not part of this build"
    exit 77
fi
[ ! -s err ] || fail "$(cat err)"
rm try err

# ---- the same bytes
for device in cpu cuda; do
    "$SFUMATO" train small.safetensors gcn -o $device.model --epochs 8 -q --device $device --curve $device.curve \
        >/dev/null
    "$SFUMATO" train small.safetensors gcn -o $device.more --init cpu.model --epochs 5 -q --device $device >/dev/null
    "$SFUMATO" predict small.safetensors cpu.model -o $device.csv -q --device $device >/dev/null
    "$SFUMATO" predict small.safetensors cpu.model --embedding -o $device.hidden -q --device $device >/dev/null
    "$SFUMATO" evaluate small.safetensors cpu.model --device $device >$device.scores
    "$SFUMATO" train small.safetensors lpnn -o $device.lpnn --epochs 8 -q --device $device --metric auc >/dev/null
    "$SFUMATO" predict small.safetensors cpu.lpnn -o $device.lpnn.csv -q --device $device >/dev/null
    "$SFUMATO" predict small.safetensors cpu.lpnn --embedding -o $device.lpnn.hidden -q --device $device >/dev/null
done
for kind in model more csv hidden scores curve lpnn lpnn.csv lpnn.hidden; do
    cmp cpu.$kind cuda.$kind || fail "--device cuda gives another $kind"
done
"$SFUMATO" explain small.safetensors gcn --measure -q --device cuda >plan 2>/dev/null
grep -q measured plan || fail "explain --measure: $(head -3 plan)"

# ---- bench: the rates of the device, and an epoch there; nothing is saved
"$SFUMATO" bench small.safetensors gcn -q --device cuda >rates.txt
for words in '^Throughput of cuda:0 (Emulated GPU)$' '^  gather rows of 256 bytes, memory  *[0-9.]* *GB/s$' \
    '^  adam, per parameter ' 'softmax on cuda:0 (Emulated GPU)$' '^  epoch  *[0-9.]* [mun]*s '; do
    grep -q "$words" rates.txt || fail "bench does not print $words: $(cat rates.txt)"
done
"$SFUMATO" bench --kept -q --device cuda:0 --json >rates.json
grep -q '"device": "cuda:0"' rates.json && grep -q '"measured_on": "cuda:0 (Emulated GPU)"' rates.json ||
    fail "the JSON of bench does not have the device: $(cat rates.json)"
[ ! -e "$XDG_CACHE_HOME" ] || fail "bench has saved the rates of a GPU"

# ---- failures: one line, exit status CODE, nothing written
# fails CODE WORDS TEXT COMMAND...
fails() {
    local wanted=$1 words=$2 text=$3 code=0 before
    shift 3
    before=$(ls)
    SFUMATO_EMULATED_DRIVER=report,$words "$SFUMATO" "$@" -q --device cuda >/dev/null 2>err || code=$?
    [ "$code" = "$wanted" ] || fail "$*: exit $code instead of $wanted: $(cat err)"
    [ "$(grep -c . err)" = 1 ] && grep -q "$text" err || fail "$*: $(cat err)"
    rm err
    [ "$(ls)" = "$before" ] || fail "$*: it has written something: $(ls)"
}
fails 1 memory=20000 'GB of device memory, and .* GB are free' train small.safetensors gcn -o other
fails 1 fail=cuLaunchKernelEx:719:40 'cuda:0' train small.safetensors gcn -o other
fails 1 memory=20000 'GB of device memory, and .* GB are free' train small.safetensors lpnn -o other
fails 1 fail=cuLaunchKernelEx:719:40 'cuda:0' train small.safetensors lpnn -o other
fails 1 fail=cuLaunchKernelEx:719 'cuda:0' predict small.safetensors cpu.model -o labels.csv
fails 1 memory=900 'too few to measure it' bench
fails 1 memory=2000000 'of device memory' bench
fails 1 fail=cuLaunchKernelEx:719:20 'cuda:0' bench
fails 1 fail=cuMemcpyDtoHAsync_v2:700 'cuda:0' predict small.safetensors cpu.model --embedding -o labels.csv
