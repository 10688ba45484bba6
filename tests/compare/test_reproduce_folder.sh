#!/usr/bin/env bash
# The folder of `reproduce all`: it is killed and continued, moved, filled in parts and merged, and has the bytes of a
# single run each time. Generated graphs take the place of two of the paper's datasets.
. "$SOURCE/tests/support/transcript.sh"
if "$SFUMATO" --version | grep -q '^  sqlite *no'; then
    echo "no SQLite in this build: skipped"
    exit 77
fi
mkdir here there
"$SFUMATO" data make -o here/cora.safetensors --nodes 1700 --classes 3 --vocabulary 40 --words 8 --seed 7 >/dev/null
"$SFUMATO" data make -o here/citeseer.safetensors --nodes 1700 --classes 3 --vocabulary 40 --words 8 --seed 9 >/dev/null
cp here/*.safetensors there
export SFUMATO_DATA=$PWD/here
settings=(--datasets cora,citeseer --nets sgcn,linear+lp --splits 2 --trials 5)

# FOLDER ARGUMENTS...
all() {
    local folder=$1
    shift
    "$SFUMATO" reproduce all -o "$folder" "${settings[@]}" --quiet "$@" >"$folder.txt"
}
same() {
    local file
    for file in results.csv curves.csv details.csv tables.md tables.tex; do
        cmp "$1/$file" "$2/$file" || fail "$file differs between $1 and $2"
    done
}

all one
all jobs --jobs 3
same one jobs
[ "$(find one -name '*.db*' | wc -l)" = 0 ] && [ ! -e one/studies ] || fail "files of studies are left: $(find one)"
[ -s one/cost.md ] && [ -s one/datasets.md ] || fail "no texts: $(ls one)"

# Standard splits, sweeps, few labels, many labels, the other sizes.
tail -n +2 one/results.csv | cut -d, -f 3,12 | uniq >order.txt
printf 'standard,%s\n' 0 1 2 3 4 1 2 3 4 0 1 2 3 4 1 2 3 4 >expected.txt
printf '%d,0\n' 1 5 2 3 4 >>expected.txt
[ "$(grep -v standard order.txt)" = "$(grep -v standard expected.txt)" ] || fail "the order is $(cat order.txt)"
[ "$(grep -n standard order.txt | tail -n 1 | cut -d: -f 1)" -lt "$(grep -n '^1,' order.txt | cut -d: -f 1)" ] ||
    fail "standard splits are not first: $(cat order.txt)"

# A row has what repeats its study: the digest is that of the trials as CSV.
row=$(grep '^citeseer,linear+lp,5,random:1,' one/results.csv)
"$SFUMATO" tune citeseer 'softmax | smooth^2(norm=row)' --space paper --trials 5 --split random:1 --size 5 \
    --study memory --export trials.csv -q \
    >/dev/null
[ "${row##*,}" = "$(sha256sum trials.csv | cut -d ' ' -f 1)" ] || fail "not the digest of trials.csv: $row"
best=$(cut -d, -f 7 <<<"$row")
configuration=$(cut -d, -f 19 <<<"$row")
for value in $(awk -F, -v n="$best" '$1 == n { print $8, $9, $10 }' trials.csv); do
    grep -q "=$value\( \|\$\)" <<<"$configuration" || fail "$value is not in $configuration"
done

# Every trial is kept if that is asked for, and from then on.
all kept --keep-studies
same one kept
[ "$(ls kept/studies/*.db | wc -l)" = 56 ] || fail "not one file per study: $(ls kept/studies | wc -l)"
all kept
[ "$(ls kept/studies/*.db | wc -l)" = 56 ] || fail "kept studies were removed"

# Killed at different points, it continues; once in another place, with the datasets in another folder.
# Rows are written once per second, which may be half of them: later rounds are killed in a study that they have begun.
rows() { wc -l 2>/dev/null <killed/results.csv || echo 0; }
begun() { find killed/studies -name '*.db' -newer began 2>/dev/null | wc -l; }
mkdir elsewhere
for round in 1 2 3; do
    touch began
    send_signal KILL said "[ \$(rows) -gt 2 ] && [ \$(begun) -gt 0 ]" \
        "$SFUMATO" reproduce all -o killed "${settings[@]}" --jobs 1
    [ "$(cat said.code)" -eq 137 ] || fail "not killed in round $round: exit $(cat said.code), $(cat said.stderr)"
done
[ "$(rows)" -gt 2 ] && [ "$(rows)" -lt "$(wc -l <one/results.csv)" ] || fail "$(rows) rows when it was moved"
if command -v sqlite3 >/dev/null; then # the clock of the other machine was a day ahead
    for file in killed/studies/*.db; do
        [[ $(sqlite3 "$file" .tables) = *sfumato_workers* ]] || continue # killed before its tables were made
        sqlite3 "$file" "UPDATE sfumato_workers SET worker = 'x' || worker, beat = beat + 86400;
            UPDATE sfumato_claims SET worker = 'x' || worker"
    done
fi
mv killed elsewhere/moved
paths=(--datasets "$PWD/there/cora.safetensors,$PWD/there/citeseer.safetensors")
(unset SFUMATO_DATA; cd elsewhere && all moved "${paths[@]}")
same one elsewhere/moved
! grep -rn "$PWD" elsewhere/moved --include='*.csv' --include='*.json' --include='*.md' || fail "a path is in the folder"
[ ! -e elsewhere/moved/studies ] || fail "files are left: $(ls elsewhere/moved/studies)"

# Parts, on machines without a meeting point.
for part in 1 2 3; do
    all part$part --part $part/3
done
"$SFUMATO" merge part1 part2 part3 -o merged >said
same one merged
[ "$(ls one/plots)" = "$(ls merged/plots)" ] || fail "reports before the end left plots: $(ls one/plots merged/plots)"
grep -q "^$(($(wc -l <one/results.csv) - 1)) results of 3 folders merged\$" said || fail "$(cat said)"
[ -s merged/report.html ] && [ -s merged/cost.md ] || fail "no report: $(ls merged)"
"$SFUMATO" merge part3 part1 -o two --json >two.json
[ "$(sed -n 's/.*"missing": \([0-9]*\).*/\1/p' two.json)" -gt 0 ] || fail "nothing is missing: $(tail -n 5 two.json)"
"$SFUMATO" merge part2 -o two >/dev/null # it grows
same one two
all two # and is complete
same one two

