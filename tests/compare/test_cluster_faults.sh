#!/usr/bin/env bash
# Workers that share a study (tune) or a command (compare, reproduce, label) through PostgreSQL while one of them is
# killed every second, the server crashes, and their clocks differ by a minute. All end with the bytes of one machine.
. "$SOURCE/tests/support/transcript.sh"
. "$SOURCE/tests/support/shared_database.sh"
server_script=$SOURCE/tests/support/postgres_server.sh

"$SFUMATO" data make -o small.safetensors --nodes 300 --classes 3 --vocabulary 40 --words 6 --seed 7 >/dev/null
"$SFUMATO" data make -o cora.safetensors --nodes 1700 --classes 3 --vocabulary 40 --words 8 --seed 7 >/dev/null
"$SFUMATO" data export small.safetensors -o whole >/dev/null
awk -F, 'NR == 1 || NR % 3 == 0 { print; next } { print $1 "," }' whole/nodes.csv >few.csv
"$SFUMATO" data import --edges whole/edges.csv --features whole/features.csv --labels few.csv --name few >/dev/null
export SFUMATO_DATA=$PWD

# ---- the commands ----------------------------------------------------------------------------------------------------

# launch KIND FOLDER [URL]: one worker, or one machine alone without a URL. `before` may change how it is started.
before=()
launch() {
    local kind=$1 folder=$2 share=()
    [ -z "${3:-}" ] || share=(--share "$3")
    mkdir -p "$folder"
    case $kind in
    tune)
        share=(--study "${3:-memory}")
        set -- tune small.safetensors any --space 'practical k=[1..3]' --epochs 200 --wave 8 --trials 800 --jobs 1 \
            --export "$folder/trials.csv"
        ;;
    compare)
        set -- compare small.safetensors --nets sgcn,gcn,linear --splits 6 --trials 150 --jobs 1 -o "$folder/study"
        ;;
    reproduce)
        set -- reproduce set1 --datasets cora --nets sgcn,gcn,linear+lp --splits 3 --trials 250 --jobs 1 -o "$folder/study"
        ;;
    label) set -- label few.safetensors --jobs 1 --budget steps:25 -o "$folder/labels.csv" --force ;;
    esac
    exec "${before[@]}" "$SFUMATO" "$@" "${share[@]}" -q >"$folder.stdout" 2>"$folder.stderr"
}
outputs() {
    case $1 in
    tune) echo trials.csv ;;
    compare | reproduce) echo study/results.csv study/curves.csv study/details.csv study/tables.md study/tables.tex ;;
    label) echo labels.csv labels.model.safetensors ;;
    esac
}
same() { # KIND FOLDER
    local file
    for file in $(outputs "$1"); do
        cmp "$1.one/$file" "$2/$file" || fail "$file of $2 differs from that of one machine"
    done
}
# Nothing is lost, and nothing is counted twice. The rows of finished studies differ in their results from nothing else.
counted_once() {
    local told
    if [ "$1" = tune ]; then
        told=$(ask "SELECT count(*), count(DISTINCT number), min(number), max(number) FROM trials;
            SELECT count(*) FROM trials WHERE state NOT IN ('COMPLETE', 'FAIL');
            SELECT (SELECT count(*) FROM trials WHERE state = 'COMPLETE') - (SELECT count(*) FROM trial_values)" |
            tr '\n' ' ')
        [ "$told" = "800|800|0|799 0 0 " ] || fail "the rows of tune: $told"
    else
        told=$(ask "SELECT count(*) FROM sfumato_studies WHERE result IS NULL")
        [ "$told" = 0 ] || fail "$1: $told rows have no result"
    fi
    ask "SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public" # the next one begins anew
}
progress() { # KIND: results so far
    case $1 in
    tune) ask "SELECT count(*) FROM trials WHERE state = 'COMPLETE'" 2>/dev/null || echo 0 ;;
    *) ask "SELECT count(*) FROM sfumato_studies WHERE result IS NOT NULL" 2>/dev/null || echo 0 ;;
    esac
}

# Claims are removed with their worker; the trials of tune have times of three clocks.
workers_of() { # KIND
    case $1 in
    tune) ask "SELECT count(DISTINCT round(EXTRACT(EPOCH FROM datetime_complete - now()) / 60)) FROM trials" ;;
    *) ask "SELECT count(DISTINCT worker) FROM sfumato_studies" ;;
    esac
}

kinds=(tune compare reproduce label)
for kind in "${kinds[@]}"; do
    (launch "$kind" "$kind.one") || fail "$kind alone: $(cat "$kind.one.stderr")"
done

# ---- kills and a crash -----------------------------------------------------------------------------------------------

