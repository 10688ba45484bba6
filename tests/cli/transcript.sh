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

fail() {
    echo "$*" >&2
    exit 1
}
