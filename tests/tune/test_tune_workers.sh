#!/usr/bin/env bash
# Several processes tune one study on a PostgreSQL server while some of them are killed, and the result equals that of a
# single process, byte for byte.
. "$SOURCE/tests/support/transcript.sh"

workers=4 trials=200 kills=20
case ${BUILD_KIND:-plain} in
sanitized) trials=48 kills=4 ;;
cross)
    echo "skipped: no server beside an emulated program" >&2
    exit 77
    ;;
esac
if ! "$SFUMATO" --version | grep -q 'postgresql  *yes'; then
    echo "skipped: this build has no PostgreSQL" >&2
    exit 77
fi
server=$(bash "$SOURCE/tests/support/postgres_server.sh" make $$) || exit $?
place="postgresql://sfumato:horse@/postgres?host=$server" # the server does not ask for the password

sql() { psql -X -q -A -t -h "$server" -U sfumato postgres -c "$1"; }

"$SFUMATO" data make -o small.safetensors --nodes 300 --classes 3 --vocabulary 40 --words 6 --seed 7 >/dev/null
tune() {
    "$SFUMATO" tune small.safetensors any --space 'practical k=[1..3]' --epochs 8 --wave 8 --trials $trials -q "$@"
}

start=$(date +%s%N)
tune --study memory --export alone.csv --jobs 1 >alone.page
longest=$((($(date +%s%N) - start) / 4000000 + 50))

# ---- many workers, and kills -----------------------------------------------------------------------------------------

# worker NUMBER: the first is never killed, the others a number of times; each continues until it has seen the end.
worker() {
    local left=$kills code limit
    RANDOM=$1
    while :; do
        limit=()
        if [ "$1" -gt 1 ] && [ "$left" -gt 0 ]; then
            limit=(timeout --foreground -s KILL "$(awk -v ms=$((1 + RANDOM % longest)) 'BEGIN { print ms / 1000 }')")
        fi
        code=0
        "${limit[@]}" "$SFUMATO" tune small.safetensors any --space 'practical k=[1..3]' --epochs 8 --wave 8 \
            --trials $trials -q --jobs 1 --study "$place" --study-name many --export "worker$1.csv" \
            >"worker$1.page" 2>"worker$1.error" || code=$?
        case $code in
        0) return 0 ;;
        124 | 137)
            left=$((left - 1))
            echo "$1" >>killed
            ;;
        *)
            echo "worker $1: exit $code, $(cat "worker$1.error")" >&2
            return 1
            ;;
        esac
    done
}

touch killed
processes=()
for i in $(seq $workers); do
    worker "$i" &
    processes+=($!)
done
for process in "${processes[@]}"; do
    wait "$process" || fail "a worker failed"
done
for i in $(seq $workers); do
    cmp alone.csv "worker$i.csv" || fail "worker $i ends with other trials than one alone"
    [ ! -s "worker$i.error" ] || fail "worker $i says: $(cat "worker$i.error")"
    ! grep -q horse "worker$i.page" || fail "the password is shown"
    diff <(grep '^Best trial\|^  test' alone.page) <(grep '^Best trial\|^  test' "worker$i.page") || fail "another winner"
