#!/usr/bin/env bash
# A study is killed with SIGKILL repeatedly, at any point from its opening to its last trial, and continued each time
# with the same command: finally it equals an undisturbed one, byte for byte.
. "$SOURCE/tests/support/transcript.sh"

if ! "$SFUMATO" --version | grep -q 'sqlite  *yes'; then
    echo "skipped: this build has no SQLite" >&2
    exit 77
fi
kills_wanted=100
trials=160
case ${BUILD_KIND:-plain} in
sanitized | cross) kills_wanted=12 trials=40 ;;
esac

"$SFUMATO" data make -o small.safetensors --nodes 300 --classes 3 --vocabulary 40 --words 6 --seed 7 >/dev/null
RANDOM=1

# tune SEED STUDY CSV: the command that is the same each time
tune() {
    "${before[@]}" "$SFUMATO" tune small.safetensors gcn --hidden 8 --epochs 4 --trials $trials --seed "$1" \
        --study "$2" --export "$3" --jobs 2 -q
}

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

kills=0 studies=0 in_the_middle=0
while [ $kills -lt $kills_wanted ]; do
    studies=$((studies + 1))
    before=()
    start=$(milliseconds)
    tune $studies memory "whole$studies.csv" >whole.page
    longest=$((($(milliseconds) - start) / 2 + 20)) # until a kill
    while :; do # a random delay, so that kills hit every state; the checks hold for each of them
        delay=$((1 + RANDOM % longest))
        before=(timeout --foreground -s KILL "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))")
        [ $kills -lt $((kills_wanted + 20)) ] || before=() # enough
        code=0
        tune $studies "killed$studies.db" "killed$studies.csv" >killed.page 2>stderr || code=$?
        if [ $code -eq 0 ]; then
            break
        fi
        [ $code -ne 124 ] || continue # it ended just before the kill
        [ $code -eq 137 ] || fail "after $kills kills: exit $code, $(cat stderr)"
        [ ! -s stderr ] || fail "killed, it says: $(cat stderr)"
        [ ! -e "killed$studies.csv" ] || [ "$(wc -l <"killed$studies.csv")" -eq $((trials + 1)) ] ||
            fail "a table was left half-written"
        kills=$((kills + 1))
        if [ -n "$(sqlite3 "killed$studies.db" "SELECT 1 FROM trials WHERE state = 'RUNNING' LIMIT 1" 2>/dev/null)" ]; then
            in_the_middle=$((in_the_middle + 1))
        fi
    done
    cmp "whole$studies.csv" "killed$studies.csv" || fail "after kills, study $studies holds other trials"
    # The winner and its output, except for times and paths.
    diff <(grep -v -e '^  time ' -e 'written to' whole.page) \
        <(grep -v -e '^  time ' -e 'written to' -e '^Study saved in' -e 'optuna-dashboard' killed.page | cat -s) >difference ||
        fail "after kills, study $studies ends otherwise: $(cat difference)"
    cut -d, -f1 "killed$studies.csv" | tail -n +2 | cmp - <(seq 0 $((trials - 1))) || fail "numbers with gaps"
done

# ---- the database: every file is intact, no trial is running, and there are no duplicates
if command -v sqlite3 >/dev/null; then
    # Whatever the delays have hit: at least one kill while trials run. These trials outlast the kill on any machine.
    running() { [ -n "$(sqlite3 caught.db "SELECT 1 FROM trials WHERE state = 'RUNNING' LIMIT 1" 2>/dev/null)" ]; }
    send_signal KILL caught running "$SFUMATO" tune small.safetensors gcn --hidden 8 --epochs 10000000 --patience 0 --jobs 2 \
        -q --study caught.db
    [ "$(cat caught.code)" -eq 137 ] && running || fail "no kill caught a trial: exit $(cat caught.code), $(cat caught.stderr)"
    for file in killed*.db; do
        told=$(sqlite3 "$file" "PRAGMA integrity_check;
            SELECT count(*), count(DISTINCT number), min(number), max(number) FROM trials;
            SELECT count(*) FROM trials WHERE state NOT IN ('COMPLETE', 'FAIL') OR datetime_complete IS NULL;
            SELECT count(*) FROM trials a JOIN trials b ON a.number < b.number AND a.trial_id > b.trial_id;
            SELECT (SELECT count(*) FROM trials WHERE state = 'COMPLETE') - (SELECT count(*) FROM trial_values);
            SELECT count(*) - count(DISTINCT trial_id || param_name) FROM trial_params;
            SELECT count(*) FROM sfumato_workers;" | tr '\n' ' ')
        [ "$told" = "ok $trials|$trials|0|$((trials - 1)) 0 0 0 0 0 " ] || fail "$file: $told"
    done
else
    echo "skipped: the rows are not looked at, for there is no sqlite3"
fi
echo "$kills kills of $studies studies, $in_the_middle with trials out"
