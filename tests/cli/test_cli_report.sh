#!/usr/bin/env bash
# `report`: its files and output, reproducibility, without gnuplot, and on folders without results.
set -eu
if "$SFUMATO" --version | grep -q '^  sqlite *no'; then
    echo "no SQLite in this build: skipped"
    exit 77
fi

fail() {
    echo "$*" >&2
    exit 1
}

"$SFUMATO" data make -o small.safetensors --nodes 1700 --classes 3 --vocabulary 50 --words 8 --seed 7 >/dev/null
"$SFUMATO" compare small.safetensors --nets sgcn,linear+lp --sizes 1,60 --splits 2 --trials 3 --quiet -o results >compared
files=(report.html tables.md tables.tex results.csv timings.csv curves.csv details.csv manifest.json)
cp -r results before

# Everything derived from the entries is reproduced byte for byte.
(cd results && rm -rf report.html tables.md tables.tex plots)
"$SFUMATO" report results >said 2>errors
if command -v gnuplot >/dev/null; then
    [ ! -s errors ] || fail "it said: $(cat errors)"
fi
for file in "${files[@]}"; do
    grep -q "^results/$file " said || fail "$file is not named: $(cat said)"
    cmp "results/$file" "before/$file" || fail "$file differs"
done
diff -r results/plots before/plots
grep -q '^## Advice' said || fail "no tables: $(cat said)"
grep -q 'sfumato compare small.safetensors --nets sgcn,linear+lp --sizes 1,60 --splits 2 --trials 3' results/report.html ||
    fail "no command to run it again"

# The command in the page gives the same results, and runs no study.
command=$(sed -n 's/.*<code>\(sfumato compare .*\) -o FOLDER<\/code>.*/\1/p' results/report.html)
eval "\"\$SFUMATO\" ${command#sfumato } -o results --quiet" >again
cmp results/results.csv before/results.csv

# --quiet and --json.
"$SFUMATO" report results --quiet >quiet
! grep -q '^results/report.html' quiet || fail "quiet is not quiet"
"$SFUMATO" report results/ --json >json
if command -v python3 >/dev/null; then
    python3 - <<'CHECK'
import json
report = json.load(open('json'))
assert len(report['cells']) == 4 and len(report['ranks']) == 4, report
assert report['files']['report.html'] == 'results/report.html', report['files']
CHECK
fi

# Without gnuplot: tables and the figure per dataset, which the program draws, and one line.
mkdir tools
for tool in qemu-x86_64 qemu-aarch64; do # what runs a program for another machine
    found=$(command -v "$tool") && ln -s "$found" "tools/$tool" || true
done
PATH="$PWD/tools" "$SFUMATO" report results >/dev/null 2>errors
[ "$(wc -l <errors)" = 1 ] || fail "it said: $(cat errors)"
grep -q 'gnuplot is not installed: [0-9]* plots were skipped; results/plots/ has the scripts and data' errors ||
    fail "it said: $(cat errors)"
