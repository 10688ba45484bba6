#!/usr/bin/env bash
# Ctrl-C while trials run on a GPU, with the emulated driver: they stop between two epochs, those that have ended are
# kept, and the same command continues to the bytes of a study and a comparison that nobody disturbed.
. "$SOURCE/tests/support/transcript.sh"

if ! "$SFUMATO" --version | grep -q 'sqlite  *yes'; then
    echo "skipped: this build has no SQLite" >&2
    exit 77
fi
export LD_LIBRARY_PATH="$BUILD/emulated_driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" SFUMATO_EMULATED_DRIVER=report
"$SFUMATO" data make -o small.safetensors --nodes 300 --classes 3 --vocabulary 60 --words 6 --seed 3 >/dev/null
if ! "$SFUMATO" train small.safetensors linear -o try --epochs 2 -q --device cuda >/dev/null 2>err; then
    echo "skipped: training on NVIDIA GPUs is not part of this build"
    exit 77
fi

# ended NAME TEXT: exit status 130, and one line that says what is saved
ended() {
    [ "$(cat "$1.code")" = 130 ] || fail "$1: exit $(cat "$1.code"), $(cat "$1.stderr")"
    grep -q "^sfumato: interrupted; $2" "$1.stderr" || fail "$1: it says $(cat "$1.stderr")"
}
# A line of the study's progress comes when its first trials are in flight.
tunes() { grep -q '^sfumato: tuning' "$1.stderr"; }

# ---- trials that outlast the test on any machine
interrupt endless 'tunes endless' "$SFUMATO" tune small.safetensors gcn --epochs 10000000 --patience 0 --trials 300 \
    --study endless.db --device cuda
ended endless '0 of 300 trials are saved in endless.db; run the same command again to resume'
interrupt train 'grep -q "^sfumato: training" train.stderr' "$SFUMATO" train small.safetensors gcn --epochs 10000000 \
    --patience 0 -o model --device cuda
[ "$(cat train.code)" = 130 ] && [ -e model ] || fail "train: exit $(cat train.code), $(cat train.stderr)"

# ---- a study: interrupted until trials of a batch in flight were kept, then finished
tune=(tune small.safetensors gcn --hidden 8 --space 'dropout=(0,0.8) lr=(0.001,0.1)' --epochs 200 --patience 0
    --trials 24 --seed 3)
"$SFUMATO" "${tune[@]}" --study memory --device cpu --export whole.csv -q >/dev/null
saved=0
for seconds in 0.5 1 2 4 8 16 32; do
    [ "$saved" = 0 ] || break
    interrupt study "handles \$process 2 && [ -s stopped.db ] && sleep $seconds" "$SFUMATO" "${tune[@]}" --study stopped.db --device cuda
    [ "$(cat study.code)" != 0 ] || fail "the study was finished before any trial was kept: $(cat study.stdout)"
    ended study '[0-9]* of 24 trials are saved in stopped.db; run the same command again to resume'
    saved=$(sed -n 's/^sfumato: interrupted; \([0-9]*\) of .*/\1/p' study.stderr)
done
[ "$saved" -gt 0 ] && [ "$saved" -lt 24 ] || fail "$saved of 24 trials were kept"
if command -v sqlite3 >/dev/null; then
    told=$(sqlite3 stopped.db "SELECT count(*) FROM trials WHERE state = 'COMPLETE';
        SELECT count(*) FROM trials WHERE state = 'FAIL';" | tr '\n' ' ')
    [ "$told" = "$saved 0 " ] || fail "$saved trials were kept, and stopped.db has $told"
fi
"$SFUMATO" "${tune[@]}" --study stopped.db --device cuda --export stopped.csv -q >/dev/null
cmp whole.csv stopped.csv || fail "a study that was interrupted has other trials"

# ---- a comparison whose studies wait for each other's batches
compare=(compare small.safetensors --nets sgcn,linear+lp --trials 12 --splits 2)
"$SFUMATO" "${compare[@]}" -o whole --device cpu -q >/dev/null
interrupt comparison 'handles $process 2 && compgen -G "stopped/studies/*" >/dev/null' "$SFUMATO" "${compare[@]}" -o stopped --device cuda
[ "$(cat comparison.code)" = 0 ] || ended comparison ''
"$SFUMATO" "${compare[@]}" -o stopped --device cuda -q >/dev/null
cmp whole/results.csv stopped/results.csv || fail "a comparison that was interrupted has other results"
