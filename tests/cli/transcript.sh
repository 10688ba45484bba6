# shellcheck shell=bash
# A test of the program as a transcript: what was typed, what was said, how it ended. Sourced by the test_cli_*.sh.
# The transcript is compared with tests/cli/NAME.txt; UPDATE=1 writes that file instead, for a person to read and commit.
export COLUMNS=80
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
    # Only the folder of the test is different from run to run.
    sed "s#${PWD%/*}#FOLDER#g" ../stdout >>"$transcript"
    sed "s#${PWD%/*}#FOLDER#g; s/^/! /" ../stderr >>"$transcript"
    if [ "$code" -ne 0 ]; then
        printf '[%d]\n' "$code" >>"$transcript"
    fi
}

# A line of what the shell itself has to say in between.
note() { printf '%s\n' "$*" >>"$transcript"; }

compare() {
    local golden=$SOURCE/tests/cli/$1.txt
    if [ -n "${UPDATE:-}" ]; then
        cp "$transcript" "$golden"
    elif ! diff -u "$golden" "$transcript"; then
        echo "the program says something else than $golden; read the difference, then UPDATE=1 keeps it" >&2
        exit 1
    fi
}

# NAME SECONDS COMMAND...: interrupts it after a while; leaves its output in NAME.*, its exit status in NAME.code
interrupt() {
    local name=$1 code=0
    shift
    perl -e '$SIG{INT} = "DEFAULT"; my $s = shift; my $p = fork; if (!$p) { exec @ARGV or exit 99; }
        sleep $s; kill "INT", $p; waitpid $p, 0; exit($? & 127 ? 128 + ($? & 127) : $? >> 8);' \
        "$@" >"$name.stdout" 2>"$name.stderr" || code=$?
    echo "$code" >"$name.code"
}

# COLUMNS: the bars that were drawn into COLUMNS.log, without what moves the cursor, go to `bars`; none is too wide.
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
