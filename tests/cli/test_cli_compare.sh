#!/usr/bin/env bash
# `compare`: the complete output as a transcript, without times.
. "$SOURCE/tests/support/transcript.sh"
if "$SFUMATO" --version | grep -q '^  sqlite *no'; then
    echo "no SQLite in this build: skipped"
    exit 77
fi

part 'help'
run compare --help

part 'a comparison'
"$SFUMATO" data make -o small.safetensors --nodes 1700 --classes 3 --vocabulary 50 --words 8 --seed 7 >/dev/null
run compare small.safetensors --nets sgcn,linear+lp --splits 2 --trials 3 --space paper --quiet
run compare small.safetensors --nets 'sgcn, linear+lp, smooth(norm=row, self=2) | softmax' --splits 2 --trials 3 --sizes 1,60 -o ./results --json
run compare small.safetensors --nets sgcn,linear --splits 2 --trials 2 --metric macro-f1 --class-weight balanced -o balanced --quiet
note "$(head -n 1 balanced/results.csv)"
note "$(cd results && ls -d results.csv tables.md tables.tex timings.csv manifest.json report.html)"
note "$(sed 's/,[0-9a-f]\{64\},/,DIGEST,/; s/\(DIGEST,[0-9]*,[0-9]*\).*/\1/' results/results.csv)"

part 'wrong use'
run compare
run compare nothing --trials 1
run compare small.safetensors --nets
run compare small.safetensors --nets ''
run compare small.safetensors --nets gcn,,sgcn
run compare small.safetensors --nets gcn,snail
run compare small.safetensors --nets 'smooth(self=2, norm=rwo) | softmax'
run compare small.safetensors --sizes 5..1
run compare small.safetensors --sizes 1..
run compare small.safetensors --sizes 0
run compare small.safetensors --sizes many
run compare small.safetensors --sizes standard --nets sgcn --trials 2 --space paper -o standard
run compare small.safetensors --splits 0
run compare small.safetensors --trials 0
run compare small.safetensors --space 'lr=(1,0)' --nets sgcn --splits 1 -o space
run compare small.safetensors --feature-norm row
run compare small.safetensors --loss median
run compare small.safetensors --seed 1 --nets sgcn --splits 2 --trials 3
run compare small.safetensors --metric auc --nets sgcn --splits 2 --trials 3
run compare small.safetensors --metric precision
run compare small.safetensors --nets lpnn --lpnn 'f=hard' --trials 1 -o lpnn

sed -i -e 's/ is [0-9.]* times faster$/ is SOME times faster/' \
    -e 's/ takes .* per epoch; a study of \([0-9]*\) trials took .*/ takes TIME per epoch; a study of \1 trials took TIME/' "$transcript"
compare compare
