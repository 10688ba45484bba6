#!/usr/bin/env bash
# Predicted against measured: an epoch (training step and validation, one core) of eight networks on the five public
# datasets at three widths of the hidden layer.
#   usage: bench/predict.sh [DATASET...]     names or paths; needs build/ (make) and $SFUMATO_DATA or the cache folder
# The machine's rates are measured first; on a machine that does something else meanwhile the table means little.
set -euo pipefail
sfumato=${SFUMATO:-$(cd "$(dirname "$0")/.." && pwd)/build/sfumato}
[ $# -gt 0 ] || set -- cora citeseer pubmed acm dblp
"$sfumato" bench --quiet >/dev/null

printf '%-10s %-10s %6s %12s %12s %7s\n' dataset network hidden 'predicted us' 'measured us' ratio
for dataset; do
    split=()
    "$sfumato" data split "$dataset" --split standard --quiet >/dev/null 2>&1 || split=(--split random:0)
    for net in gcn sgcn fp+mlp sgcn+lp gcn+lp linear+lp mlp+lp mlp; do
        for hidden in 16 64 128; do
            case $net:$hidden in sgcn*:64 | sgcn*:128 | linear*:64 | linear*:128) continue ;; esac # no hidden layer
            "$sfumato" explain "$dataset" "$net" "${split[@]}" --hidden "$hidden" --measure --threads 1 --json --quiet |
                python3 -c '
import json, os, sys
plan = json.load(sys.stdin)
predicted = sum(plan[key]["predicted_s"] for key in ("train", "evaluate"))
measured = sum(plan[key]["measured_s"] for key in ("train", "evaluate"))
name = os.path.basename(sys.argv[1]).removesuffix(".safetensors")
print("%-10s %-10s %6s %12.1f %12.1f %7.2f" % (name, sys.argv[2], sys.argv[3], 1e6 * predicted, 1e6 * measured, predicted / measured))
' "$dataset" "$net" "$hidden"
        done
    done
done | awk '{ print; fflush(); worst = $6 > worst ? $6 : worst; best = best == "" || $6 < best ? $6 : best; off += $6 > 1.5 || $6 < 1 / 1.5 }
    END { printf "%d predictions, predicted / measured from %.2f to %.2f; %d off by more than a factor of 1.5\n", NR, best, worst, off }'
