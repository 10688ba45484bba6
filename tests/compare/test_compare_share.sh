#!/usr/bin/env bash
# Processes share the studies of `compare` through PostgreSQL; each folder has the bytes of a single run, also when
# different commands need the same study and keep different parts of it.
. "$SOURCE/tests/support/transcript.sh"
. "$SOURCE/tests/support/shared_database.sh"
"$SFUMATO" data make -o small.safetensors --nodes 400 --classes 3 --vocabulary 40 --words 6 --seed 7 >/dev/null
compare() { # FOLDER OPTION...
    local folder=$1
    shift
    "$SFUMATO" compare small.safetensors --nets sgcn,linear --splits 2 --trials 5 --jobs 1 -o "$folder" -q "$@" \
        >"$folder.txt" 2>"$folder.stderr" || fail "$folder: $(cat "$folder.stderr")"
}
same() { # ONE OTHER
    local file
    for file in results.csv curves.csv details.csv tables.md tables.tex; do
        cmp "$1/$file" "$2/$file" || fail "$file of $2 differs from that of a single run"
    done
}

# The learning curves are those of the smallest size: 1 in the first command, 2 in the second.
compare both --sizes 1,2
compare large --sizes 2
compare balanced --sizes 1 --class-weight balanced --metric macro-f1
(compare a --sizes 1,2 --share "$url") &
first=$!
(compare b --sizes 2 --share "$url") &
second=$!
compare c --sizes 1,2 --share "$url"
compare d --sizes 1 --class-weight balanced --metric macro-f1 --share "$url"
wait $first $second
same both a
same large b
same both c
same balanced d
[ "$(ask "SELECT count(*) FROM sfumato_studies WHERE result IS NULL")" = 0 ] || fail "something is left"

# A folder that is complete needs nothing; more splits need only theirs.
rows=$(ask "SELECT count(*) FROM sfumato_studies")
compare a --sizes 1,2 --share "$url"
[ "$(ask "SELECT count(*) FROM sfumato_studies")" = "$rows" ] || fail "new rows for a complete folder"
compare a --sizes 1,2 --splits 3 --share "$url"
[ "$(ask "SELECT count(*) FROM sfumato_studies")" = $((rows + 4)) ] || fail "not four new rows"
compare three --sizes 1,2 --splits 3
same three a

# Results of more trials are not mixed with those of the other workers.
before=$(cat a/results.csv)
if "$SFUMATO" compare small.safetensors --nets sgcn,linear --splits 2 --trials 4 --sizes 1,2 -o a -q --share "$url" \
    2>stderr; then
    fail "expected a refusal"
fi
[ "$(cat stderr)" = "sfumato: a has 8 studies with more trials than were asked for, up to 5; workers that share a run \
need equal ones: give another folder (-o FOLDER), or all workers the same --trials" ] || fail "$(cat stderr)"
[ "$before" = "$(cat a/results.csv)" ] || fail "the folder has changed"

# Processes of mpirun are workers: the first prints.
if command -v mpirun >/dev/null; then
    root=()
    [ "$(id -u)" != 0 ] || root=(--allow-run-as-root)
    ask 'DELETE FROM sfumato_studies'
    mpirun "${root[@]}" --oversubscribe -n 2 "$SFUMATO" compare small.safetensors --nets sgcn,linear --splits 2 \
        --trials 5 --jobs 1 --sizes 1,2 -o ranks --share "$url" --json </dev/null >ranks.json 2>stderr ||
        fail "mpirun: $(cat stderr)"
    python3 -m json.tool ranks.json >/dev/null || fail "not one JSON object: $(cat ranks.json)"
    same both ranks
fi

code=0
"$SFUMATO" compare small.safetensors -o never --share memory >stdout 2>stderr || code=$?
[ $code = 2 ] && [ "$(wc -l <stderr)" = 1 ] && [ ! -s stdout ] && [ ! -e never ] || fail "exit $code: $(cat stderr)"
