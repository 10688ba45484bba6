#!/usr/bin/env bash
# Demonstrates labelling from two CSV files, and comparing networks on the built-in dataset and on Cora if it is
# installed or can be downloaded. Works in a separate folder, takes less than two minutes on two cores, and needs no
# network.
#   scripts/demo.sh [--quick] [FOLDER]      FOLDER: demo by default; $SFUMATO: the program, build/sfumato by default
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
rm -rf labels.* citation cora # output of an earlier run; nothing else is removed
started=$SECONDS

# Prints a command and runs it.
run() {
    printf '\n$ sfumato'
    printf ' %s' "$@"
    printf '\n'
    "$sfumato" "$@"
}

echo "1. Two CSV files, a quarter of the papers with a topic: predict the other topics and estimate the accuracy."
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
echo "2. Compare networks on the built-in dataset, each tuned on $splits splits (a real comparison needs"
echo "   more splits and hundreds of trials)."
compare citation citation

echo
echo "3. The same on Cora."
reports="citation/report.html"
if "$sfumato" data info cora >cora.txt 2>&1 || { [ -z "${DEMO_OFFLINE:-}" ] && "$sfumato" data get cora --quiet; }; then
    compare cora cora
    reports+=" cora/report.html"
else
    echo "Skipped: Cora is not installed and could not be downloaded. With a network: sfumato data get cora"
fi
rm -f cora.txt

printf '\nDone in %d s. Output in %s:\n' "$((SECONDS - started))" "$folder"
printf '  labels.csv, labels.safetensors (dataset) and labels.model.safetensors (model)\n'
for report in $reports; do
    if [ -e "$report" ]; then
        printf '  %s, open it in a browser\n' "$report"
    fi
done
