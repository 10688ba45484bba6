#!/usr/bin/env bash
# The main job, on data made here: a graph in, a network explained, trained, and used to label the rest. Works in build/demo
# and needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."
sfumato=$PWD/build/sfumato
rm -rf build/demo
mkdir -p build/demo
cd build/demo
run() {
    printf '\n$ sfumato %s\n' "$*"
    "$sfumato" "$@"
}

echo "1. A citation network drawn from a seed, about the size of Cora:"
run data make -o drawn.safetensors --seed 1
run data info citation

echo
echo "2. Your own graph, from two CSV files:"
cat >edges.csv <<'CSV'
from,to
ada,ben
ada,cleo
ben,cleo
cleo,dora
dora,emil
emil,fay
dora,fay
CSV
cat >nodes.csv <<'CSV'
person,tea,chess,sailing,topic
ada,1,0,2,art
ben,1,0,1,art
cleo,2,1,0,
dora,0,2,1,science
emil,0,1,0,science
fay,0,1,1,
CSV
head -n 3 edges.csv nodes.csv
run data import --edges edges.csv --nodes nodes.csv --label topic -o friends.safetensors
run data info friends.safetensors

echo
echo "3. A network: what it will do and what that costs, a training, and a label for every node:"
run explain citation gcn
run train citation gcn -o gcn.safetensors
run train citation mlp+lp --repeat 3
run predict citation gcn.safetensors -o labels.csv
head -n 3 labels.csv

echo
echo "4. And out again as CSV:"
run data export friends.safetensors -o friends
head -n 3 friends/*.csv
echo
echo "The demonstration's files are in build/demo."