# Starts a worker again until it has ended well, as the scheduler of a cluster does.
supervise() { # KIND FOLDER
    local code
    while :; do
        code=0
        (launch "$1" "$2" "$url") &
        echo $! >"$2.pid.new"
        mv "$2.pid.new" "$2.pid"
        wait $! || code=$?
        case $code in
        0) return 0 ;;
        137) ;;
        *) # the server was away when it began, or for too long
            grep -q 'could not reach the server\|the connection was lost\|not connected' "$2.stderr" || {
                echo "$2: exit $code: $(cat "$2.stderr")" >&2
                return 1
            }
            sleep 0.2
            ;;
        esac
    done
}
for kind in "${kinds[@]}"; do
    names=("$kind.a" "$kind.b" "$kind.c") processes=() kills=0 crashed=0
    for name in "${names[@]}"; do
        supervise "$kind" "$name" 2>"$name.supervisor" &
        processes+=($!)
    done
    while [ $kills -lt 12 ]; do
        sleep 1
        victim=${names[kills % 3]}
        [ -s "$victim.pid" ] && kill -9 "$(cat "$victim.pid")" 2>/dev/null || true
        kills=$((kills + 1))
        if [ $crashed = 0 ] && [ "$(progress "$kind")" -gt 3 ]; then
            bash "$server_script" crash "$server"
            sleep 0.5
            bash "$server_script" start "$server"
            crashed=1
        fi
        running=0
        for process in "${processes[@]}"; do
            ! kill -0 "$process" 2>/dev/null || running=$((running + 1))
        done
        [ $running -gt 0 ] || break
    done
    for i in 0 1 2; do
        wait "${processes[i]}" || fail "${names[i]}: $(cat "${names[i]}.supervisor")"
        same "$kind" "${names[i]}"
    done
    [ $crashed = 1 ] || fail "$kind: the server was not killed"
    echo "$kind: $kills kills and a crash, $(progress "$kind") results"
    counted_once "$kind"
done

# ---- clocks ----------------------------------------------------------------------------------------------------------

if [ "${BUILD_KIND:-plain}" = plain ] && command -v faketime >/dev/null; then
    for kind in "${kinds[@]}"; do
        processes=()
        for minute in -60s +0s +60s; do
            (
                before=(env FAKETIME_DONT_FAKE_MONOTONIC=1 faketime -f "$minute")
                launch "$kind" "$kind.clock$minute" "$url"
            ) &
            processes+=($!)
        done
        for process in "${processes[@]}"; do
            wait "$process" || fail "$kind with other clocks: $(cat "$kind".clock*.stderr)"
        done
        for minute in -60s +0s +60s; do
            same "$kind" "$kind.clock$minute"
        done
        [ "$(workers_of "$kind")" -ge 2 ] || fail "$kind: one worker ran everything"
        if [ "$kind" != tune ]; then
            ahead=$(ask "SELECT count(*) FROM sfumato_studies WHERE beat > EXTRACT(EPOCH FROM clock_timestamp())")
            [ "$ahead" = 0 ] || fail "$kind: $ahead heartbeats are of another clock than the database's"
        fi
        counted_once "$kind"
    done
    echo "clocks a minute apart: the same bytes"
else
    echo "clocks that differ: skipped (needs Debian's faketime and a build without sanitizers)"
fi

# A process of another time namespace sees other start times, and must not take this one for dead.
if unshare -T --boottime 60 --monotonic 60 true 2>/dev/null; then
    long=(tune small.safetensors gcn --epochs 100000000 --patience 0 --trials 2 --jobs 1 -q --study "$url")
    holder() { ask "SELECT min(worker) FROM sfumato_claims" 2>/dev/null; }
    workers() { ask "SELECT count(*) FROM sfumato_workers" 2>/dev/null || echo 0; }
    "$SFUMATO" "${long[@]}" >/dev/null 2>here.stderr &
    here=$!
    wait_until '[ -n "$(holder)" ]' $here
    first=$(holder)
    # A time namespace begins with a child. A worker looks for dead ones when it opens the study.
    unshare -T --boottime 60 --monotonic 60 --fork --kill-child=KILL "$SFUMATO" "${long[@]}" >/dev/null 2>there.stderr &
    there=$!
    wait_until '[ "$(workers)" = 2 ]' $there
    after=$(holder)
    kill -9 $here $there
    wait $here $there 2>/dev/null || true
    [ "$first" = "$after" ] || fail "a living worker was taken for dead: $first, then $after"
    echo "another time namespace: living workers are not taken for dead"
else
    echo "time namespaces: skipped (not permitted here)"
fi
