#!/usr/bin/env bash
# GCN on one core of the processor against PyTorch Geometric on a GPU, in one run: a training step and the validation
# accuracy, hidden 64, dropout 0.5; dense features and cached normalisation there.
#   usage: bench/gpu.sh PROGRAM DATASET.safetensors...     PROGRAM: a sfumato that runs on this machine (make portable)
# Needs a python3 with torch, torch_geometric and numpy, and a CUDA device. ROUNDS: how often each side takes its turn.
set -euo pipefail
program=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
rounds=${ROUNDS:-3}
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$(mktemp -d)}
python3 -c '
import torch, torch_geometric
print("GPU:", torch.cuda.get_device_name(0), "torch", torch.__version__, "torch_geometric", torch_geometric.__version__)'
echo "processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), one core"
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
for dataset; do
    ours=() peer=()
    for ((i = 0; i < rounds; i++)); do
        ours+=("$("$program" bench "$dataset" gcn --threads 1 --json --quiet | python3 -c '
import json, sys
print(1e3 * json.load(sys.stdin)["epoch"]["measured_s"])')")
        peer+=("$(python3 "$here/peer_epoch.py" --ways pyg --nets gcn --device cuda --seconds 5 "$dataset" | awk '{ print $4 }')")
    done
    awk -v name="$(basename "$dataset" .safetensors)" -v o="$(printf '%s\n' "${ours[@]}" | median)" \
        -v p="$(printf '%s\n' "${peer[@]}" | median)" \
        'BEGIN { printf "%s GCN, ms an epoch: sfumato, one core %.3f; PyTorch Geometric, GPU %.3f; %.1fx\n", name, o, p, p / o }'
done
