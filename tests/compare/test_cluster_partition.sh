#!/usr/bin/env bash
# A worker is cut off from the database while it has claims: packets vanish, and no connection is closed. Another worker
# takes over when the lease has expired, and finishes. Then the network is back, and the first one ends with the bytes of
# one machine, too. Runs in its own network namespaces.
if [ -z "${INSIDE:-}" ]; then
    if [ "${BUILD_KIND:-plain}" = cross ] || "$SFUMATO" --version | grep -qE '^  (sqlite|postgresql) *no'; then
        echo "needs a native build with SQLite and PostgreSQL: skipped"
        exit 77
    fi
    if ! unshare --net sh -c 'ip link add cable1 type veth peer name worker' 2>/dev/null; then
        echo "network namespaces are not permitted here (or ip is missing, Debian: iproute2): skipped"
        exit 77
    fi
    INSIDE=1 exec unshare --net bash -eu -o pipefail "$0"
fi
. "$SOURCE/tests/support/transcript.sh"

# ---- the network: this namespace has the server, each worker a cable to it -------------------------------------------

ip link set lo up
spaces=()
for i in 1 2; do
    unshare --net sleep infinity &
    spaces[i]=$!
    wait_until "[ \"\$(readlink /proc/${spaces[i]}/ns/net)\" != \"\$(readlink /proc/self/ns/net)\" ]" "${spaces[i]}"
    ip link add cable$i type veth peer name worker netns "${spaces[i]}"
    ip address add 10.213.$i.1/24 dev cable$i
    ip link set cable$i up
    nsenter -t "${spaces[i]}" -n sh -c "ip link set lo up && ip address add 10.213.$i.2/24 dev worker && ip link set worker up"
done
trap 'kill ${spaces[1]} ${spaces[2]}' EXIT
server=$(LISTEN=10.213.1.1,10.213.2.1 bash "$SOURCE/tests/support/postgres_server.sh" make $$) || exit $?
ask() { psql -X -A -t -q -h "$server" -U sfumato postgres -c "$1"; }
# A loss is noticed after a few seconds instead of half a minute, and waited for for six times 80 s.
url() { echo "postgresql://sfumato@10.213.$1.1/postgres?connect_timeout=80&tcp_user_timeout=3000&keepalives_idle=2&keepalives_interval=1&keepalives_count=3"; }

# ---- the commands ----------------------------------------------------------------------------------------------------

"$SFUMATO" data make -o cora.safetensors --nodes 1700 --classes 3 --vocabulary 40 --words 8 --seed 7 >/dev/null
"$SFUMATO" data export cora.safetensors -o whole >/dev/null
awk -F, 'NR == 1 || NR % 3 == 0 { print; next } { print $1 "," }' whole/nodes.csv >few.csv
"$SFUMATO" data import --edges whole/edges.csv --features whole/features.csv --labels few.csv --name few >/dev/null
export SFUMATO_DATA=$PWD
kinds=(tune compare reproduce label)
# launch KIND FOLDER WORKER: of worker 0 the command without sharing
launch() {
    local kind=$1 folder=$2 share=() inside=()
    [ "$3" = 0 ] || share=(--share "$(url "$3")") inside=(nsenter -t "${spaces[$3]}" -n)
    mkdir -p "$folder"
    case $kind in
    tune)
        [ "$3" = 0 ] && share=(--study memory) || share=(--study "$(url "$3")")
        set -- tune cora.safetensors gcn --epochs 100 --trials 60 --jobs 1 --export "$folder/trials.csv"
        ;;
    compare) set -- compare cora.safetensors --nets sgcn,gcn --splits 3 --trials 60 --jobs 1 -o "$folder/study" ;;
    reproduce)
        set -- reproduce set1 --datasets cora --nets sgcn,linear+lp --splits 3 --trials 60 --jobs 1 -o "$folder/study"
        ;;
    label) set -- label few.safetensors --nets sgcn,gcn --jobs 1 --budget steps:8 -o "$folder/labels.csv" --force ;;
    esac
    exec "${inside[@]}" "$SFUMATO" "$@" "${share[@]}" >"$folder.stdout" 2>"$folder.stderr"
}
same() { # KIND FOLDER
    local file files=labels.csv
    case $1 in
    tune) files=trials.csv ;;
    compare | reproduce) files="study/results.csv study/curves.csv study/details.csv study/tables.md study/tables.tex" ;;
    esac
    for file in $files; do
        cmp "$1.one/$file" "$2/$file" || fail "$file of $2 differs from that of one machine"
    done
}
for kind in "${kinds[@]}"; do
    (launch "$kind" "$kind.one" 0) || fail "$kind alone: $(cat "$kind.one.stderr")"
done

# ---- the partition ---------------------------------------------------------------------------------------------------

# Worker 1 begins alone; the cable is pulled while it has claims of every command.
first=() second=()
for kind in "${kinds[@]}"; do
    (launch "$kind" "$kind.cut" 1) &
    first+=($!)
done
claims() {
    ask "SELECT (SELECT count(*) > 0 FROM sfumato_claims c JOIN trials t ON t.trial_id = c.trial_id AND state = 'RUNNING')
        AND (SELECT count(*) > 0 FROM sfumato_studies WHERE result IS NULL AND title LIKE 'cora %, size 1,%')
        AND (SELECT count(*) > 0 FROM sfumato_studies WHERE result IS NULL AND title LIKE 'label%')" 2>/dev/null
}
wait_until '[ "$(claims)" = t ]'
ip link set cable1 down

# Worker 2 finishes everything, while worker 1 waits.
for kind in "${kinds[@]}"; do
    (launch "$kind" "$kind.other" 2) &
    second+=($!)
done
for i in "${!kinds[@]}"; do
    wait "${second[i]}" || fail "${kinds[i]}: $(cat "${kinds[i]}.other.stderr")"
    same "${kinds[i]}" "${kinds[i]}.other"
    kill -0 "${first[i]}" 2>/dev/null || fail "${kinds[i]}: the one that is cut off has ended: $(cat "${kinds[i]}.cut.stderr")"
    [ ! -e "${kinds[i]}.cut/trials.csv" ] && [ ! -e "${kinds[i]}.cut/labels.csv" ] || fail "${kinds[i]}.cut has a result"
done
results() { ask "SELECT study, result FROM sfumato_studies ORDER BY study; SELECT trial_id, state FROM trials ORDER BY 1"; }
results >before

ip link set cable1 up
for i in "${!kinds[@]}"; do
    wait "${first[i]}" || fail "${kinds[i]} after the partition: exit $?: $(cat "${kinds[i]}.cut.stderr")"
    same "${kinds[i]}" "${kinds[i]}.cut"
    grep -q 'reconnecting' "${kinds[i]}.cut.stderr" ||
        fail "${kinds[i]}: the loss was not noticed: $(cat "${kinds[i]}.cut.stderr")"
done
results | cmp before - || fail "the one that came back has changed results"
[ "$(ask "SELECT count(*), count(DISTINCT number) FROM trials WHERE state IN ('COMPLETE', 'FAIL')")" = "60|60" ] ||
    fail "trials are missing or counted twice"
