#!/usr/bin/env bash
# An epoch (training step with dropout 0.5, and the validation accuracy; hidden 64, Adam, one core) of the seven networks,
# beside PyTorch in one run; its distance from the floor; and two threads against one.
#   usage: bench/epoch.sh [DATASET...]     default: cora pubmed; paths, or names in $SFUMATO_DATA or the cache folder
# Needs build/ (make). $SFUMATO_VENV is a virtual environment with torch, numpy and, for PyTorch Geometric, torch_geometric;
# without one it is made in a new folder, which takes the network and a few minutes. WAYS chooses the peers, NETS the networks.
set -euo pipefail
cd "$(dirname "$0")/.."
sfumato=${SFUMATO:-$PWD/build/sfumato}
ways=${WAYS:-plain,tuned,bag,pyg}
seconds=${SECONDS_EACH:-3}
. bench/peers.sh
need_venv torch numpy torch_geometric
python=$SFUMATO_VENV/bin/python3
[ $# -gt 0 ] || set -- cora pubmed

# floor, predicted and measured seconds of an epoch
ours() { # DATASET NET THREADS
    "$sfumato" bench "$1" "$2" --threads "$3" --json --quiet | python3 -c '
import json, sys
epoch = json.load(sys.stdin)["epoch"]
print(1e3 * epoch["floor_s"], 1e3 * epoch["predicted_s"], 1e3 * epoch["measured_s"])'
}

echo "machine: $(nproc) cores, $(uname -m); $("$python" -c 'import torch; print("torch", torch.__version__, "MKL" if torch.backends.mkl.is_available() else "without MKL")')"
printf '%-10s %-10s %8s %8s %9s %9s %9s' dataset network floor ours 'x floor' '2 threads' gain
for way in ${ways//,/ }; do
    printf ' %16s' "$way"
done
echo
for dataset; do
    path=$(file_of "$dataset")
    name=$(basename "$path" .safetensors)
    for net in ${NETS:-gcn sgcn fp+mlp sgcn+lp gcn+lp linear+lp mlp+lp}; do
        read -r floor _ one < <(ours "$path" "$net" 1)
        two=-
        if [ "$(nproc)" -ge 2 ]; then
            read -r _ _ two < <(ours "$path" "$net" 2)
        fi
        peers=$("$python" bench/peer_epoch.py --ways "$ways" --nets "$net" --seconds "$seconds" "$path")
        awk -v name="$name" -v net="$net" -v floor="$floor" -v one="$one" -v two="$two" -v ways="$ways" '
            { ms[$3] = $4 }
            END {
                printf "%-10s %-10s %8.3f %8.3f %9.2f", name, net, floor, one, one / floor
                if (two == "-") printf " %9s %9s", "-", "-"; else printf " %9.3f %9.2f", two, one / two
                n = split(ways, list, ",")
                for (i = 1; i <= n; i++)
                    if (list[i] in ms) printf " %8.2f (%4.1fx)", ms[list[i]], ms[list[i]] / one; else printf " %16s", "-"
                printf "\n"
            }' <<<"$peers"
    done
done
