#!/bin/sh
# One worker of a command that many share: adds the database, and outputs that belong to this worker alone.
#   usage: SFUMATO_URL=postgresql://USER@HOST/DATABASE worker.sh tune|compare|reproduce|label ARGUMENT...
# Its number comes from the scheduler; without one, from $WORKER.
set -eu
worker=${SLURM_ARRAY_TASK_ID:-${JOB_COMPLETION_INDEX:-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${WORKER:-0}}}}}

# Under mpirun, too, each worker trains alone: it is not a rank of one training.
for variable in $(env | sed -n 's/^\(\(OMPI\|PMIX\|PMI\)_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$variable"
done

case $1 in
tune) exec sfumato "$@" --study "$SFUMATO_URL" ;;
label) exec sfumato "$@" --share "$SFUMATO_URL" -o "labels-$worker.csv" ;;
*) exec sfumato "$@" --share "$SFUMATO_URL" -o "study-$worker" ;;
esac
