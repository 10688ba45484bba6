#!/usr/bin/env bash
# A new user in an empty folder: training and prediction as a transcript, without times.
. "$SOURCE/tests/support/transcript.sh"
hide='s/^\(  time  *\)[0-9.]* s$/\1TIME/; s/"seconds": [0-9.e-]*/"seconds": TIME/'

part 'a small graph'
run data make -o small.safetensors --nodes 200 --classes 3 --vocabulary 50 --words 8 --seed 7
run train small.safetensors gcn
run train small.safetensors gcn -o model.safetensors --hidden 16 --seed 3 --report
run train small.safetensors 'smooth^2 | softmax' --repeat 3 --dropout 0 --epochs 40 --curve curve.csv
note "$(head -n 3 curve.csv)"
run train small.safetensors mlp+lp -k 3 --hidden 8 --json --loss sum --class-weight balanced --keep last --epochs 5
run train small.safetensors gcn --hidden 16 --init model.safetensors --epochs 3 --quiet
run train small.safetensors sgcn --split random:4 --size 2 --patience 0 --epochs 30 --weight-decay 0 --lr 0.1
run train small.safetensors sgcn --repeat 2 --epochs 3 --json
run train small.safetensors sgcn --metric auc --epochs 30 --quiet
run train small.safetensors sgcn --metric macro-f1 --repeat 2 --epochs 30 --quiet
run train small.safetensors sgcn --epochs 3 -o /dev/null
run train small.safetensors lpnn --lr 100 --epochs 3 --quiet

part 'predicting'
run predict small.safetensors model.safetensors -o labels.csv
note "$(head -n 3 labels.csv)"
run predict small.safetensors model.safetensors -o labels.csv --json
run predict small.safetensors model.safetensors -o top.csv --top 2
note "$(head -n 3 top.csv)"
run predict small.safetensors model.safetensors -o hidden.csv --embedding
note "$(head -n 2 hidden.csv | cut -c 1-60)"
run predict small.safetensors model.safetensors -o - --only-unlabelled

part 'two CSV files, names and all'
printf 'from,to\nann,bob\nbob,cat\ncat,ann\ncat,dan\ndan,eve\neve,fay\nfay,gus\ngus,hal\nhal,ann\n' >edges.csv
printf 'who,age,height,team\nann,31,1.7,red\nbob,45,1.8,"red, dark"\ncat,27,1.6,red\ndan,38,1.9,"red, dark"\n' >nodes.csv
printf 'eve,20,1.5,red\nfay,50,1.8,"red, dark"\n"gus, jr",30,1.7,\nhal,41,1.9,\ngus,29,1.6,red\n' >>nodes.csv
run data import --edges edges.csv --nodes nodes.csv --label team --name people
run data split people.safetensors
run data split people.safetensors --split random:0
run train people.safetensors 'dense 4 tanh | smooth | softmax' --split random:0 -o people.model --epochs 20 --dropout 0
run predict people.safetensors people.model -o -
run predict people.safetensors people.model -o - --only-unlabelled --top 1
printf 'who,age,weight,team\nann,31,1.7,red\n' >other.csv
run data import --edges edges.csv --nodes other.csv --label team --name other --quiet
run predict other.safetensors people.model -o labels.csv
printf 'who,age,height,team\nann,31,1.7,blue\n' >other.csv
run data import --edges edges.csv --nodes other.csv --label team --name other --quiet
run predict other.safetensors people.model -o labels.csv
printf 'who,age,height,team\nann,31,1.7,red\n' >other.csv
run data import --edges edges.csv --nodes other.csv --label team --name other --quiet
run predict other.safetensors people.model -o labels.csv
printf 'who,age,height\nann,31,1.7\n' >other.csv
run data import --edges edges.csv --nodes other.csv --name other --quiet
run predict other.safetensors people.model -o -

part 'what does not fit'
run predict small.safetensors people.model -o x.csv
run predict small.safetensors small.safetensors -o x.csv
run predict small.safetensors nothing.model -o x.csv
run predict small.safetensors model.safetensors
run predict small.safetensors model.safetensors -o no/such/folder/x.csv
run predict small.safetensors model.safetensors -o x.csv --embedding --top 2
run predict small.safetensors model.safetensors -o - --json
run train small.safetensors sgcn -o linear.model --quiet
run predict small.safetensors linear.model -o x.csv --embedding
run train small.safetensors gnc
run train small.safetensors 'smooth | dense 8 | softmax | softmax'
run train small.safetensors gcn --device gpu
run train small.safetensors gcn --lr 0
run train small.safetensors gcn --dropout 1
run train small.safetensors gcn --epochs 0
run train small.safetensors gcn --loss median
run train small.safetensors gcn --lr 1e30
run train small.safetensors gcn --init people.model
run train small.safetensors gcn -o small.safetensors
run train small.safetensors gcn -o edges.csv
run train small.safetensors gcn -o no/such/folder/x.model
run train small.safetensors gcn -o .
run train small.safetensors gcn --curve edges.csv
run predict small.safetensors model.safetensors -o nodes.csv
run train small.safetensors
run train nothing gcn
note "$(ls)"

sed -i "$hide" "$transcript"
compare train
