#!/usr/bin/env bash
# Behaviour of the program with full disks, closed pipes, interrupts and terminals.
. "$SOURCE/tests/support/transcript.sh"

expect() { # CODE COMMAND...
    local wanted=$1 code=0
    shift
    "$@" || code=$?
    [ "$code" -eq "$wanted" ] || fail "$*: exit $code instead of $wanted"
}

# ---- stdout is checked
expect 1 "$SFUMATO" --help >/dev/full 2>stderr
grep -qx 'sfumato: standard output: No space left on device' stderr || fail "a full disk: $(cat stderr)"
expect 1 "$SFUMATO" data list --json >/dev/full 2>stderr
grep -q 'No space left' stderr || fail "a full disk: $(cat stderr)"
expect 1 "$SFUMATO" --help >&- 2>stderr
grep -q '^sfumato: standard output: ' stderr || fail "a closed stdout: $(cat stderr)"
# A pipe whose reader has gone: a failure without a message.
mkfifo pipe
(exec 3<pipe) &
exec 4>pipe
wait $!
expect 1 "$SFUMATO" --help >&4 2>stderr
exec 4>&-
[ ! -s stderr ] || fail "a closed pipe: $(cat stderr)"
# A dataset written while stdout is closed does not contain the program's output.
expect 1 "$SFUMATO" data make -o made.safetensors --nodes 100 >&- 2>/dev/null
"$SFUMATO" data info made.safetensors >/dev/null

# ---- --json prints one object and nothing else, --quiet prints nothing
if command -v python3 >/dev/null; then
    printf '{"nodes": 3}\n' | python3 -m json.tool >/dev/null
    "$SFUMATO" data list --json | python3 -m json.tool >/dev/null
    "$SFUMATO" data info citation --json | python3 -c '
import json, sys
keys = "name nodes edges self_loops_dropped duplicates_dropped features feature_nonzeros classes unlabelled isolated " \
    "featureless components homophily split digest warnings"
info = json.load(sys.stdin)
missing = [key for key in keys.split() if key not in info]
assert not missing, missing
assert all(set(row) == {"name", "count"} for row in info["classes"])
assert sum(row["count"] for row in info["classes"]) + info["unlabelled"] == info["nodes"]
assert 0 <= info["homophily"] <= 1 and len(info["digest"]) == 64'
else
    echo "no python3: --json was not parsed"
fi
printf 'a,b\nb,c\n' >edges.csv
"$SFUMATO" data import --edges edges.csv --quiet -o quiet.safetensors 2>stderr >/dev/null
[ ! -s stderr ] || fail "--quiet: $(cat stderr)"

# ---- names with terminal control sequences or invalid UTF-8
printf 'a,b\n' >edges.csv
printf 'a,red\033[31m\nb,gr\303\274n\n' >labels.csv
"$SFUMATO" data import --edges edges.csv --labels labels.csv --header no -q -o odd.safetensors >/dev/null
"$SFUMATO" data info odd.safetensors >page
! grep -q $'\033' page || fail "an escape sequence reaches the terminal"
grep -q 'grün' page || fail "UTF-8 is not shown where the locale is UTF-8"
LC_ALL=C "$SFUMATO" data info odd.safetensors >page
! LC_ALL=C grep -q '[^ -~]' page || fail "something that is not ASCII is shown where the locale is C"

# ---- no leaks, if the build can detect them
if [ "${BUILD_KIND:-plain}" = sanitized ]; then
    ASAN_OPTIONS=detect_leaks=1 "$SFUMATO" data info odd.safetensors --json >/dev/null
    ASAN_OPTIONS=detect_leaks=1 "$SFUMATO" data import --edges edges.csv --labels labels.csv --header no --class-names 'A,"B, C"' \
        -o named.safetensors >/dev/null
    SFUMATO_DATA=. ASAN_OPTIONS=detect_leaks=1 "$SFUMATO" data list >/dev/null
fi

# ---- interrupts: exit status 130, one line, no files left; and progress lines for a long job
big="--nodes 3000000 --degree 10"
small="--nodes 600000 --degree 10"
if [ "${BUILD_KIND:-plain}" = sanitized ]; then
    big="--nodes 500000" small="--nodes 100000"
