#!/usr/bin/env bash
# How edges.csv and nodes.csv were made: a graph drawn from a seed, its words as columns, and three of four topics taken
# away. SFUMATO is the program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sfumato=${SFUMATO:-sfumato}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$sfumato" data make -o "$folder/drawn.safetensors" --nodes 600 --classes 4 --vocabulary 60 --words 8 --noise 0.6 \
    --degree 4 --homophily 0.85 --seed 12 --quiet >"$folder/said"
"$sfumato" data export "$folder/drawn.safetensors" -o "$folder/drawn" >"$folder/said"
cd "$folder/drawn"
awk -F, 'BEGIN { OFS = ","; print "from,to" } NR > 1 { printf "paper%03d,paper%03d\n", $1, $2 }' edges.csv >"$here/edges.csv"
awk -F, '
    FILENAME == "feature_names.txt" { word[words++] = $1; next }
    FILENAME == "features.csv" { if (FNR > 1) has[$1, $2] = 1; next }
    FNR == 1 { printf "paper"; for (w = 0; w < words; w++) printf ",word%02d", w; print ",topic"; next }
    {
        printf "paper%03d", $1
        for (w = 0; w < words; w++) printf ",%d", has[$1, word[w]] || has[$1, w]
        print "," (($1 * 7919) % 100 < 25 ? $2 : "")
    }' feature_names.txt features.csv nodes.csv >"$here/nodes.csv"