! ls results/plots/*.svg 2>/dev/null || fail "old plots stay"
! grep -q '<figure class="plot"' results/report.html || fail "old plots are in the page"
[ "$(grep -c '<figure class="answer"' results/report.html)" = 1 ] || fail "no figure of the dataset in the page"
grep -q '<table class="sort">' results/report.html

# Results of an earlier version, without curves: a report without them, and one line.
mkdir old
cp results/{results.csv,timings.csv,manifest.json} old/
"$SFUMATO" report old >/dev/null 2>errors
[ "$(grep -c 'old: no learning curves in it' errors)" = 1 ] || fail "it said: $(cat errors)"
! ls old/plots/curves-* 2>/dev/null || fail "curves of nothing"
"$SFUMATO" report old --quiet >/dev/null 2>errors
if command -v gnuplot >/dev/null; then
    [ ! -s errors ] || fail "quiet, it said: $(cat errors)"
    ls results/plots/curves-small.csv results/plots/losses-small.csv >/dev/null || fail "no curves"
fi

# Truncated or missing curves: one line with the position, and the rest of the report.
check_without_curves() {
    "$SFUMATO" report broken >said 2>errors || fail "it fails for its curves: $(cat errors)"
    sed -i '/gnuplot is not installed/d' errors
    [ "$(cat errors)" = "sfumato: warning: broken/curves.csv:$1; learning curves are left out of the report" ] ||
        fail "it said: $(cat errors)"
    for file in tables.md tables.tex results.csv; do
        cmp "broken/$file" "before/$file" || fail "$file differs"
    done
    ! ls broken/plots/curves-* broken/plots/losses-* 2>/dev/null || fail "plots of broken curves"
    ls broken/plots/sizes-small.csv >/dev/null || fail "the other plots are not there"
    ! grep -q 'Learning curves' broken/report.html || fail "curves in the page"
    grep -q '<table class="sort">' broken/report.html || fail "no tables in the page"
}
mkdir broken
cp results/{results.csv,timings.csv,manifest.json} broken/
cat <(head -n 5 results/curves.csv) <(printf 'small.safetensors,sgcn,1,ran') >broken/curves.csv
check_without_curves '6: expected 9 columns as on line 1, found 4'
head -n 5 results/curves.csv | sed '4s/,[^,]*$/,high/' >broken/curves.csv
check_without_curves '4: column "val_accuracy": "high" is not a number'
sed 3d results/curves.csv >broken/curves.csv
check_without_curves '3: column "epoch": "3" does not follow the epoch before it'
: >broken/curves.csv
check_without_curves '1: the columns are not those of a curves.csv (expected the first to be dataset,net,size,split)'
# To add to them, compare would have to write them anew.
! "$SFUMATO" compare small.safetensors --nets sgcn --sizes 1 --splits 2 --trials 3 -o broken >/dev/null 2>errors ||
    fail "broken curves are written over"
grep -q 'broken/curves.csv:1: .*; remove the file to continue without its learning curves$' errors ||
    fail "it said: $(cat errors)"

# The same for details: a line with the place, and a report without them. A folder of an earlier version has none.
grep -q '<section id="details">' results/report.html || fail "no details in the page"
mkdir partial
cp results/{results.csv,timings.csv,curves.csv,manifest.json} partial/
"$SFUMATO" report partial --quiet >/dev/null
! grep -q '<section id="details">' partial/report.html || fail "details of nothing"
cat <(head -n 3 results/details.csv) <(printf 'small.safetensors,sgcn') >partial/details.csv
"$SFUMATO" report partial >/dev/null 2>errors || fail "it fails for its details: $(cat errors)"
grep -q 'partial/details.csv:4: expected 9 columns .*, found 2; the report is written without these details$' errors ||
    fail "it said: $(cat errors)"
! grep -q '<section id="details">' partial/report.html || fail "malformed details in the page"

# What a program with another protocol adds to it is warned of; another version with the same protocol is not, and 0.1.0,
# which recorded none, has the first.
sed 's/^  "version": "[^"]*"/  "version": "0.1.0"/; /^  "protocol": /d' results/manifest.json >old/manifest.json
"$SFUMATO" compare small.safetensors --nets sgcn,linear+lp --sizes 1,60 --splits 2 --trials 3 -o old >/dev/null 2>errors
! grep -q 'has results of version' errors || fail "it said: $(cat errors)"
sed 's/^  "version": "[^"]*"/  "version": "0.0.1"/; s/^  "protocol": .*/  "protocol": 0,/' results/manifest.json >old/manifest.json
"$SFUMATO" compare small.safetensors --nets sgcn,linear+lp --sizes 1,60 --splits 2 --trials 3 -o old >/dev/null 2>errors
grep -q 'old has results of version "0.0.1", whose protocol differs from' errors || fail "it said: $(cat errors)"

# Results of a later version may have another meaning.
sed 's/sfumato.results.1/sfumato.results.2/' results/manifest.json >old/manifest.json
for command in "report old" "compare small.safetensors -o old"; do
    code=0
    # shellcheck disable=SC2086 # words
    "$SFUMATO" $command >out 2>errors || code=$?
    [ "$code" = 1 ] && grep -q 'old/manifest.json: expected the format .*, found "sfumato.results.2"' errors || fail "$code: $(cat errors)"
done

# A folder without results gives one line and is not changed.
mkdir empty
for none in nothing empty small.safetensors; do
    code=0
    "$SFUMATO" report "$none" >out 2>errors || code=$?
    [ "$code" = 1 ] && [ "$(wc -l <errors)" = 1 ] && [ ! -s out ] || fail "$none: $code, $(cat errors)"
    grep -q "^sfumato: $none" errors || fail "$none: $(cat errors)"
done
[ -z "$(ls empty)" ] || fail "something was written: $(ls empty)"
