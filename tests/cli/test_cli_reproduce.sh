#!/usr/bin/env bash
# `reproduce`: help, errors, and the tables that need no study.
. "$SOURCE/tests/support/transcript.sh"
unset SFUMATO_DATA
export XDG_CACHE_HOME=$PWD/cache

part 'help'
run reproduce --help
run merge --help

part 'wrong use'
run reproduce
run reproduce set6
run reproduce Set1
run reproduce set1 set2
run reproduce set1 --trials 0
run reproduce set1 --part 3/2
run reproduce set1 --datasets cora --share study.db
run merge
run merge nowhere
run merge nowhere -o results
run reproduce set1 --splits none
run reproduce set1 --loss median
run reproduce set1 --feature-norm row
run reproduce set1 --self-loops some
run reproduce set1 --datasets citation
run reproduce set1 --datasets cora,,acm
run reproduce set1 --nets ''
run reproduce set1 --datasets cora,citation
run reproduce set1 --nets mlp
run reproduce set1 --nets 'smooth | softmax'
run reproduce layers --nets lpnn
run reproduce standard --datasets acm,dblp
run reproduce set1 --datasets cora --lpnn 'f=hard'
run reproduce set1 --datasets acm --self-loops keep
run reproduce set1 --datasets cora --trials 5 --splits 2 --lpnn-trials 1
run reproduce datasets --datasets cora
run reproduce cost --datasets dblp
note "$(find . -type f | sort)"

part 'tables without studies'
if [ ! -e "$TEST_DATA/planetoid/ind.citeseer.graph" ]; then
    echo "skipped: needs the public datasets"
    exit 77
fi
"$SFUMATO" data import "$TEST_DATA/planetoid/ind.citeseer" --name citeseer -o citeseer.safetensors --quiet >/dev/null
run reproduce datasets --datasets citeseer.safetensors
run reproduce datasets --datasets ./citeseer.safetensors,cora -o tables
run reproduce datasets --datasets citeseer.safetensors --json -o tables
run reproduce cost --datasets citeseer.safetensors --nets sgcn,linear+lp -o cost
note "$(find . -path ./cache -prune -o -type f -print | sort)"

part 'tables of studies'
if "$SFUMATO" --version | grep -q '^  sqlite *no'; then
    echo "skipped: no SQLite in this build"
    exit 77
fi
"$SFUMATO" data import "$TEST_DATA/planetoid/ind.cora" --name cora -o cora.safetensors --quiet >/dev/null
export SFUMATO_DATA=$PWD
"$SFUMATO" reproduce standard --datasets cora --nets sgcn,gcn --trials 2 --quiet >standard.txt
grep -q '^| cora *| gcn *| [0-9.]* | *83.5 |' standard.txt || fail "$(cat standard.txt)"
grep -qx 'Report: results/standard/report.html' standard.txt || fail "$(cat standard.txt)"
cut -d, -f 1-11 results/standard/results.csv >some.csv
note "$(cat some.csv)"
run reproduce standard --datasets cora --nets sgcn --trials 2 --json --quiet
run reproduce standard --datasets cora --nets sgcn --trials 2 --loss mean

# The others by a few of their lines.
"$SFUMATO" reproduce set1 --datasets CORA --nets Linear+LP,SGCN --trials 2 --splits 2 --quiet >set1.txt
grep -q '^| cora *| sgcn *| [0-9.]* ([0-9.]*) | 81.6 (1.2) |.*\(agrees\|higher\|lower\) *|$' set1.txt || fail "$(cat set1.txt)"
grep -q "^Reduced from the paper's settings: 2 trials instead of 2,000, 2 splits instead of 10\.\$" set1.txt ||
    fail "$(cat set1.txt)"
"$SFUMATO" reproduce layers --datasets cora --nets gcn,sgcn --trials 1 --quiet >layers.txt
grep -q 'gcn, k=1 is sgcn, k=1' layers.txt || fail "$(cat layers.txt)"

# Cells with the same network have the same results.
awk -F, 'NR > 1 && $12 == 1 { print $8, $9, $10, $11 }' results/layers/results.csv | uniq >same.txt
[ "$(wc -l <same.txt)" = 1 ] || fail "gcn and sgcn differ at k=1: $(cat same.txt)"
if [ "$BUILD_KIND" = plain ]; then # twenty studies
    "$SFUMATO" reproduce degree-exponents --datasets cora --trials 1 --keep-studies --quiet >exponents.txt
    grep -q 'alpha=1, beta=1 is alpha=0, beta=1' exponents.txt || fail "$(cat exponents.txt)"
    awk -F, 'NR > 1 && $14 == 1 { print $8, $9, $10, $11 }' results/degree-exponents/results.csv | uniq >same.txt
    [ "$(wc -l <same.txt)" = 1 ] || fail "alpha matters: $(cat same.txt)"
    [ "$(ls results/degree-exponents/studies | wc -l)" = 9 ] || fail "not each of nine networks once"
    "$SFUMATO" report results/degree-exponents --json --quiet >exponents.json
    [ "$(grep -c '"exponents": true' exponents.json)" = 20 ] || fail "$(grep exponents exponents.json)"
    [ "$(grep -c '"same_as": "alpha=0, beta=1"' exponents.json)" = 2 ] || fail "$(grep same_as exponents.json)"
fi
note "$(ls results/standard results/set1)"

# Ctrl-C: finished studies are kept.
interrupt stopped '[ -n "$(ls stopped/studies 2>/dev/null)" ]' "$SFUMATO" reproduce standard --datasets cora --nets gcn,mlp+lp -o stopped
[ "$(cat stopped.code)" = 130 ] || fail "exit $(cat stopped.code) after an interrupt: $(cat stopped.stderr)"
grep -q 'interrupted; [01] of 2 studies are saved in "stopped"; run the same command again to resume' stopped.stderr ||
    fail "said: $(cat stopped.stderr)"
[ -s stopped/manifest.json ] || fail "nothing was kept"

# Times, and the widths of their columns, differ between runs.
sed -i '/^| [A-Za-z]*\(+LP\)* *|.*ms/{s/[0-9.]* ms/TIME/g; s/  */ /g}; s/^\(| network .*\) | *predicted.*/\1/
    s/^\(|:-*|:-*|-*:\)|-*:|-*:|$/\1/; s/; predicted for a nominal machine, since.*bench`)//' "$transcript"
compare reproduce
