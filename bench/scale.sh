#!/usr/bin/env bash
# Weak scaling of a training over MPI: RANKS times the nodes on RANKS ranks, in the order of `data order`.
#   usage: bench/scale.sh [FOLDER]     needs build/ (make) with MPI and METIS; default FOLDER: a new one in /tmp
# NODES, DEGREE, FEATURES: of one rank; RANKS: which counts; NET, HIDDEN, EPOCHS: what is trained.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-$(mktemp -d)}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1
for ranks in ${RANKS:-1 2 4 8}; do
    nodes=$((${NODES:-50000} * ranks))
    build/sfumato data make --nodes $nodes --degree "${DEGREE:-20}" --dense "${FEATURES:-128}" \
        --homophily 0.9 --classes "${CLASSES:-40}" -o "$folder/made.safetensors" -q >/dev/null
    build/sfumato data order "$folder/made.safetensors" --parts 128 -o "$folder/ordered.safetensors" -q --force >/dev/null
    mpirun -n "$ranks" build/bench/scale "$folder/ordered.safetensors" "${NET:-gcn}" "${HIDDEN:-64}" "${EPOCHS:-5}"
    rm -f "$folder"/*.safetensors
done
