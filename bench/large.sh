#!/usr/bin/env bash
# Large graphs: smoothing at width 64 against this machine's rate of gathering rows at random, from 10^6 to 10^8 edges; and
# training on the largest.
#   usage: bench/large.sh [FOLDER]     needs build/ (make), 24 GiB of memory, 2.5 GB in FOLDER (default: a new one in /tmp)
# EDGES: which sizes; NETS: what is trained on the last of them; EPOCHS: how long.
set -euo pipefail
cd "$(dirname "$0")/.."
sfumato=${SFUMATO:-$PWD/build/sfumato}
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
trap 'rm -f "$folder"/large-*.safetensors "$folder"/model.safetensors' EXIT
edges=${EDGES:-1000000 10000000 100000000}
threads=${THREADS:-1 $(nproc)}

# The one step that smooths 64 columns of every node; a non-zero is 128 flops and 256 gathered bytes.
smoothing() { # DATASET THREADS GATHER
    "$sfumato" explain "$1" 'smooth | dense 64 relu | softmax' --measure --threads "$2" --json --quiet | python3 -c '
import json, sys
steps = [s for s in json.load(sys.stdin)["predict"]["steps"] if s["op"] == "spmm" and s["cols"] == 64]
step = max(steps, key=lambda s: s["flops"] if "S" in s["text"] else 0)
nonzeros, gather, threads = step["flops"] / 128, float(sys.argv[1]), int(sys.argv[2])
ns = 1e9 * step["measured_s"] / nonzeros
print("  %d thread(s): %.0f million non-zeros, %.2f s, %.2f ns a non-zero, %.1f GB/s, %.0f %% of the gather rate"
    % (threads, nonzeros / 1e6, step["measured_s"], ns, 256 / ns, 100 * 256 / ns / gather / threads))' "$3" "$2"
}

for count in $edges; do
    dataset=$folder/large-$count.safetensors
    "$sfumato" data make --nodes $((count / 10)) --degree 20 -o "$dataset" --quiet >/dev/null
    gather=$(build/bench/gather $((count / 10)))
    echo "$count edges: smoothing at width 64; rows in random order from a table of that size: $gather GB/s"
    for n in $threads; do
        smoothing "$dataset" "$n" "$gather"
    done
done
for net in ${NETS:-sgcn linear+lp gcn}; do
    echo "training $net on $count edges"
    build/bench/measure "$sfumato" train "$dataset" "$net" -o "$folder/model.safetensors" --epochs "${EPOCHS:-20}" --quiet |
        sed 's/^/  seconds, processor seconds, MiB: /'
done
