#!/usr/bin/env bash
# The Slurm array of docs/guide/cluster.md, with the daemons of Slurm and munge on this machine under a configuration of
# their own. One task is requeued while it runs. Each task has the bytes of one machine.
. "$SOURCE/tests/support/transcript.sh"
recipes=$SOURCE/examples/cluster
if [ "${BUILD_KIND:-plain}" != plain ]; then
    echo "needs a native build without sanitizers: skipped"
    exit 77
fi
for program in slurmctld slurmd sbatch munged; do
    if ! command -v $program >/dev/null; then
        echo "no $program here (Debian: slurmctld, slurmd, slurm-client, munge): skipped"
        exit 77
    fi
done
if [ "$(id -u)" != 0 ]; then
    echo "slurmd needs root: skipped"
    exit 77
fi
. "$SOURCE/tests/support/shared_database.sh"
export SFUMATO_URL=$url
mkdir bin
ln -s "$SFUMATO" bin/sfumato
export PATH=$PWD/bin:$PATH

# ---- the daemons -----------------------------------------------------------------------------------------------------

folder=$(mktemp -d /tmp/sfumato-slurm.XXXXXX) # short: the path of a socket is
chmod 755 "$folder"
daemons=()
trap 'kill "${daemons[@]}" 2>/dev/null; wait; rm -rf "$folder"' EXIT
dd if=/dev/urandom of="$folder/key" bs=128 count=1 2>/dev/null
chmod 600 "$folder/key"
munged --foreground --force --socket="$folder/munge" --key-file="$folder/key" --pid-file="$folder/munge.pid" \
    --seed-file="$folder/seed" --log-file="$folder/munge.log" 2>munge.txt &
daemons+=($!)
wait_until '[ -S "$folder/munge" ]' "${daemons[0]}"
port=$((20000 + RANDOM % 10000))
host=$(hostname -s)
mkdir "$folder/state" "$folder/spool"
cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
JobRequeue=1
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$host Default=YES State=UP
END
export SLURM_CONF=$folder/slurm.conf
slurmctld -D >slurmctld.txt 2>&1 &
daemons+=($!)
slurmd -D -N "$host" >slurmd.txt 2>&1 &
daemons+=($!)
wait_until 'sinfo -h -o %T 2>/dev/null | grep -qx idle' "${daemons[2]}"

# ---- the array -------------------------------------------------------------------------------------------------------

compare=(compare citation --nets sgcn,gcn --splits 3 --trials 40)
sfumato "${compare[@]}" -o one >/dev/null
mkdir array
job=$(cd array && sbatch --parsable "$recipes/array.sbatch" "$recipes/worker.sh" "${compare[@]}")
wait_until '[ "$(ask "SELECT count(*) FROM sfumato_studies WHERE result IS NULL" 2>/dev/null || echo 0)" -gt 0 ]'
# Unless it has ended already. A requeued task would wait for two minutes.
if scontrol requeue "${job}_0" >requeue.txt 2>&1; then
    wait_until '[ "$(squeue -h -j "${job}_0" -o %T)" = PENDING ]'
    scontrol update JobId="${job}_0" StartTime=now
fi
left() { squeue -h -j "$job" 2>/dev/null | wc -l; }
wait_until '[ "$(left)" = 0 ]'
for i in 0 1 2 3; do
    for file in results.csv tables.md; do
        cmp one/$file array/study-$i/$file || fail "task $i: $(cat "array/worker-$i.txt")"
    done
done
[ "$(ask "SELECT count(*) FROM sfumato_studies WHERE result IS NULL")" = 0 ] || fail "something is left"
echo "a Slurm array of 4 tasks: the same bytes"
