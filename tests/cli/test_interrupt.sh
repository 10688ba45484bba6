#!/usr/bin/env bash
# Ctrl-C while the program plans, imports or exports: it ends soon with status 130 and a message, and leaves no file.
. "$SOURCE/tests/support/transcript.sh"

# start COMMAND...: in the background, with the default SIGINT that a background job of a script would ignore.
start() {
    : >stderr
    env --default-signal=INT,PIPE SFUMATO_PROGRESS=auto "$SFUMATO" "$@" >stdout 2>stderr &
    process=$!
}

# Waits, as long as the program runs, until a condition holds.
wait_until() {
    until "$@"; do
        kill -0 $process 2>/dev/null || fail "it ended by itself: $(cat stderr)"
        sleep 0.02
    done
}

# interrupt WHAT: the program must end within a minute, however busy the machine is.
interrupt() {
    kill -INT $process
    (sleep 60; kill -KILL $process) >/dev/null 2>&1 &
    local guard=$! code=0
    wait $process || code=$?
    kill $guard 2>/dev/null
    [ "$code" -eq 130 ] || fail "$1: exit $code: $(cat stderr)"
    grep -q '^sfumato: interrupted' stderr || fail "$1: it says $(cat stderr)"
}

# ---- a pipe without a writer: the program waits once it has the file open
holds_open() { ls -l "/proc/$process/fd" 2>/dev/null | grep -q "$1"; }
mkfifo silent.csv
start data import --edges silent.csv -o never.safetensors
wait_until holds_open silent.csv
interrupt "a pipe without a writer"
[ ! -e never.safetensors ] || fail "a file was written"

# ---- a pipe whose writer stops in the middle
mkfifo slow.csv
start data import --edges slow.csv -o never.safetensors
wait_until holds_open slow.csv
exec 3>slow.csv
printf 'from,to\na,b\nb,' >&3
interrupt "a pipe whose writer stops"
exec 3>&-
[ ! -e never.safetensors ] || fail "a file was written"

# ---- the same pipes as other inputs
mkfifo words.csv
printf 'from,to\na,b\n' >edges.csv
start data import --edges edges.csv --features words.csv -o never.safetensors
wait_until holds_open words.csv
interrupt "features from a pipe"
start label --edges silent.csv --nodes edges.csv --label to -o labels.csv
wait_until holds_open silent.csv
interrupt "label from a pipe"

# ---- planning: thousands of smoothings of a large graph. A line on stderr says when it has begun.
nodes=100000
[ "${BUILD_KIND:-plain}" = plain ] || nodes=20000
"$SFUMATO" data make -q -o large.safetensors --nodes $nodes --degree 8 >/dev/null
deep='smooth^1000 | smooth^1000 | smooth^1000 | softmax'
is_planning() { grep -q '^sfumato: planning' stderr; }
start explain large.safetensors "$deep" --threads 1
wait_until is_planning
interrupt "explain"
start train large.safetensors "$deep" --threads 1 -o never.safetensors
wait_until is_planning
interrupt "train"
[ ! -e never.safetensors ] || fail "a model was written"
is_tuning() { grep -q '^sfumato: .*trials' stderr; }
start tune large.safetensors "$deep" --trials 3 --jobs 2
wait_until is_tuning
interrupt "tune"
is_comparing() { grep -q '^sfumato: comparing' stderr; }
start compare large.safetensors --nets "$deep" --trials 3 --splits 1 -o results
wait_until is_comparing
interrupt "compare"

# ---- exporting: a file that grows
"$SFUMATO" data make -q -o wide.safetensors --nodes $((2 * nodes)) --degree 20 --words 60 >/dev/null
start data export wide.safetensors -o tables
is_exporting() { compgen -G 'tables/.*.sfumato-*' >/dev/null; }
wait_until is_exporting
interrupt "export"
[ ! -e tables ] || fail "export leaves $(ls -A tables)"