done
told=$(sql "SELECT count(*), count(DISTINCT number), min(number), max(number) FROM trials;
    SELECT count(*) FROM trials WHERE state NOT IN ('COMPLETE', 'FAIL') OR datetime_complete IS NULL;
    SELECT count(*) FROM trials a JOIN trials b ON a.number < b.number AND a.trial_id > b.trial_id;
    SELECT (SELECT count(*) FROM trials WHERE state = 'COMPLETE') - (SELECT count(*) FROM trial_values);
    SELECT count(*) FROM sfumato_workers" | tr '\n' ' ')
[ "$told" = "$trials|$trials|0|$((trials - 1)) 0 0 0 0 " ] || fail "the rows: $told"
echo "$workers workers, $(wc -l <killed) kills"

# ---- messages about a server that is missing or not ours
# -----------------------------------------------------------------

# refused URL TEXT: one line, and exit status 1
refused() {
    local code=0
    tune --study "$1" >stdout 2>stderr || code=$?
    if [ $code -ne 1 ] || [ "$(wc -l <stderr)" -ne 1 ] || [ -s stdout ] || ! grep -q "$2" stderr || grep -q horse stderr
    then
        fail "$1: exit $code, $(cat stdout stderr)"
    fi
}
refused "postgresql://sfumato:horse@/nowhere?host=$server" 'database "nowhere" does not exist; make it with createdb'
refused "postgresql://locked:wrong%20horse@/postgres?host=$server" 'password authentication failed for user "locked"'
refused "postgresql://u:horse@127.0.0.1:1/d" 'postgresql://u@127.0.0.1:1/d: could not reach the server'
refused "postgresql://u:horse@no-such-host.invalid/d" 'could not reach the server'
sql "CREATE DATABASE others" && psql -X -q -h "$server" -U sfumato others -c 'CREATE TABLE theirs (x INTEGER)'
refused "postgresql://sfumato:horse@/others?host=$server" 'theirs'

# ---- a server that stops, and comes back or does not
# --------------------------------------------------------------------

count() { sql "SELECT count(*) FROM trials t JOIN studies s ON s.study_id = t.study_id AND study_name = '$1'" 2>/dev/null || echo 0; }

# away STUDY SECONDS: starts a long study with this connection timeout, and stops the server in the middle of it
away() {
    # A background job of a script ignores SIGINT, unless the default is restored.
    env --default-signal=INT "$SFUMATO" tune small.safetensors sgcn --trials 100000 --epochs 4 --jobs 1 -q --study-name "$1" \
        --study "postgresql://sfumato:horse@/postgres?host=$server&connect_timeout=$2" >stdout 2>stderr &
    process=$!
    wait_until "[ \$(count $1) -gt 40 ]" $process
    bash "$SOURCE/tests/support/postgres_server.sh" stop "$server"
}

away gone 1
code=0
wait $process || code=$?
bash "$SOURCE/tests/support/postgres_server.sh" start "$server"
[ $code -eq 1 ] && [ "$(wc -l <stderr)" -eq 1 ] && grep -q 'postgresql://sfumato@/postgres: could not reach' stderr ||
    fail "a server that is gone: exit $code, $(cat stderr)"
! grep -q horse stdout stderr || fail "the password is shown"

away back 30
bash "$SOURCE/tests/support/postgres_server.sh" start "$server"
before=$(count back)
wait_until "[ \$(count back) -gt $before ]" $process
kill -0 $process || fail "a server that came back: nothing goes on, $(cat stderr)"
kill -INT $process
code=0
wait $process || code=$?
[ $code -eq 130 ] || fail "interrupted: exit $code, $(cat stderr)"
told=$(sql "SELECT count(*) FROM trials t JOIN studies s ON s.study_id = t.study_id WHERE study_name = 'back' AND
    state = 'RUNNING'; SELECT count(*) FROM sfumato_workers w JOIN studies s ON s.study_id = w.study_id WHERE
    study_name = 'back'" | tr '\n' ' ')
[ "$told" = "0 0 " ] || fail "an interrupted worker leaves behind: $told"

# ---- a server that does not answer does not prevent an interrupt
# ----------------------------------------------------------

# The minutes that send_signal waits at most are enough: an hour of waiting would fail here as well.
trap 'bash "$SOURCE/tests/support/postgres_server.sh" thaw "$server" || true' EXIT
freeze_and_signal() { # SIGNAL NAME CONDITION
    send_signal "$1" "$2" "$3 && bash '$SOURCE/tests/support/postgres_server.sh' freeze '$server'" "$SFUMATO" tune small.safetensors sgcn \
        --trials 100000 --epochs 4 --jobs 1 --study-name "$2" --study "$place"
    bash "$SOURCE/tests/support/postgres_server.sh" thaw "$server"
    ! grep -q horse "$2.stdout" "$2.stderr" || fail "the password is shown"
}
freeze_and_signal INT frozen '[ $(count frozen) -gt 40 ]'
[ "$(cat frozen.code)" -eq 130 ] && grep -qE '^sfumato: interrupted; [0-9]+ of 100,000 trials are saved in postgresql://sfumato@/postgres; run the same command again to resume(; [0-9]+ finished trials? could not be saved because the database did not respond)?$' frozen.stderr ||
    fail "a frozen server: exit $(cat frozen.code), $(cat frozen.stderr)"
# What it reported as stored is stored.
said=$(grep -oE 'interrupted; [0-9,]+' frozen.stderr | tr -dc 0-9)
there=$(sql "SELECT count(*) FROM trials t JOIN studies s ON s.study_id = t.study_id WHERE study_name = 'frozen' AND state IN ('COMPLETE', 'FAIL')")
[ "$there" -ge "$said" ] || fail "$said trials are said to be there, and $there are"
freeze_and_signal TERM early 'true'
[ "$(cat early.code)" -eq 143 ] || fail "a server frozen from the start: exit $(cat early.code), $(cat early.stderr)"

# A server that accepts connections and sends nothing.
if command -v python3 >/dev/null; then
    mkfifo hold
    python3 "$SOURCE/tests/support/misbehaving_server.py" --mute <hold >port &
    exec 9>hold # it goes when this end is closed
    wait_until '[ -s port ]'
    send_signal HUP mute 'handles $process 1' "$SFUMATO" tune small.safetensors sgcn --study "postgresql://sfumato:horse@127.0.0.1:$(cat port)/postgres?connect_timeout=600"
    exec 9>&-
    [ "$(cat mute.code)" -eq 129 ] && grep -qx "sfumato: interrupted while opening postgresql://sfumato@127.0.0.1:$(cat port)/postgres; no trial was run" mute.stderr ||
        fail "a mute server: exit $(cat mute.code), $(cat mute.stderr)"
fi
