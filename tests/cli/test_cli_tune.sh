#!/usr/bin/env bash
# `tune`: the complete output as a transcript, without times.
. "$SOURCE/tests/support/transcript.sh"
hide='s/^\(  time  *\)[0-9.]* s$/\1TIME/; s/"seconds": [0-9.e-]*/"seconds": TIME/'
if "$SFUMATO" --version | grep -q '^  sqlite *no'; then
    echo "no SQLite in this build: skipped"
    exit 77
fi

part 'help'
run tune --help

part 'a study in memory'
"$SFUMATO" data make -o small.safetensors --nodes 200 --classes 3 --vocabulary 50 --words 8 --seed 7 >/dev/null
quick=(--epochs 12 --quiet)
run tune citation gcn --trials 12 --study memory --space paper "${quick[@]}"
run tune citation gcn --trials 4 --study memory "${quick[@]}" --top 2
run tune small.safetensors gcn --trials 30 --study memory --space paper --sampler random --top 3 --epochs 20 --jobs 1
run tune small.safetensors sgcn --trials 12 --study memory --space 'lr=log(1e-3,0.3)' --dropout 0 --weight-decay 1e-3 --epochs 20 --top 0 --quiet
run tune small.safetensors 'smooth^$k | dense $h relu | softmax' --space 'lr=log(1e-3,0.3) k=[1..4] h={4,8,16}' --trials 14 --study memory --top 2 "${quick[@]}"
run tune small.safetensors any --space 'net={gcn,sgcn,mlp+lp} lr=log(1e-3,0.3) hidden={8,16}' --trials 24 --study memory --top 4 "${quick[@]}"
run tune small.safetensors gcn --enqueue 'lr=0.01 hidden=16' --enqueue 'dropout=0.25' --trials 3 --study memory --space paper --wave 1 "${quick[@]}"

part 'a study in a file'
run tune small.safetensors gcn --trials 8 --space paper -o best.model --export trials.csv "${quick[@]}"
note "$(head -n 3 trials.csv)"
run tune small.safetensors gcn --trials 8 --epochs 12
run tune small.safetensors gcn --trials 12 --epochs 12 --json
note "$(ls)"
run tune small.safetensors gcn --trials 12 --epochs 12 --space practical
run tune small.safetensors gcn --trials 12 --epochs 13
run tune small.safetensors gcn --trials 12 --epochs 12 --seed 1
run tune small.safetensors gcn --trials 12 --epochs 12 --wave 1
run tune small.safetensors 'Dense 8 | Softmax | smooth^2(self=0.5)' --space 'lr=(0.01,0.3)' --trials 2 "${quick[@]}" --top 1
run tune small.safetensors sgcn --trials 3 --space paper --split random:4 --size 2 --study "it's a study.db" "${quick[@]}" --top 1

part 'wrong use'
run tune
run tune citation
run tune citation gcn spare
run tune citation gnc
run tune nothing gcn
run tune citation 'smooth | dense 8 | softmax | softmax'
run tune citation gcn --trials 0
run tune citation gcn --trials many
run tune citation gcn --space 'lr=(1,0)'
run tune citation gcn --space 'lr=(0,1) speed=(0,1)'
run tune citation gcn --space ''
run tune citation 'dense $h relu | softmax' --space practical
run tune citation gcn --sampler grid
run tune citation gcn --enqueue 'lr=7' --study memory
run tune citation gcn --enqueue 'speed=7' --study memory
run tune citation gcn --wave 0
run tune citation gcn --jobs -1
run tune citation gcn --seed -1
run tune citation gcn --study
run tune citation gcn --study no/such/folder/study.db
run tune citation gcn --study trials.csv
run tune citation gcn --top -1
run tune citation gcn --loss median
run tune citation gcn --class-weight heavy
run tune citation gcn --epochs 0
run tune citation gcn --patience -1
run tune citation gcn --lr 0 --space 'dropout=(0,0.5)' --study memory
run tune citation gcn --dropout 1 --space 'lr=(0,0.5)' --study memory
run tune citation gcn --weight-decay -1
run tune citation gcn --split random:x
run tune citation gcn --size 9
run tune citation gcn --hidden 0
run tune citation gcn -k 0
run tune citation gcn -o trials.csv
run tune citation gcn -o no/such/folder/x.model
run tune citation gcn --export best.model
run tune citation gcn --export no/such/folder/x.csv
run tune citation gcn --plot history.png
run tune citation gcn --plot .svg
run tune citation gcn --plot trials.svg
run tune citation gcn --plot new.svg --export new.csv
run tune citation gcn --plot no/such/folder/x.svg
note "$(ls)"

sed -i "$hide" "$transcript"
compare tune
