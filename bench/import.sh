#!/usr/bin/env bash
# Importing an edge list, beside pandas and scipy, in one run; and how the cost an edge grows from 10^7 to 10^8 edges.
#   usage: bench/import.sh [FOLDER]     needs build/ (make), and about 6 GB in FOLDER (default: a new folder in /dev/shm,
#                                       where neither side waits for a disk)
# $PYTHON is a Python that has pandas and scipy; without one, a virtual environment is made in FOLDER.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/build
folder=${1:-$(mktemp -d /dev/shm/sfumato-bench.XXXXXX)}
mkdir -p "$folder"
trap 'rm -rf "$folder"/{edges.csv,ours.safetensors,peer.npz,growth.csv}' EXIT
rounds=${ROUNDS:-3}

if [ -z "${PYTHON:-}" ]; then
    PYTHON=$folder/venv/bin/python3
    [ -x "$PYTHON" ] || { python3 -m venv "$folder/venv" && "$PYTHON" -m pip install -q pandas scipy; }
fi

median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
ours() { "$build/bench/measure" "$build/sfumato" data import --quiet --edges "$1" --header no -o "$folder/ours.safetensors" 2>/dev/null; }
peer() { "$build/bench/measure" "$PYTHON" bench/peer_import.py "$1" "$2" "$folder/peer.npz"; }

echo "machine: $(nproc) cores, $(uname -m); $("$PYTHON" -c 'import pandas, scipy, numpy; print("pandas", pandas.__version__, "scipy", scipy.__version__, "numpy", numpy.__version__)')"
nodes=5000000 edges=50000000
"$build/bench/uniform_edges" $nodes $edges >"$folder/edges.csv"
echo "edge list: $edges pairs over $nodes nodes, $(stat -c %s "$folder/edges.csv") bytes, on $(stat -f -c %T "$folder")"
for ((i = 0; i < rounds; i++)); do
    read -r s _ m < <(ours "$folder/edges.csv")
    our_s+=("$s") our_m+=("$m")
    read -r s _ m < <(peer plain "$folder/edges.csv")
    plain_s+=("$s") plain_m+=("$m")
    read -r s _ m < <(peer tuned "$folder/edges.csv")
    tuned_s+=("$s") tuned_m+=("$m")
    echo "round $((i + 1)): sfumato ${our_s[i]} s ${our_m[i]} MiB; pandas and scipy ${plain_s[i]} s ${plain_m[i]} MiB, tuned ${tuned_s[i]} s ${tuned_m[i]} MiB"
done
result=$(stat -c %s "$folder/ours.safetensors")
awk -v o="$(median "${our_s[@]}")" -v p="$(median "${plain_s[@]}")" -v t="$(median "${tuned_s[@]}")" \
    -v m="$(median "${our_m[@]}")" -v r="$result" 'BEGIN {
    printf "median: sfumato %.2f s; pandas and scipy %.2f s, %.1fx; tuned %.2f s, %.1fx\n", o, p, p / o, t, t / o
    printf "peak %.0f MiB, %.2fx the result of %.0f MiB\n", m, m / (r / 1048576), r / 1048576 }'
# The two must have made the same graph.
"$PYTHON" - "$folder/ours.safetensors" "$folder/peer.npz" <<'PY'
import json, sys
import numpy as np
import scipy.sparse as sp
raw = np.memmap(sys.argv[1], np.uint8, "r")
size = int(raw[:8].view(np.uint64)[0])
header = json.loads(raw[8:8 + size].tobytes())
def tensor(name, dtype):
    begin, end = header[name]["data_offsets"]
    return raw[8 + size + begin:8 + size + end].view(dtype)
A = sp.load_npz(sys.argv[2])
A.setdiag(0)
A.eliminate_zeros()
A.sort_indices()
same = np.array_equal(A.indptr, tensor("adj.indptr", np.int64)) and np.array_equal(A.indices, tensor("adj.indices", np.int32))
print("the same graph:", same)
sys.exit(not same)
PY
rm -f "$folder/edges.csv" "$folder/peer.npz"

echo "growth: nanoseconds an edge, ten edges a node"
for count in 10000000 100000000; do
    "$build/bench/uniform_edges" $((count / 10)) $count >"$folder/growth.csv"
    unset grown
    for ((i = 0; i < rounds; i++)); do
        read -r s _ _ < <(ours "$folder/growth.csv")
        grown+=("$s")
    done
    each+=("$(awk -v s="$(median "${grown[@]}")" -v n=$count 'BEGIN { printf "%.2f", 1e9 * s / n }')")
    echo "  $count edges: ${each[-1]}"
done
awk -v a="${each[0]}" -v b="${each[1]}" 'BEGIN { printf "  ratio %.2f\n", b / a }'


echo "opening a container, small and large:"
"$build/sfumato" data make --quiet -o "$folder/small.safetensors" >/dev/null
"$build/bench/open_container" "$folder/small.safetensors" "$folder/ours.safetensors" | sed "s|$folder/||; s/^/  /"
rm -f "$folder/small.safetensors"