fi
# shellcheck disable=SC2086
interrupt stopped 'handles $process 2' "$SFUMATO" data make -o big.safetensors $big
if [ "$(cat stopped.code)" -ne 0 ]; then
    [ "$(cat stopped.code)" -eq 130 ] || fail "an interrupt: exit $(cat stopped.code), $(cat stopped.stderr)"
    [ ! -s stopped.stdout ] || fail "an interrupt: $(cat stopped.stdout)"
    [ "$(tail -n 1 stopped.stderr)" = 'sfumato: interrupted; nothing was written' ] || fail "an interrupt: $(cat stopped.stderr)"
    [ -z "$(find . -name '*big*')" ] || fail "an interrupt leaves $(find . -name '*big*')"
else
    echo "the job was over before it could be interrupted"
fi

# ---- a progress bar on a terminal: drawn, within its width, and removed at the end
bar_on() { # COLUMNS
    SFUMATO_PROGRESS=auto script -qec "stty cols $1; TERM=xterm '$SFUMATO' data make -o big.safetensors $small >/dev/null" log >/dev/null
    tr '\r' '\n' <log | grep -v '^Script' | sed 's/\x1b\[K//g' >bars
    if grep -q ' %' bars; then
        widest=$(wc -L <bars)
        [ "$widest" -lt "$1" ] || fail "a bar $widest columns wide on a terminal of $1: $(cat bars)"
        grep -q -e '━' -e '─' bars || fail "no bar: $(cat bars)"
        grep -v '^Script' log | tail -n 1 | grep -q $'\r\x1b\[K' || fail "the bar stays behind"
    else
        echo "the job was over before a bar could be drawn"
    fi
}
if command -v script >/dev/null; then
    bar_on 40
    bar_on 60
    SFUMATO_PROGRESS=never script -qec "TERM=xterm '$SFUMATO' data make -o big.safetensors $small >/dev/null" log >/dev/null
    ! grep -q ' %' log || fail "SFUMATO_PROGRESS=never draws a bar: $(cat -v log)"
else
    echo "no script: no terminal to draw a bar on"
fi

# ---- colour: on a terminal only, and not with NO_COLOR or TERM=dumb
if command -v script >/dev/null; then
    # on_terminal COMMAND: what a terminal gets from a shell command is in `log`.
    on_terminal() { script -qec "$1" log >/dev/null </dev/null || true; }
    bold=$'\033[1m' red=$'\033[1;31m' yellow=$'\033[1;33m' off=$'\033[0m'
    on_terminal "unset NO_COLOR; TERM=xterm '$SFUMATO' data info citation"
    grep -qF "${bold}citation$off" log || fail "no heading in bold on a terminal: $(cat -v log)"
    on_terminal "unset NO_COLOR; TERM=xterm '$SFUMATO' --help"
    grep -qF "${bold}Options:$off" log || fail "no bold section of the help: $(cat -v log)"
    on_terminal "unset NO_COLOR; TERM=xterm '$SFUMATO' train made.safetensors linear --repeat 2 --epochs 3"
    grep -qE $'\033\\[1m[0-9.]+ %\033\\[0m' log || fail "the best value is not bold: $(cat -v log)"
    on_terminal "NO_COLOR= TERM=xterm '$SFUMATO' nonsense"
    grep -qF "${red}sfumato:$off unknown command" log || fail "an error is not red on a terminal: $(cat -v log)"
    printf 'node,part\n0,train\n1,val\n2,test\n' >one.csv # classes without a training node
    on_terminal "unset NO_COLOR; TERM=xterm '$SFUMATO' data split made.safetensors --split file:one.csv"
    grep -qF "sfumato: ${yellow}warning:$off" log || fail "a warning is not yellow on a terminal: $(cat -v log)"
    for command in 'data info citation' '--help' 'nonsense'; do
        on_terminal "NO_COLOR=1 TERM=xterm '$SFUMATO' $command"
        ! grep -q $'\033' log || fail "$command: NO_COLOR is ignored: $(cat -v log)"
        on_terminal "unset NO_COLOR; TERM=dumb '$SFUMATO' $command"
        ! grep -q $'\033' log || fail "$command: a dumb terminal gets colour: $(cat -v log)"
        on_terminal "unset NO_COLOR; TERM=xterm; export TERM; '$SFUMATO' $command 2>&1 | cat"
        ! grep -q $'\033' log || fail "$command: a pipe gets colour: $(cat -v log)"
    done
    on_terminal "unset NO_COLOR; TERM=xterm '$SFUMATO' data info citation --json"
    ! grep -q $'\033' log || fail "--json has colour: $(cat -v log)"
else
    echo "no script: no terminal to show colour on"
fi
