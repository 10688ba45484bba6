#!/usr/bin/env bash
# A comparison gives the same bytes for any number of threads, when interrupted and continued, and when extended step by
# step.
. "$SOURCE/tests/support/transcript.sh"
if "$SFUMATO" --version | grep -q '^  sqlite *no'; then
    echo "no SQLite in this build: skipped"
    exit 77
fi

"$SFUMATO" data make -o small.safetensors --nodes 1700 --classes 3 --vocabulary 40 --words 8 --seed 7 >/dev/null

# FOLDER ARGUMENTS...
compare() {
    local folder=$1
    shift
    "$SFUMATO" compare small.safetensors --quiet -o "$folder" "$@" >"$folder.txt"
}

# Times are in other files; report.html and some of the plots have them too.
same() {
    local file
    for file in results.csv curves.csv details.csv tables.md tables.tex; do
        cmp "$1/$file" "$2/$file" || fail "$file differs between $1 and $2"
    done
}

few=(--nets "sgcn,linear+lp" --splits 3 --trials 5)
compare one "${few[@]}" --jobs 1
compare three "${few[@]}" --jobs 3
same one three
[ "$(wc -l <one/results.csv)" -eq 7 ] || fail "not six studies: $(cat one/results.csv)"
grep -q '^## Advice' one.txt || fail "no advice: $(cat one.txt)"
! grep -qE '[0-9] (us|ms|s|min) ' one/tables.md || fail "times in tables.md: $(cat one/tables.md)"

# The advised command repeats the study of the first split.
command=$(sed -n 's/^    sfumato //p' one.txt)
[ -n "$command" ] || fail "no command: $(cat one.txt)"
eval "\"\$SFUMATO\" $command --study memory --quiet --json" >tuned.json
[ -s model.safetensors ] || fail "no model from: sfumato $command"
net=$(echo "$command" | cut -d ' ' -f 3)
accuracy=$(grep "^small.safetensors,$net,1,random:0," one/results.csv | cut -d , -f 10)
grep -q "\"test_accuracy\": $accuracy" tuned.json || fail "not $accuracy: $(grep test_acc tuned.json)"

# A finished comparison runs nothing, and touches no study.
before=$(cd one/studies && sha256sum ./*)
compare one "${few[@]}"
same one three
[ "$before" = "$(cd one/studies && sha256sum ./*)" ] || fail "a study changed when nothing was to be done"

# More networks, then more splits, then more trials: the same as all at once.
more=(--nets "sgcn,linear+lp,linear" --splits 4 --trials 8)
compare one --nets sgcn,linear+lp,linear --splits 3 --trials 5
compare one --nets sgcn,linear+lp,linear --splits 4 --trials 5 --jobs 2
compare one "${more[@]}"
compare whole "${more[@]}"
same one whole

# Fewer trials than the folder has: its studies stay, and are told apart by their numbers.
"$SFUMATO" compare small.safetensors --nets sgcn,linear+lp,linear --splits 3 --trials 2 -o three >stdout 2>stderr
[ "$(cat stderr)" = "sfumato: warning: three has 6 of 9 studies with more trials than were asked for, up to 5, which are \
kept; give another folder (-o FOLDER) for equal budgets" ] || fail "not the line that was expected: $(cat stderr)"
grep -qx -- '- unequal budgets: of 9 studies 6 have 5 trials,' \
    three/tables.md || fail "nothing of trials in the tables: $(cat three/tables.md)"
grep -qx -- '  the others fewer, as their cells say; more trials may find better hyperparameters' three/tables.md ||
    fail "the others are missing: $(cat three/tables.md)"
grep -q '^| linear .*, 2 trials' three/tables.md || fail "the cells do not tell: $(cat three/tables.md)"
grep -q '<dd>2 to 5 (of 9 studies 6 have 5)' three/report.html || fail "nothing of trials on the page"
[ "$(grep -c '^small.safetensors,\(sgcn\|linear+lp\),[^,]*,[^,]*,[^,]*,5,' three/results.csv)" = 6 ] ||
    fail "results were lost: $(cat three/results.csv)"

# Interrupted and killed at different points, it continues.
# Sanitizers and emulators take ten times as long.
trials=10
[ "$BUILD_KIND" != plain ] || trials=40
long=(--nets "sgcn,linear" --splits 3 --trials "$trials")
compare unhurried "${long[@]}"
studies() { find hurried/studies -name '*.db' 2>/dev/null | wc -l; }
for count in 1 2 3 4; do
    interrupt said "handles \$process 2 && [ \$(studies) -ge $count ]" "$SFUMATO" compare small.safetensors -o hurried "${long[@]}"
    [ "$(cat said.code)" -eq 0 ] || { [ "$(cat said.code)" -eq 130 ] &&
        grep -qE 'interrupted; ([0-6] of 6 studies are saved in "hurried"|no study was run); run the same command again to resume' said.stderr; } ||
        fail "interrupted, it ended with $(cat said.code): $(cat said.stderr)"
    send_signal KILL killed "[ \$(studies) -gt $count ]" "$SFUMATO" compare small.safetensors -o hurried "${long[@]}"
done
compare hurried "${long[@]}"
same hurried unhurried

# Datasets with the same name in different folders: each gives the same as alone, also if the second one is added later
# while the first is unfinished.
mkdir a b
cp small.safetensors a/cora.safetensors
"$SFUMATO" data make -o b/cora.safetensors --nodes 1700 --classes 3 --vocabulary 40 --words 8 --seed 8 >/dev/null
namesakes() { # FOLDER DATASET...
    "$SFUMATO" compare "${@:2}" "${few[@]}" --quiet -o "$1" >"$1.txt"
}
rows() { sort "$1/results.csv" | grep -E "^($2)/"; }
namesakes both a/cora.safetensors b/cora.safetensors
namesakes only_b b/cora.safetensors
interrupt grown '[ -n "$(ls grown/studies 2>/dev/null)" ]' "$SFUMATO" compare a/cora.safetensors "${few[@]}" --jobs 1 -o grown
namesakes grown b/cora.safetensors a/cora.safetensors
namesakes grown a/cora.safetensors b/cora.safetensors
cmp <(rows both 'a|b') <(rows grown 'a|b') || fail "datasets of one name, one after the other: $(cat grown/results.csv)"
cmp <(rows both b) <(rows only_b b) || fail "a dataset beside another one of its name: $(cat both/results.csv)"
[ "$(ls both/studies | wc -l)" -eq 12 ] || fail "not twelve studies: $(ls both/studies)"
grep -q '^| network *| *a/cora *| *b/cora *| *rank' both/tables.md || fail "not told apart: $(cat both/tables.md)"
grep -q '^| b/cora  *| 1 ' both.txt && grep -q '^    sfumato tune b/cora.safetensors ' both.txt || fail "no advice: $(cat both.txt)"

# An unwritable folder is reported before anything is trained, for root too.
for folder in /proc/x small.safetensors small.safetensors/x; do
    code=0
    "$SFUMATO" compare small.safetensors "${few[@]}" -o $folder >stdout 2>stderr || code=$?
    [ $code -eq 1 ] && [ ! -s stdout ] && [ "$(wc -l <stderr)" -eq 1 ] &&
        grep -q "^sfumato: $folder: cannot create this folder: .*; give another folder: -o FOLDER\$" stderr || fail "-o $folder: exit $code, $(cat stderr)"
done

# A folder is continued only with the same settings.
! "$SFUMATO" compare small.safetensors -o one --loss sum >/dev/null 2>said || fail "other settings were taken"
grep -q 'choose another folder' said || fail "it said: $(cat said)"
