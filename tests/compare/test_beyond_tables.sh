#!/usr/bin/env bash
# `reproduce noise` and `reproduce extras` with a few trials: tables, figure, the same bytes again.
. "$SOURCE/tests/support/transcript.sh"
if [ ! -e "$TEST_DATA/planetoid/ind.cora.graph" ]; then
    echo "skipped: needs the public datasets"
    exit 77
fi
if [ "$BUILD_KIND" != plain ]; then
    echo "skipped: 80 studies; test_beyond has the same functions"
    exit 77
fi
"$SFUMATO" data import "$TEST_DATA/planetoid/ind.cora" --name cora -o cora.safetensors --quiet >/dev/null
export SFUMATO_DATA=$PWD

# ---- noise: eleven graphs, two networks
noise=(reproduce noise --datasets cora --nets sgcn,linear+lp --splits 2 --trials 1 --quiet)
"$SFUMATO" "${noise[@]}" >noise.txt
grep -q '^| dataset | network *| *0 % | removed 10 % |.*| rewired 50 % |$' noise.txt || fail "$(cat noise.txt)"
[ "$(grep -cE '^\| cora +\| (sgcn|linear\+lp) +(\| +(\*\*)?[0-9.]+(\*\*)? *){11}\|$' noise.txt)" = 2 ] || fail "$(cat noise.txt)"
grep -q '^| feature minus label propagation |' noise.txt || fail "$(cat noise.txt)"
[ "$(wc -l <results/noise/results.csv)" = 45 ] || fail "$(cat results/noise/results.csv)"
grep -q '^"*cora:removed=10%"*,sgcn,1,random:1,' results/noise/results.csv || fail "$(cat results/noise/results.csv)"
grep -q 'removed 50' results/noise/tables.tex || fail "no table for LaTeX"
grep -q '<section id="beyond">' results/noise/report.html || fail "not on the page"
[ -s results/noise/plots/noise-edges.gp ] || fail "no figure: $(ls results/noise/plots)"
[ "$(ls results/noise/plots/*.gp)" = results/noise/plots/noise-edges.gp ] || fail "more than one figure"

# The noisy graph of a task is that of `data noise`: the same study gives the same accuracy.
"$SFUMATO" data noise cora -o noisy.safetensors --rewire 0.3 --quiet >/dev/null
"$SFUMATO" tune noisy.safetensors sgcn --space paper --loss sum --split random:1 --trials 1 --study memory --json >study.json
accuracy=$(sed -n 's/^ *"test_accuracy": \([0-9.]*\).*/\1/p' study.json | head -n 1)
grep "^\"*cora:rewired=30%\"*,sgcn,1,random:1," results/noise/results.csv | cut -d, -f 10 | grep -qx "$accuracy" ||
    fail "$accuracy is not in $(grep 'rewired=30' results/noise/results.csv)"

# Again, in another folder and in two steps.
"$SFUMATO" reproduce noise --datasets cora --nets linear+lp --splits 2 --trials 1 --quiet -o again >/dev/null
"$SFUMATO" "${noise[@]}" -o again --jobs 1 >/dev/null
sort results/noise/results.csv >one.csv
sort again/results.csv >other.csv
cmp one.csv other.csv
cp again/tables.md before.md
"$SFUMATO" report again --quiet >/dev/null
cmp again/tables.md before.md

# ---- extras: five sizes, the network and its reference
"$SFUMATO" reproduce extras --datasets cora --nets appnp --splits 2 --trials 1 --quiet >extras.txt
[ "$(grep -cE '^\| cora +\| [1-5] +\|' extras.txt)" = 5 ] || fail "$(cat extras.txt)"
grep -q '^| cora *| 1 *| MLP+LP *| *82.7 |' extras.txt || fail "$(cat extras.txt)"
grep -q '^- appnp: above the paper.s best mean in [0-5] of 5 rows' extras.txt || fail "$(cat extras.txt)"
[ "$(wc -l <results/extras/results.csv)" = 21 ] || fail "$(cat results/extras/results.csv)"
# A study that is missing is said in its cell, and the row is not counted.
cp -r results/extras cut
grep -v '^"*cora"*,appnp,2,random:1,' results/extras/results.csv >cut/results.csv
"$SFUMATO" report cut --quiet >/dev/null
grep -qE '^\| cora +\| 2 .* of 1; [-+]?[0-9.]+ \|' cut/tables.md || fail "$(grep '^| cora' cut/tables.md)"
grep -q '^- appnp: .* of 4 rows with all splits' cut/tables.md || fail "$(grep appnp: cut/tables.md)"

# ---- wrong use
refuse() {
    local words=$1
    shift
    ! "$SFUMATO" "$@" 2>said.txt >/dev/null || fail "$* works"
    grep -q -- "$words" said.txt || fail "$*: $(cat said.txt)"
}
refuse 'the table extras has none of these networks' reproduce extras --datasets cora --nets gcn
refuse '"citation" is not a dataset of the paper' reproduce noise --datasets citation
refuse 'has results of reproduce noise' reproduce extras --datasets cora --nets appnp --trials 1 -o again
