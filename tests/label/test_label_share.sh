#!/usr/bin/env bash
# Several processes label one dataset through one PostgreSQL database; one is killed, one comes late. All write the bytes
# of a single process. What cannot be shared is refused in one line.
. "$SOURCE/tests/support/transcript.sh"
. "$SOURCE/tests/support/shared_database.sh"
steps=25 fewer=9 nets=sgcn,fp+mlp,gcn,linear+lp,mlp,linear
if [ "${BUILD_KIND:-plain}" = sanitized ]; then
    steps=4 fewer=3 nets=sgcn,mlp
fi

# 320 nodes with weighted edges, a third of them labelled.
"$SFUMATO" data make -o whole.safetensors --nodes 320 --classes 3 --vocabulary 40 --words 6 --seed 7 >/dev/null
"$SFUMATO" data export whole.safetensors -o whole >/dev/null
awk -F, 'NR == 1 { print "from,to,weight"; next } { print $1 "," $2 "," 1 + NR % 3 }' whole/edges.csv >edges.csv
awk -F, 'NR == 1 || NR % 3 == 0 { print; next } { print $1 "," }' whole/nodes.csv >few.csv
"$SFUMATO" data import --edges edges.csv --features whole/features.csv --labels few.csv --name few >/dev/null
label() { # FOLDER OPTION...
    local folder=$1
    shift
    mkdir -p "$folder"
    exec "$SFUMATO" label few.safetensors -o "$folder/labels.csv" --force --nets $nets --jobs 2 -q "$@" \
        >"$folder.txt" 2>"$folder.stderr"
}
same() {
    local file
    for file in labels.csv labels.model.safetensors labels.html; do
        # The page tells how long it took.
        diff <(sed -E 's/[0-9.]+ (s|min)\b//g' "one/$file") <(sed -E 's/[0-9.]+ (s|min)\b//g' "$1/$file") >difference ||
            fail "$file of $1 differs from that of a single process: $(head -c 500 difference)"
    done
}

(label one --budget steps:$steps) || fail "one: $(cat one.stderr)"
processes=()
for name in a b killed; do
    (label $name --budget steps:$steps --share "$url") &
    processes+=($!)
done
wait_until '[ "$(finished)" -ge 12 ]' "${processes[2]}"
kill -9 "${processes[2]}"
wait "${processes[2]}" 2>/dev/null || true
for i in 0 1; do
    wait "${processes[i]}" || fail "exit $?: $(cat a.stderr b.stderr)"
done
same a
same b
[ ! -e killed/labels.csv ] || fail "the killed one has written labels"
[ "$(ask 'SELECT count(DISTINCT worker) FROM sfumato_studies')" -ge 2 ] || fail "one worker ran everything"
count=$(finished)
[ "$(ask 'SELECT count(*) FROM sfumato_studies')" = "$count" ] || fail "something is left without a result"

# One that comes later trains only the models; one with fewer steps finds what it needs.
ask "CREATE TABLE before AS SELECT * FROM sfumato_studies"
(label late --budget steps:$steps --share "$url") || fail "late: $(cat late.stderr)"
same late
(label fewer --budget steps:$fewer --share "$url") || fail "fewer: $(cat fewer.stderr)"
(label alone --budget steps:$fewer) || fail "alone: $(cat alone.stderr)"
cmp fewer/labels.csv alone/labels.csv || fail "$fewer steps differ"
[ "$(ask "SELECT count(*) FROM (SELECT * FROM sfumato_studies EXCEPT SELECT * FROM before) AS new")" = 0 ] ||
    fail "the late ones have run something"

# An interrupted one gives back what it has claimed, and writes nothing.
held() { [ "$(ask 'SELECT count(*) FROM sfumato_studies WHERE result IS NULL AND beat > 0' 2>/dev/null)" -gt 0 ]; }
interrupt stopped held "$SFUMATO" label few.safetensors -o stopped.csv --seed 9 --budget steps:$steps --share "$url" -q
[ "$(cat stopped.code)" = 130 ] && [ ! -e stopped.csv ] || fail "exit $(cat stopped.code): $(cat stopped.stderr)"
! held || fail "claims are left"

# A result that is not one of ours.
ask "UPDATE sfumato_studies SET result = '[[1, 2]]'"
! (label broken --budget steps:2 --share "$url") || fail "a broken result was taken"
grep -qx 'sfumato: postgresql://sfumato@/postgres: expected the results of [12] trials of label in sfumato_studies' \
    broken.stderr || fail "broken: $(cat broken.stderr)"

for options in "--budget 5s --share $url" "--share $url" "--budget steps:2 --share x.db"; do
    ! (label never $options) || fail "$options was taken"
    [ "$(wc -l <never.stderr)" = 1 ] && [ ! -e never/labels.csv ] || fail "$options: $(cat never.stderr)"
done
echo "$count items"
