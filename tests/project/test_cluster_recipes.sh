#!/usr/bin/env bash
# The recipes of docs/guide/cluster.md: several processes, mpirun, and the manifest for Kubernetes, checked against the
# published schema. Each worker has the bytes of one machine. test_cluster_slurm.sh has Slurm.
. "$SOURCE/tests/support/transcript.sh"
recipes=$SOURCE/examples/cluster
. "$SOURCE/tests/support/shared_database.sh"
export SFUMATO_URL=$url
mkdir bin
ln -s "$SFUMATO" bin/sfumato
export PATH=$PWD/bin:$PATH

compare=(compare citation --nets sgcn,linear --splits 2 --trials 8 --jobs 1)
tune=(tune citation sgcn --trials 40 --jobs 1 --quiet)
label=(label "$PWD/few.safetensors" --nets sgcn,linear --budget steps:4 --jobs 1)
sfumato data make -o whole.safetensors --nodes 300 --classes 3 --vocabulary 40 --words 6 --seed 7 >/dev/null
sfumato data export whole.safetensors -o whole >/dev/null
awk -F, 'NR == 1 || NR % 3 == 0 { print; next } { print $1 "," }' whole/nodes.csv >few.csv
sfumato data import --edges whole/edges.csv --features whole/features.csv --labels few.csv --name few >/dev/null
sfumato "${compare[@]}" -o one >/dev/null
sfumato "${label[@]}" -o one.csv >/dev/null
sfumato "${tune[@]}" --study memory --export one.trials.csv >/dev/null
check() { # FOLDER COUNT: of workers
    local i
    for i in $(seq 0 $(($2 - 1))); do
        cmp one/results.csv "$1/study-$i/results.csv" || fail "$1: study-$i differs from that of one machine"
        cmp one/tables.md "$1/study-$i/tables.md" || fail "$1: study-$i differs from that of one machine"
        cmp one.csv "$1/labels-$i.csv" || fail "$1: labels-$i.csv differs from that of one machine"
    done
    (cd "$1" && sfumato "${tune[@]}" --study "$SFUMATO_URL" --export trials.csv >/dev/null)
    cmp one.trials.csv "$1/trials.csv" || fail "$1: the trials differ from those of one machine"
    [ "$(ask "SELECT count(*) FROM sfumato_studies WHERE result IS NULL")" = 0 ] || fail "$1: something is left"
    ask "SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public" # the next one begins anew
}

mkdir processes
for command in compare tune label; do
    declare -n arguments=$command
    (cd processes && sh "$recipes/processes.sh" 3 "${arguments[@]}") || fail "processes: $(cat processes/worker-*.txt)"
done
check processes 3
echo "processes: the same bytes"

if command -v mpirun >/dev/null; then
    mkdir mpi
    root=()
    [ "$(id -u)" != 0 ] || root=(--allow-run-as-root)
    for command in compare tune label; do
        declare -n arguments=$command
        (cd mpi && mpirun "${root[@]}" --oversubscribe --bind-to none -n 3 -x SFUMATO_URL -x PATH \
            sh "$recipes/worker.sh" "${arguments[@]}") >mpi.txt 2>&1 || fail "mpirun: $(cat mpi.txt)"
    done
    check mpi 3
    echo "mpirun: the same bytes"
else
    echo "mpirun: skipped (Debian: openmpi-bin)"
fi

# The venv is kept for the next time.
venv=$BUILD/kubernetes
if [ ! -e "$venv/complete" ] && python3 -m venv "$venv" >pip.txt 2>&1 &&
    "$venv/bin/pip" install -q --retries 1 --timeout 20 kubernetes-validate >>pip.txt 2>&1; then
    touch "$venv/complete"
fi
if [ -e "$venv/complete" ]; then
    "$venv/bin/kubernetes-validate" --strict "$recipes/kubernetes.yaml" >kubernetes.txt 2>&1 ||
        fail "kubernetes.yaml: $(cat kubernetes.txt)"
    sed 's/completionMode/completionMod/' "$recipes/kubernetes.yaml" >wrong.yaml
    ! "$venv/bin/kubernetes-validate" --strict wrong.yaml >wrong.txt 2>&1 || fail "the schema takes everything"
    # The command of the manifest is one that this program takes.
    sed -n '/>-/,/env:/p' "$recipes/kubernetes.yaml" | sed '1d;$d' | tr '\n' ' ' >command.sh
    JOB_COMPLETION_INDEX=0 bash -eu -c "set -- $(sed 's#/results/#results/#; s/--splits 10 --trials 200/--splits 1 --trials 2/' command.sh); \"\$@\"" \
        >command.txt 2>&1 || fail "the command of kubernetes.yaml: $(cat command.txt)"
    [ -s results/study-0/tables.md ] || fail "no tables: $(cat command.txt)"
    echo "kubernetes.yaml: valid"
else
    echo "kubernetes.yaml: skipped (kubernetes-validate could not be installed: $(tail -n 1 pip.txt))"
fi
