# shellcheck shell=bash
# Transcripts of the program: commands, output, exit status. Sourced by the test_cli_*.sh.
# A transcript is compared with tests/cli/transcripts/NAME.txt; UPDATE=1 rewrites that file, for review.
export COLUMNS=80 NO_COLOR=1
transcript=$PWD/../transcript.txt
: >"$transcript"

# A heading in the transcript.
part() { printf '\n## %s\n' "$*" >>"$transcript"; }

# Runs the program. Lines of stderr are marked with "! ", an exit status other than 0 follows in brackets.
run() {
    local code=0 word line='$ sfumato'
    for word in "$@"; do
        line+=$(printf ' %q' "$word")
    done
    printf '\n%s\n' "$line" >>"$transcript"
    "$SFUMATO" "$@" >../stdout 2>../stderr </dev/null || code=$?
    # Only the folder of the test differs from run to run.
    sed "s#${PWD%/*}#FOLDER#g" ../stdout >>"$transcript"
    sed "s#${PWD%/*}#FOLDER#g; s/^/! /" ../stderr >>"$transcript"
    if [ "$code" -ne 0 ]; then
        printf '[%d]\n' "$code" >>"$transcript"
    fi
}

# A comment line in the transcript.
note() { printf '%s\n' "$*" >>"$transcript"; }

compare() {
    local golden=$SOURCE/tests/cli/transcripts/$1.txt
    if [ -n "${UPDATE:-}" ]; then
        cp "$transcript" "$golden"
    elif ! diff -u "$golden" "$transcript"; then
        echo "the program says something else than $golden; read the difference, then UPDATE=1 keeps it" >&2
        exit 1
    fi
}

# CONDITION [PROCESS]: waits until the condition holds in the shell, or the process has ended. The five minutes
# guard against hangs; when they are over, the process is killed.
wait_until() {
    local end=$((SECONDS + 300))
    until eval "$1"; do
        if [ $SECONDS -ge $end ]; then
            [ -z "${2:-}" ] || kill -9 "$2"
            fail "five minutes did not bring about: $1"
        fi
        [ -z "${2:-}" ] || kill -0 "$2" 2>/dev/null || return 0
        sleep 0.05
    done
}

# PROCESS SIGNAL: whether the program, and not the shell before its exec, has a handler for this
# signal number, so that it ends in its own way.
handles() {
    [ "$(readlink "/proc/$1/exe")" != "$(readlink "/proc/$$/exe")" ] &&
        (((0x$(awk '/^SigCgt/ { print $2 }' "/proc/$1/status" 2>/dev/null || echo 0) >> ($2 - 1)) & 1))
}

# SIGNAL NAME CONDITION COMMAND...: sends the signal when the condition holds, in which the process is $process;
# the output of the command is in NAME.*, its exit status in NAME.code. A background job of a script ignores SIGINT,
# and so would the program: env restores the default.
send_signal() {
    local signal=$1 name=$2 condition=$3 code=0 process
    shift 3
    env --default-signal=INT SFUMATO_PROGRESS=auto "$@" >"$name.stdout" 2>"$name.stderr" &
    process=$!
    wait_until "$condition" $process
    kill -s "$signal" $process 2>/dev/null || true
    wait $process || code=$?
    echo "$code" >"$name.code"
}
interrupt() { send_signal INT "$@"; }

# COLUMNS PATTERN COMMAND...: runs the program on a terminal of this width until a line of its progress bar matches the
# pattern, and interrupts it; the terminal's output is in COLUMNS.log.
draw_bars() {
    local columns=$1 pattern=$2 process
    shift 2
    env --default-signal=INT SFUMATO_PROGRESS=auto script -qefc "stty cols $columns; echo \$\$ >$columns.pid; TERM=xterm exec $* >/dev/null" \
        "$columns.log" >/dev/null </dev/null &
    process=$!
    wait_until "grep -qaE '$pattern' $columns.log 2>/dev/null" $process
    kill -INT "$(cat "$columns.pid")" 2>/dev/null || true
    wait $process || true
}

# COLUMNS: extracts the progress bars of COLUMNS.log, without cursor movements, to `bars`; none may be too wide.
check_bars() {
    tr '\r' '\n' <"$1.log" | sed 's/\x1b\[K//g' | grep -v '^Script\|^sfumato' >bars
    grep -qE '[0-9] (%|of )' bars || fail "no bar: $(cat "$1.log")"
    local widest
    widest=$(wc -L <bars)
    [ "$widest" -lt "$1" ] || fail "a bar $widest columns wide on a terminal of $1: $(cat bars)"
}

fail() {
    echo "$*" >&2
    exit 1
}
