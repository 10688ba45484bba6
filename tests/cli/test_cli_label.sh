#!/usr/bin/env bash
# Labelling in an empty folder with two CSV files: the output as a transcript, without times.
. "$SOURCE/tests/support/transcript.sh"
hide='s/^\(  [0-9,]* trainings* in\) [0-9.]* m\{0,1\}s:/\1 TIME:/; s/"seconds": [0-9.e-]*/"seconds": TIME/'

part 'help'
run label --help

part 'two CSV files'
cp "$SOURCE/examples/demo/edges.csv" "$SOURCE/examples/demo/nodes.csv" .
run label --edges edges.csv --nodes nodes.csv --label topic -o labels.csv --budget steps:10 --jobs 1 --quiet
note "$(ls)"
note "$(head -n 3 labels.csv)"
run label labels.safetensors -o other.csv --budget steps:1 --seed 3 --top 2 --forget --quiet
note "$(head -n 3 other.csv)"
run label labels.safetensors --all --budget steps:2 --forget --model kept.safetensors --json --quiet -o all.csv
note "$(wc -l <all.csv) lines, $(ls)"
note "$("$SFUMATO" label labels.safetensors -o - --budget steps:1 | head -n 2)"

part 'the graph does not help'
"$SFUMATO" data make -o lonely.safetensors --nodes 300 --classes 3 --vocabulary 60 --noise 0.1 --homophily 0.34 >/dev/null
run label lonely.safetensors --all --budget steps:8 -o lonely.csv --quiet

part 'what is missing'
sed '1!s/,[A-Za-z]*$/,/; 2s/$/one/; 3s/$/two/; 5s/$/two/' nodes.csv >few.csv
run label --edges edges.csv --nodes few.csv --label topic -o new.csv
sed '1!s/,[A-Za-z]*$/,one/' nodes.csv >full.csv
run label --edges edges.csv --nodes full.csv --label topic -o new.csv
run label --edges edges.csv --nodes full.csv --label topic -o new.csv --all
sed '1!s/,[A-Za-z]*$/,/' nodes.csv >empty.csv
run label --edges edges.csv --nodes empty.csv --label topic -o new.csv
run label --edges missing.csv --nodes nodes.csv --label topic
run label --edges edges.csv --nodes nodes.csv --label subject
note "$(ls)"

part 'a full disk'
run label lonely.safetensors --all --budget steps:1 -o /dev/full --model early.safetensors --page early.html --quiet

part 'wrong use'
run label
run label labels.safetensors --edges edges.csv
run label labels.safetensors --container other.safetensors
run label labels.safetensors --budget soon
run label labels.safetensors --budget 0
run label labels.safetensors --budget steps:0
run label labels.safetensors --budget 5d
run label labels.safetensors -o - --json
run label labels.safetensors -o nodes.csv
run label labels.safetensors -o new.csv --model edges.csv
run label labels.safetensors -o missing/new.csv
run label --edges edges.csv --nodes nodes.csv --label topic -o new.csv --container edges.csv
run label --edges edges.csv --nodes nodes.csv --label topic -o new.csv --container one --model one
run label nothing -o new.csv
sed -i "$hide" "$transcript"
compare label
