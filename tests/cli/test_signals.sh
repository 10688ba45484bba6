#!/usr/bin/env bash
# Ctrl-C, kill and the loss of the terminal: each saves the results so far; the exit status is 128 plus the signal's
# number.
# Under nohup the loss of the terminal is ignored.
. "$SOURCE/tests/support/transcript.sh"
if "$SFUMATO" --version | grep -q '^  sqlite *no'; then
    echo "no SQLite in this build: skipped"
    exit 77
fi
"$SFUMATO" data make -o small.safetensors --nodes 500 --classes 3 --vocabulary 80 --words 8 --seed 7 >/dev/null
"$SFUMATO" data make -o other.safetensors --nodes 1700 --classes 3 --vocabulary 40 --words 8 --seed 7 >/dev/null

tune=("$SFUMATO" tune small.safetensors gcn --trials 100000 --epochs 20 --jobs 1)
train=("$SFUMATO" train small.safetensors gcn --epochs 2000000000 --patience 0 --threads 1)
compare=("$SFUMATO" compare other.safetensors --nets sgcn,linear --splits 2 --trials 100000)
label=("$SFUMATO" label other.safetensors --all --forget --budget 1h)
said() { cat "$1.stderr"; }

for signal in HUP:1 INT:2 TERM:15; do
    name=${signal%:*} number=${signal#*:}
    # A line of progress says that there is something to save: trials, weights, a step of label.
    send_signal "$name" tune$number "grep -qs 'best .* at' tune$number.stderr" "${tune[@]}" --study tune$number.db &
    send_signal "$name" train$number "grep -qs 'training: .*val' train$number.stderr" "${train[@]}" -o train$number.model &
    send_signal "$name" label$number "grep -qsE 'step ([2-9]|[0-9]{2,}) of' label$number.stderr" "${label[@]}" -o label$number.csv &
    send_signal "$name" compare$number "[ -n \"\$(ls compare$number/studies 2>/dev/null)\" ]" "${compare[@]}" -o compare$number &
    wait
    for what in tune train label compare; do
        [ "$(cat $what$number.code)" -eq $((128 + number)) ] || fail "$what, SIG$name: exit $(cat $what$number.code), $(said $what$number)"
    done
    kept=$(said tune$number | sed -nE 's/^sfumato: interrupted; ([0-9,]+) of 100,000 trials are saved in .*; run the same command again to resume$/\1/p' | tr -d ,)
    [ -n "$kept" ] && [ "$kept" -gt 0 ] || fail "tune, SIG$name: $(said tune$number)"
    "$SFUMATO" tune small.safetensors gcn --trials "$kept" --epochs 20 --study tune$number.db -q >/dev/null || fail "it does not go on"
    grep -q "model written to train$number.model" train$number.stdout || fail "train, SIG$name: $(said train$number)"
    "$SFUMATO" predict small.safetensors train$number.model -o predicted.csv -q >/dev/null || fail "no model"
    [ "$(wc -l <label$number.csv)" -eq 1701 ] || fail "label, SIG$name: $(said label$number)"
    said compare$number | grep -q 'interrupted; 0 of 4 studies are saved in "compare'$number'"; run the same command again to resume' ||
        fail "compare, SIG$name: $(said compare$number)"
done

# ---- under nohup, SIGHUP is ignored: the SIGTERM after it ends the program
nohup_condition='grep -qs "best .* at" nohup.stderr && { kill -HUP $process; [ "$(grep -c "tuning:" nohup.stderr)" -ge 2 ]; }'
send_signal TERM nohup "$nohup_condition" nohup "${tune[@]}" --study nohup.db
[ "$(cat nohup.code)" -eq 143 ] || fail "under nohup: exit $(cat nohup.code), $(said nohup)"

# ---- the terminal disappears, and with it stdout and stderr: results are saved all the same
if command -v script >/dev/null; then
    # NAME PATTERN COMMAND...: ends the terminal when the pattern is on it; leaves the exit status in NAME.code
    lose_terminal() {
        local name=$1 pattern=$2 terminal
        shift 2
        SFUMATO_PROGRESS=auto script -qfc "trap : HUP; TERM=xterm sh -c 'echo \$\$ >$name.pid; exec $*'; echo \$? >$name.code" "$name.log" >/dev/null \
            </dev/null &
        terminal=$!
        wait_until "grep -qaE '$pattern' $name.log 2>/dev/null" $terminal
        kill -9 $terminal
        wait $terminal 2>/dev/null || true
        kill -HUP "$(cat "$name.pid")" "$(cat "$name.pid")" 2>/dev/null || true # as the shell of a terminal does, too
        wait_until "[ -s $name.code ]"
    }
    lose_terminal lost 'best .* at' "${tune[@]}" --study lost.db
    [ "$(cat lost.code)" -eq 129 ] || fail "tune without its terminal: exit $(cat lost.code)"
    if command -v sqlite3 >/dev/null; then # its trials are stored, and unfinished ones are waiting again
        left=$(sqlite3 lost.db "SELECT count(*) FROM trials WHERE state = 'COMPLETE'; SELECT count(*) FROM trials WHERE state =
            'RUNNING'; SELECT count(*) FROM sfumato_workers" | tr '\n' ' ')
        [ "${left#0 }" = "$left" ] && [ "${left#* }" = '0 0 ' ] || fail "trials done and running, and workers: $left"
    fi
    lose_terminal gone 'val [0-9.]+ %' "${train[@]}" -o gone.model
    [ "$(cat gone.code)" -eq 129 ] || fail "train without its terminal: exit $(cat gone.code)"
    "$SFUMATO" predict small.safetensors gone.model -o predicted.csv -q >/dev/null || fail "no model"
else
    echo "no script: no terminal to lose"
fi
