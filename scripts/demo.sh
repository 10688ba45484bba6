#!/usr/bin/env bash
# The main jobs, in a folder of their own: two CSV files labelled, networks compared on the dataset that comes with the
# program and on Cora where it is there or can be had. Under two minutes on two cores; needs no network, opens nothing.
#   scripts/demo.sh [--quick] [FOLDER]      FOLDER is demo unless given; $SFUMATO is the program, else build/sfumato
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
sfumato=${SFUMATO:-$source/build/sfumato}
budget=15s splits=7 trials=15 nets=mlp,sgcn,gcn,mlp+lp
if [ "${1:-}" = --quick ]; then
    budget=steps:2 splits=2 trials=2 nets=mlp,sgcn
    shift
fi
folder=${1:-$source/demo}
mkdir -p "$folder"
cd "$folder"
rm -rf labels.* citation cora # what an earlier run left; nothing else is touched
started=$SECONDS

# Shows a command as it would be typed, and runs it.
run() {
    printf '\n$ sfumato'
    printf ' %s' "$@"
    printf '\n'
    "$sfumato" "$@"
}

echo "1. Two CSV files, a quarter of the papers with a topic: the other topics, and how good they are likely to be."
cp "$source/examples/demo/edges.csv" "$source/examples/demo/nodes.csv" .
printf '\n'
head -n 3 edges.csv
sed -n '1,4s/^\(.\{33\}\).*,\([^,]*\)$/\1...,\2/p' nodes.csv
run label --edges edges.csv --nodes nodes.csv --label topic -o labels.csv --budget "$budget"
printf '\n'
head -n 4 labels.csv

# DATASET FOLDER
compare() {
    run compare "$1" --nets "$nets" --splits "$splits" --trials "$trials" --space practical -o "$2"
}

echo
echo "2. Networks compared on the dataset that comes with the program, each tuned on $splits splits (in earnest it would be"
echo "   more of them, and hundreds of trials)."
compare citation citation

echo
echo "3. The same on Cora."
reports="citation/report.html"
if "$sfumato" data info cora >cora.txt 2>&1 || { [ -z "${DEMO_OFFLINE:-}" ] && "$sfumato" data get cora --quiet; }; then
    compare cora cora
    reports+=" cora/report.html"
else
    echo "Cora is not on this machine and could not be fetched, so this is left out; with a network, sfumato data get cora."
fi
rm -f cora.txt

printf '\nDone in %d s. In %s there are\n' "$((SECONDS - started))" "$folder"
printf '  labels.csv, with labels.safetensors and labels.model.safetensors\n'
for report in $reports; do
    if [ -e "$report" ]; then
        printf '  %s, to be opened in a browser\n' "$report"
    fi
done
