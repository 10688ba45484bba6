#!/usr/bin/env bash
# Studies and comparisons on an emulated GPU: the bytes of those on the processor; continued on the other device; a
# device that is lost in the middle; little memory; no driver.
. "$SOURCE/tests/support/transcript.sh"

"$SFUMATO" data make -o small.safetensors --nodes 100 --classes 3 --vocabulary 30 --words 5 --seed 3 -q >/dev/null

# on DRIVER COMMAND...: with the emulated driver, which behaves as DRIVER says.
on() {
    local driver=$1
    shift
    LD_LIBRARY_PATH=$BUILD/emulated_driver SFUMATO_EMULATED_DRIVER=report,$driver "$SFUMATO" "$@" -q >out 2>err
}
fails() { fail "$1: $(cat err)"; }

study=(tune small.safetensors gcn --epochs 6)
if ! on "" "${study[@]}" --trials 2 --study memory --device cuda; then
    grep -q 'no CUDA backend' err || fails "a study on the GPU"
    echo 'skipped: training on NVIDIA GPUs is not part of this build'
    exit 77
fi

# ---- a study in memory: all samplers and a search for the network
same() {
    local common=(tune small.safetensors "$@" --epochs 6)
    "$SFUMATO" "${common[@]}" --study memory --device cpu --export cpu.csv -q >cpu.out 2>/dev/null ||
        fail "$*: on the processor"
    on "" "${common[@]}" --study memory --device cuda --export cuda.csv || fails "$*"
    cmp cpu.csv cuda.csv || fail "$*: other trials on the GPU"
    sed -i '/^  time /d; s/cpu\.csv/cuda.csv/' cpu.out out
    cmp cpu.out out || fail "$*: another report on the GPU"
}
same gcn --trials 60
same mlp+lp --trials 20 --sampler random
same sgcn --trials 15 --wave 1
same any --trials 12 --space 'net={gcn,sgcn,lpnn} lr=log(0.01,0.1)'
for metric in macro-f1 balanced-accuracy auc average-precision; do
    same sgcn --trials 4 --metric $metric
done
! on fail=cuLaunchKernelEx:700:1 "${study[@]}" --trials 4 --metric auc --study memory --device cuda ||
    fail "a study by another metric does not use the GPU"

# ---- a study on disk, and what becomes of it
if "$SFUMATO" "${study[@]}" --trials 60 --study cpu.db --device cpu --export cpu.csv -q >/dev/null 2>err; then
    on "" "${study[@]}" --trials 60 --study cuda.db --device cuda --export cuda.csv || fails "a study on disk"
    cmp cpu.csv cuda.csv || fail "a study on disk has other trials on the GPU"

    "$SFUMATO" "${study[@]}" --trials 25 --study both.db --device cpu -q >/dev/null
    on "" "${study[@]}" --trials 40 --study both.db --device cuda || fails "continued on the GPU"
    "$SFUMATO" "${study[@]}" --trials 60 --study both.db --device cpu --export both.csv -q >/dev/null
    cmp cpu.csv both.csv || fail "a study on both devices has other trials"

    # The first batch of ten trials, in up to four groups, is stored; the device is lost in a later one.
    ! on fail=cuLaunchKernelEx:700:8 "${study[@]}" --trials 60 --study lost.db --device cuda ||
        fail "the device was not lost"
    [ "$(grep -c . err)" = 1 ] && grep -q 'cuda:0.*device failed' err || fails "the line of a lost device"
    ! grep -q 'could not be saved' err || fails "a lost device loses trials"
    "$SFUMATO" "${study[@]}" --trials 1 --study lost.db --device cpu --export lost.csv -q >/dev/null
    [ "$(grep -c COMPLETE lost.csv)" -ge 10 ] || fail "finished trials of a lost device are not stored: $(cat lost.csv)"
    on "" "${study[@]}" --trials 60 --study lost.db --device cuda --export lost.csv || fails "resumed"
    cmp cpu.csv lost.csv || fail "a study that lost its device has other trials"
else
    grep -q SQLite err || fails "a study on disk"
fi

# ---- little memory: fewer at once, or one line
on memory=1500000 "${study[@]}" --trials 12 --study memory --device cuda --export few.csv || fails "little memory"
"$SFUMATO" "${study[@]}" --trials 12 --study memory --device cpu --export cpu.csv -q >/dev/null 2>&1
cmp cpu.csv few.csv || fail "little memory changes the trials"
! on memory=50000 "${study[@]}" --trials 12 --study memory --device cuda || fail "a GPU without memory"
[ "$(grep -c . err)" = 1 ] && grep -q 'of device memory' err || fails "the line of a GPU without memory"

# ---- a comparison: the same files, but for those of times
compare=(compare small.safetensors --nets gcn,sgcn,lpnn --trials 6 --splits 2 -q)
"$SFUMATO" "${compare[@]}" -o cpu --device cpu >cpu.out 2>/dev/null
on "" "${compare[@]}" -o cuda --device cuda || fails "a comparison"
for file in results.csv curves.csv details.csv tables.md tables.tex report.html; do
    cmp cpu/$file cuda/$file || fail "a comparison has another $file on the GPU"
done
by_f1=(compare small.safetensors --nets gcn,sgcn --trials 3 --metric macro-f1 -q)
"$SFUMATO" "${by_f1[@]}" -o cpu-f1 --device cpu >cpu.out 2>/dev/null
on "" "${by_f1[@]}" -o cuda-f1 --device cuda || fails "a comparison by another metric"
cmp cpu-f1/results.csv cuda-f1/results.csv || fail "a comparison by another metric has other results on the GPU"
! on fail=cuLaunchKernelEx:700:3 "${compare[@]}" -o broken --device cuda || fail "the device was not lost"
[ "$(grep -c . err)" = 1 ] && grep -q 'cuda:0.*device failed' err || fails "the line of a lost device"
"$SFUMATO" "${compare[@]}" -o broken --device cpu >/dev/null 2>&1
cmp cpu/results.csv broken/results.csv || fail "a comparison that lost its device has other results"

# ---- no driver: auto is the processor, cuda is one line
mkdir none
: >none/libcuda.so.1
export LD_LIBRARY_PATH=$PWD/none
"$SFUMATO" "${study[@]}" --trials 12 --study memory --device auto --export auto.csv -q >/dev/null 2>&1 || fail "auto"
cmp cpu.csv auto.csv || fail "auto has other trials"
! "$SFUMATO" "${study[@]}" --trials 2 --study memory --device cuda -q >/dev/null 2>err || fail "cuda without a driver"
[ "$(grep -c . err)" = 1 ] || fails "the line of cuda without a driver"
! "$SFUMATO" "${compare[@]}" -o nothing --device cuda >/dev/null 2>err || fail "compare without a driver"
[ "$(grep -c . err)" = 1 ] && [ ! -e nothing ] || fails "compare without a driver has written something"
