# shellcheck shell=bash
# Starts the program under a real MPI launcher, with more processes than cores if need be. Sourced by tests.
if ! command -v mpirun >/dev/null || "$SFUMATO" --version | grep -q '^  mpi *no'; then
    echo "no MPI in this build, or no mpirun: skipped"
    exit 77
fi
if [ "$BUILD_KIND" = cross ]; then
    echo "MPI is not tested in an emulator: skipped"
    exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none

# RANKS WORD...: runs the program on so many ranks.
ranks() {
    local count=$1
    shift
    mpirun -n "$count" "$SFUMATO" "$@" </dev/null
}

# NAME: the processes of the ranks that write to NAME.
processes_of() {
    pgrep -f -- "-o $1\$" | while read -r process; do
        [ "$(readlink "/proc/$process/exe")" != "$(readlink -f "$SFUMATO")" ] || echo "$process"
    done
}

# NAME RANKS: whether all of them have joined; they are in `all` then.
ready() {
    mapfile -t all < <(processes_of "$1")
    [ ${#all[@]} = "$2" ] || return 1
    local process
    for process in "${all[@]}"; do
        handles "$process" 2 || return 1
    done
}
