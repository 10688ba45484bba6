#!/bin/sh
# Starts several workers on this machine and waits for all of them.
#   usage: SFUMATO_URL=postgresql://USER@HOST/DATABASE processes.sh COUNT tune|compare|reproduce|label ARGUMENT...
set -eu
folder=$(dirname "$0")
count=$1 started=0 failed=0 processes=
shift
while [ "$started" -lt "$count" ]; do
    WORKER=$started sh "$folder/worker.sh" "$@" >"worker-$started.txt" 2>&1 &
    processes="$processes $!"
    started=$((started + 1))
done
for process in $processes; do
    wait "$process" || failed=1
done
exit $failed
