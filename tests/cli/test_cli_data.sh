#!/usr/bin/env bash
# A new user in an empty folder: the output of every data command as a transcript.
. "$SOURCE/tests/support/transcript.sh"

part 'what is there at first'
run data list
run data list --names
run data info citation
run data info citation --json
run data info nothing

part 'two CSV files'
printf 'from,to\nann,bob\nbob,ann\nann,cid\nann,cid\ncid,cid\ndee,eve\n' >edges.csv
printf 'name,age,height,topic\nann,1,0,art\nbob,0.5,2,bio\ncid,3,1,art\ndee,0,0,\n' >nodes.csv
run data import --edges edges.csv --nodes nodes.csv --label topic
run data import --edges edges.csv --nodes nodes.csv --label topic -o people.safetensors
run data info people.safetensors
run data info people.safetensors --json
run data import --edges edges.csv --nodes nodes.csv --label topic --self-loops keep --directed --scale none \
    --duplicates sum -o other.safetensors --json
run data import --edges edges.csv --nodes nodes.csv --label topic --strict -o strict.safetensors
run data import --edges edges.csv --nodes nodes.csv --label subject
run data import --edges edges.csv --nodes missing.csv --label topic
run data import --edges edges.csv --nodes nodes.csv --label topic --class-names 'Art, Biology' -o named.safetensors
run data import --edges edges.csv --nodes nodes.csv --label topic --class-names 'Art' -o named.safetensors
run data import --edges edges.csv --nodes nodes.csv --label topic --class-names 'Art,' -o named.safetensors
printf '"Art, old"\r\n"the ""new"" Biology"\n' >classes.txt
run data import --edges edges.csv --nodes nodes.csv --label topic --class-names classes.txt -o named.safetensors --quiet
run data info named.safetensors
run data import --edges edges.csv --nodes nodes.csv --label topic --largest-component -o large.safetensors

part 'nothing is lost'
run data import --edges edges.csv --nodes nodes.csv --label topic -o edges.csv
run data import --edges edges.csv --nodes nodes.csv --label topic -o ./nodes.csv
printf 'notes\n' >notes.txt
run data make -o notes.txt
run data make -o no/such/folder.safetensors --nodes 100
note "$(cat notes.txt)"

part 'out and in again'
run data export people.safetensors -o people
note "$(ls people)"
run data export people.safetensors -o people --json
run data make -o small.safetensors --nodes 200 --classes 3 --vocabulary 50 --words 5 --seed 7
run data make -o small2.safetensors --nodes 200 --classes 3 --vocabulary 50 --words 5 --seed 7 --threads 1 --json
cmp small.safetensors small2.safetensors

part 'noise in the edges'
run data noise small.safetensors -o fewer.safetensors --remove 0.3
run data noise small.safetensors -o noisy.safetensors --rewire 0.3 --seed 1 --json
run data info noisy.safetensors
run data noise small.safetensors -o noisy.safetensors
run data noise small.safetensors -o noisy.safetensors --rewire 0.3 --remove 0
run data noise small.safetensors -o noisy.safetensors --rewire 1.3
run data noise noisy.safetensors -o more.safetensors --rewire 0.3
run data noise small.safetensors -o small.safetensors --remove 0.3
run data noise small.safetensors -o notes.txt --remove 0.3

part 'splits'
run data split citation
run data split citation --split random:7 --size 2 -o split.csv
run data split citation --split file:split.csv
run data split citation --split cv:5:0:1 --json
run data split citation --split standard
run data split citation --split random:x
run data split citation --size 6000
run data split people.safetensors
note "$(head -n 3 split.csv)"

part 'found by name'
mkdir data
cp people.safetensors data/
printf 'broken' >data/broken.safetensors
run data list
run data list --names
run data list --json
run data info people
run data info broken
mkdir elsewhere "$XDG_CACHE_HOME" "$XDG_CACHE_HOME/sfumato"
cp large.safetensors elsewhere/people.safetensors
cp people.safetensors "$XDG_CACHE_HOME/sfumato/cora.safetensors"
rm data/broken.safetensors
export SFUMATO_DATA=elsewhere:nowhere
run data list
run data info people --json
unset SFUMATO_DATA

part 'what is there is not fetched again'
run data get cora
run data get cora --json --quiet
compare data

# The command that export prints reads the files back to the same digest.
digest() { "$SFUMATO" data info "$1" --json | grep '"digest"'; }
for dataset in people.safetensors citation; do
    command=$("$SFUMATO" data export "$dataset" -o again --json | sed -n 's/^  "import": "\(.*\)",*$/\1/p')
    (PATH=$(dirname "$SFUMATO"):$PATH && eval "$command -o back.safetensors" >/dev/null) || fail "$command: fails"
    [ "$(digest "$dataset")" = "$(digest back.safetensors)" ] || fail "$dataset: another digest after export and import"
    rm -r again
done