# Different networks and datasets, in any order.
"$SFUMATO" reproduce all --datasets citeseer --nets linear+lp,sgcn --splits 2 --trials 5 -o b -q >/dev/null
"$SFUMATO" reproduce all --datasets cora --nets sgcn --splits 2 --trials 5 -o c -q >/dev/null
"$SFUMATO" reproduce all --datasets cora --nets linear+lp,sgcn --splits 1 --trials 5 -o a -q >/dev/null
"$SFUMATO" merge a b c -o abc >said
grep -q '^Missing: 5 results; ' said || fail "$(cat said)"

# What does not belong together is refused, and nothing is written.
refused() { # MESSAGE FOLDER...
    local message=$1
    shift
    ! "$SFUMATO" merge "$@" -o never >stdout 2>stderr || fail "merged: $*"
    [ ! -e never ] && [ ! -s stdout ] && [ "$(wc -l <stderr)" -eq 1 ] && grep -q "^sfumato: $message" stderr ||
        fail "merge $*: $(cat stdout stderr)"
}
all other --loss mean --part 1/3
refused 'other: expected results of all with the settings of one, found all with --loss "mean"$' one other
settings[7]=4
all fewer --part 1/3
refused 'fewer: expected results of all with the settings of one, found all with --trials 4 instead of 5; run both commands with the larger number first, which keeps what they have$' one fewer
settings[7]=5
"$SFUMATO" reproduce set1 --datasets cora --nets sgcn --splits 2 --trials 5 -o table -q >/dev/null
refused 'table: expected results of all with the settings of one, found set1$' one table
refused 'here: expected a folder with results of compare or reproduce, found no manifest.json$' one here
cp -r part1 changed
sed -i '3s/0\.[0-9]*/0.5/3' changed/results.csv
refused 'changed: .*, size standard, standard has another [a-z_0-9]* than in one: the folders cannot be merged$' one changed
"$SFUMATO" data make -o there/cora.safetensors --nodes 1700 --classes 3 --vocabulary 40 --words 8 --seed 8 --force >/dev/null
SFUMATO_DATA=$PWD/there all data --part 2/3
refused 'data: the dataset cora differs from that of one ' one data
code=0
SFUMATO_DATA=$PWD/there all one >stdout 2>stderr || code=$?
[ $code -eq 0 ] || fail "complete results were refused: $(cat stderr)"
code=0
SFUMATO_DATA=$PWD/there all part1 >stdout 2>stderr || code=$?
[ $code -eq 2 ] && grep -q '^sfumato: part1 has results of another dataset cora (digest ' stderr || fail "exit $code: $(cat stderr)"
for part in 0/2 3/2 2 a/b 1/2/3 /2 -1/2; do
    code=0
    "$SFUMATO" reproduce set1 --part=$part >stdout 2>stderr || code=$?
    [ $code -eq 2 ] && grep -q 'expected K/N with K from 1 to N' stderr || fail "--part $part: exit $code, $(cat stderr)"
done
