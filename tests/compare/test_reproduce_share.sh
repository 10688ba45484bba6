#!/usr/bin/env bash
# Several processes fill their folders through one PostgreSQL database; one is killed, one leaves and comes back. Each
# folder has the bytes of a single run, and no study is run twice.
. "$SOURCE/tests/support/transcript.sh"
. "$SOURCE/tests/support/shared_database.sh"

# As the two of test_reproduce_folder.sh.
"$SFUMATO" data make -o cora.safetensors --nodes 1700 --classes 3 --vocabulary 40 --words 8 --seed 7 >/dev/null
"$SFUMATO" data make -o citeseer.safetensors --nodes 1700 --classes 3 --vocabulary 40 --words 8 --seed 9 >/dev/null
export SFUMATO_DATA=$PWD
settings=(--datasets cora,citeseer --nets sgcn,linear+lp --splits 2 --trials 6 --jobs 1)
share() { # FOLDER
    exec "$SFUMATO" reproduce all -o "$1" "${settings[@]}" --quiet --share "$url" >"$1.txt" 2>"$1.stderr"
}
same() {
    local file
    for file in results.csv curves.csv details.csv tables.md tables.tex; do
        cmp "one/$file" "$1/$file" || fail "$file of $1 differs from that of a single run"
    done
    [ ! -e "$1/studies" ] || fail "files of studies are left in $1: $(ls "$1/studies")"
}
"$SFUMATO" reproduce all -o one "${settings[@]}" --quiet >/dev/null

# Three at once; one is killed while it has studies, one of its studies is half done.
processes=()
for name in a b killed; do
    (share $name) &
    processes+=($!)
done
wait_until '[ "$(finished)" -ge 10 ] && [ -n "$(ls killed/studies 2>/dev/null)" ]' "${processes[2]}"
kill -9 "${processes[2]}"
wait "${processes[2]}" 2>/dev/null || true
for i in 0 1; do
    wait "${processes[i]}" || fail "exit $?: $(cat a.stderr b.stderr)"
done
same a
same b
: >killed/studies/citeseer.sgcn.standard.standard.k4.db-journal # of a kill while SQLite makes the file
(share killed) || fail "exit $?: $(cat killed.stderr)"
same killed
[ "$(finished)" = 56 ] || fail "not 56 studies: $(finished)"
[ "$(ask 'SELECT count(DISTINCT worker) FROM sfumato_studies')" -ge 2 ] || fail "one worker ran everything"

# One who comes later gets everything without training.
(share late) || fail "exit $?: $(cat late.stderr)"
same late
[ "$(ask 'SELECT count(DISTINCT worker) FROM sfumato_studies')" -le 3 ] || fail "the late one ran studies"

# A claim whose lease has expired, of a machine that is not here, is taken over; a younger one is waited for.
ask "UPDATE sfumato_studies SET result = NULL, worker = 'elsewhere/x/y/1/1/1', beat = EXTRACT(EPOCH FROM now()) - 3600
    WHERE title LIKE 'cora sgcn, size 5%'"
ask "UPDATE sfumato_studies SET result = NULL, worker = 'elsewhere/x/y/1/1/2', beat = EXTRACT(EPOCH FROM now()) - 56
    WHERE title LIKE 'cora sgcn, size 4%'"
(share taken) || fail "exit $?: $(cat taken.stderr)"
same taken
[ "$(ask "SELECT count(*) FROM sfumato_studies WHERE worker LIKE 'elsewhere%'")" = 0 ] || fail "claims of the dead are left"

# Other settings are other studies; an interrupted worker gives back what it has claimed.
interrupt stopped '[ "$(ask "SELECT count(*) FROM sfumato_studies WHERE result IS NULL AND beat > 0" 2>/dev/null)" -gt 0 ]' \
    "$SFUMATO" reproduce all -o stopped "${settings[@]}" --trials 7 --share "$url"
[ "$(cat stopped.code)" = 130 ] || fail "exit $(cat stopped.code): $(cat stopped.stderr)"
[ "$(ask 'SELECT count(*) FROM sfumato_studies WHERE result IS NULL AND beat > 0')" = 0 ] || fail "claims are left"

# Studies of `tune` may be in the same database.
"$SFUMATO" tune cora sgcn --trials 2 --study "$url" -q >/dev/null || fail "tune did not take the database"
(share late) || fail "exit $?: $(cat late.stderr)"

for url in "memory" "x.db" "postgresql://sfumato@/nothing?host=$server"; do
    ! (share never) || fail "$url was taken"
    [ "$(wc -l <never.stderr)" = 1 ] && [ ! -e never ] || fail "$url: $(cat never.stderr; ls never)"
done
