#!/usr/bin/env bash
# A model on other data: calibrated probabilities, features by name, scores, leaks, changed nodes.
. "$SOURCE/tests/support/transcript.sh"
hide='s/^\(  time  *\)[0-9.]* s$/\1TIME/; s/"seconds": [0-9.e-]*/"seconds": TIME/'

part 'scores'
run data make -o small.safetensors --nodes 300 --classes 3 --vocabulary 50 --words 8 --seed 7
run train small.safetensors gcn -o model.safetensors --hidden 16 --split random:0 --size 60 --quiet
run evaluate small.safetensors model.safetensors
run evaluate small.safetensors model.safetensors --split random:0 --size 60
run evaluate small.safetensors model.safetensors --split random:0 --size 60 --part val --json
printf 'node\n5\n17\n' >nodes.csv
run evaluate small.safetensors model.safetensors --nodes nodes.csv --quiet
printf '5\nx\n' >wrong.csv
run evaluate small.safetensors model.safetensors --nodes wrong.csv
run evaluate small.safetensors model.safetensors --nodes nodes.csv --part val
run evaluate small.safetensors model.safetensors --part val
run evaluate small.safetensors nothing.safetensors
run evaluate small.safetensors

part 'calibration'
run predict small.safetensors model.safetensors -o calibrated.csv --quiet
run predict small.safetensors model.safetensors --raw -o raw.csv --quiet
note "$(head -n 2 calibrated.csv)"
note "$(head -n 2 raw.csv)"
cmp <(cut -d, -f1,2 calibrated.csv) <(cut -d, -f1,2 raw.csv) && note 'the labels are the same'
run predict small.safetensors model.safetensors --raw --embedding -o x.csv

part 'leaks'
run train small.safetensors gcn --hidden 16 --split random:1 --size 60 --init model.safetensors -o leaked.safetensors
run train small.safetensors gcn --hidden 16 --split random:1 --size 60 --init model.safetensors --allow-leak \
    -o leaked.safetensors --epochs 5
run train small.safetensors gcn --hidden 16 --split random:1 --size 60 --init model.safetensors --allow-leak \
    --epochs 5 --json --quiet
grep -q '"leaked": ' "$transcript" && note 'it is in the JSON'
grep -aq 'leaked.*:[1-9]' leaked.safetensors && note 'and in the model'

part 'features by name'
printf 'from,to\na,b\nb,c\nc,a\nd,e\ne,f\nf,d\n' >edges.csv
printf 'node,feature,value\na,red,1\nb,red,1\nc,red,2\nd,blue,1\ne,blue,2\nf,blue,1\nf,red,1\n' >features.csv
printf 'node,label\na,warm\nb,warm\nc,warm\nd,cold\ne,cold\nf,cold\n' >labels.csv
printf 'node,feature,value\nf,green,1\na,blue,1\nb,red,1\nc,blue,2\nd,red,1\ne,blue,2\n' >other.csv
printf 'node,part\na,train\nd,train\nb,val\ne,val\nc,test\nf,test\n' >split.csv
run data import --edges edges.csv --features features.csv --labels labels.csv --name one --quiet
run data import --edges edges.csv --features other.csv --labels labels.csv --name other --quiet
run train one.safetensors 'dense 4 tanh | smooth | softmax' --split file:split.csv -o one.model --quiet --epochs 30
run predict other.safetensors one.model -o -
run predict other.safetensors one.model -o - --unknown-features ignore --top 1
run evaluate other.safetensors one.model --unknown-features ignore --json

part 'what changed'
printf 'g,a\n' | cat edges.csv - >grown.csv
printf 'g,red,1\n' | cat features.csv - >more.csv
run data import --edges grown.csv --features more.csv --labels labels.csv --name grown --quiet
run predict grown.safetensors one.model -o - --since one.safetensors
run predict grown.safetensors one.model -o all.csv --quiet
"$SFUMATO" predict grown.safetensors one.model -o some.csv --since one.safetensors --quiet >/dev/null
if [ -z "$(comm -13 <(sort all.csv) <(sort some.csv))" ]; then note 'the same as in a prediction of all nodes'; fi
run predict one.safetensors one.model -o none.csv --since one.safetensors
note "$(cat none.csv)"
run predict grown.safetensors one.model -o some.csv --since one.safetensors --json

part 'files for a model'
printf 'person,age,city,group\na,30,Oslo,x\nb,31,Oslo,x\nc,29,Rome,x\n' >people.csv
printf 'd,60,Rome,y\ne,63,Bonn,y\nf,58,Bonn,y\n' >>people.csv
printf 'person,city,age,group,shoe\nk,Oslo,33,x,40\nl,Rome,NA,y,41\nm,Lima,66,NA,42\n' >new.csv
printf 'from,to\nk,l\nl,m\n' >new_edges.csv
run data import --edges edges.csv --nodes people.csv --label group --name people --quiet
run train people.safetensors 'smooth | softmax' --split file:split.csv -o people.model --quiet --lr 0.1 --patience 100
run predict --edges new_edges.csv --nodes new.csv people.model -o -
run predict --edges new_edges.csv --nodes new.csv --label group people.model -o new_labels.csv --only-unlabelled --json
run data import --edges new_edges.csv --nodes new.csv --like people.model --name new --quiet
run predict new.safetensors people.model -o two.csv --quiet
"$SFUMATO" predict --edges new_edges.csv --nodes new.csv people.model -o one.csv --quiet >/dev/null
cmp one.csv two.csv && note 'the same as with data import --like'
run predict --edges new_edges.csv --nodes new.csv people.model -o both.csv --since new.safetensors
run evaluate --edges new_edges.csv --nodes new.csv --label group people.model
run predict --edges edges.csv --features features.csv one.model -o - --top 1
run evaluate --edges edges.csv --features features.csv --labels labels.csv one.model --quiet
run predict people.model -o x.csv
run predict -o x.csv
run predict people.safetensors --edges edges.csv people.model -o x.csv
run evaluate people.safetensors --labels labels.csv people.model
run evaluate --edges new_edges.csv --nodes new.csv people.model
run evaluate people.model
cut -d, -f1,2,4 people.csv >fewer.csv
run predict --edges edges.csv --nodes fewer.csv people.model -o x.csv
run predict --edges edges.csv people.model -o x.csv
run predict --edges edges.csv --nodes people.csv --scale unit people.model -o x.csv
run predict --edges edges.csv --nodes nothing.csv people.model -o x.csv
run predict --edges edges.csv --nodes people.csv people.model -o people.csv
run predict --edges edges.csv --nodes people.csv --like people.model people.model -o x.csv
[ ! -e x.csv ] || fail "a refused prediction left x.csv"

sed -i "$hide" "$transcript"
compare evaluate
