#!/usr/bin/env bash
# Trainings and predictions over several processes have the bytes of one process. $RANKS and $EPOCHS may ask for more.
. "$SOURCE/tests/support/transcript.sh"
. "$SOURCE/tests/support/mpi.sh"
slow=$([ "$BUILD_KIND" = plain ] || echo yes)
counts=${RANKS:-${slow:+3}}
counts=${counts:-2 3}

"$SFUMATO" data make -o made.safetensors --nodes 3000 --degree 6 --vocabulary 60 --words 9 --seed 5 -q
"$SFUMATO" data make -o dense.safetensors --nodes 1500 --degree 4 --vocabulary 12 --words 9 --seed 6 -q # dense features

# DATASET NET OPTION...: the model and the learning curve.
check() {
    local name count
    name=$1-$2
    "$SFUMATO" train "$@" --epochs "${EPOCHS:-6}" -q -o one.safetensors --curve one.csv >one.txt || fail "$name: exit $?"
    for count in $counts; do
        ranks "$count" train "$@" --epochs "${EPOCHS:-6}" -q -o many.safetensors --curve many.csv >many.txt ||
            fail "$name: exit $? with $count ranks"
        cmp one.safetensors many.safetensors || fail "$name: another model with $count ranks"
        cmp <(cut -d, -f1-5 one.csv) <(cut -d, -f1-5 many.csv) || fail "$name: another curve with $count ranks"
    done
}
nets=(gcn sgcn fp+mlp sgcn+lp gcn+lp linear+lp mlp+lp lpnn)
for net in "${nets[@]}"; do
    check made.safetensors "$net" --threads 1
done
# Teleport, learned smoothing, activations between smoothings; many labelled nodes, so that sums have several blocks.
check made.safetensors 'smooth^2(teleport=0.1) | dense 20 relu | smooth^2(teleport=0.2) | softmax' --size 1200 \
    --split holdout:1 --threads 2
check made.safetensors 'dense 8 elu | smooth(learn=neighbour) | softmax' --threads 1
check made.safetensors 'dense 8 | softmax | smooth^2(learn=self+neighbour+right)' --split holdout:1 --threads 2
check dense.safetensors 'dense 24 tanh | smooth(act=relu) | dense 16 | softmax | smooth^3(teleport=0.15)' \
    --split holdout:2 --size 700 --threads 1
check dense.safetensors 'smooth(act=tanh) | dense 8 | smooth^2 | softmax' --metric macro-f1 --dropout 0 --threads 1
check dense.safetensors gcn --hidden 40 --split holdout:3 --size 900 --repeat 2 --threads 1

check made.safetensors 'lpnn(f=clamp, input=fx)' --threads 2
check dense.safetensors 'lpnn(input=x)' --dropout 0.3 --threads 1 --metric macro-f1

# Matrices that are not symmetric, of undirected and of directed graphs; features that are dense in the file, of which a
# rank holds its rows.
"$SFUMATO" data make -o rows.safetensors --nodes 4000 --degree 6 --dense 20 --seed 7 -q >/dev/null
check rows.safetensors gcn --split holdout:1 --size 3000 --threads 1
check rows.safetensors 'smooth^2(norm=row,act=relu) | dense 16 relu | smooth(norm=row) | softmax' --split holdout:1 \
    --size 2000 --threads 1
"$SFUMATO" data export rows.safetensors -o exported -q >/dev/null
"$SFUMATO" data import --edges exported/edges.csv --nodes exported/nodes.csv --label label --features exported/features.csv \
    --directed -o directed.safetensors -q >/dev/null
check directed.safetensors gcn+lp --split holdout:1 --size 1200 --threads 1
check directed.safetensors 'smooth | dense 8 relu | smooth(learn=self+neighbour+left+right, teleport=0.1) | softmax |
    smooth(norm=row, learn=self)' --threads 1
check directed.safetensors 'lpnn(input=x, output=f)' --threads 2

# No edge between ranges: a product then waits for rows of gradients, not for neighbours.
seq 0 999 | awk 'BEGIN { print "from,to" } { print 2 * $1 "," 2 * $1 + 1 }' >pairs.csv
seq 0 1999 | awk 'BEGIN { print "node,a,b,label" } { print $1 "," $1 % 7 "," $1 % 3 "," ($1 % 14 < 7 ? "x" : "y") }' >nodes.csv
"$SFUMATO" data import --edges pairs.csv --nodes nodes.csv --label label -o pairs.safetensors -q >/dev/null
check pairs.safetensors 'softmax | smooth(learn=self+neighbour+right)' --split holdout:1 --threads 1
check pairs.safetensors gcn+lp --split holdout:1 --threads 2

# Sparse features whose gradient has many parts, also more ranks than parts; narrow and wide products, with and without
# dropout, several threads.
"$SFUMATO" data make -o words.safetensors --nodes 6000 --degree 6 --vocabulary 1500 --words 60 --seed 8 -q >/dev/null
counts_before=$counts
counts="$counts 5"
check words.safetensors gcn --split holdout:1 --threads 1
check words.safetensors sgcn --split holdout:1 --threads 2
check words.safetensors mlp+lp --split holdout:2 --dropout 0 --threads 2
check words.safetensors fp+mlp --size 30 --split holdout:2 --threads 1
check words.safetensors lpnn --threads 2
check words.safetensors 'lpnn(f=clamp, output=f)' --dropout 0 --threads 1
counts=$counts_before

# In an order with few edges between ranges, most rows are computed while others are on their way.
if ! "$SFUMATO" --version | grep -q '^  metis *no'; then
    "$SFUMATO" data order made.safetensors --parts 8 -o ordered.safetensors -q >/dev/null
    check ordered.safetensors gcn+lp --split holdout:1 --threads 2
    ranks 2 train made.safetensors gcn --epochs 2 -o many.safetensors >/dev/null 2>stderr
    grep -q '^sfumato: made: its nodes are not ordered for ranks' stderr || fail "no word of data order: $(cat stderr)"
    ranks 2 train ordered.safetensors gcn --epochs 2 -o many.safetensors >/dev/null 2>stderr
    ! grep -q 'not ordered' stderr || fail "$(cat stderr)"
fi

# Predictions: one file, written once, with the same bytes; what is printed is printed once.
"$SFUMATO" train made.safetensors gcn --epochs 5 -q -o model.safetensors >/dev/null
"$SFUMATO" predict made.safetensors model.safetensors -o one-p.csv >/dev/null
"$SFUMATO" predict made.safetensors model.safetensors -o one-e.csv --embedding >/dev/null
ranks 3 predict made.safetensors model.safetensors -o many-p.csv >many.txt
ranks 3 predict made.safetensors model.safetensors -o many-e.csv --embedding >/dev/null
cmp one-p.csv many-p.csv || fail "another prediction"
cmp one-e.csv many-e.csv || fail "other embeddings"
[ "$(grep -c many-p.csv many.txt)" = 1 ] || fail "not printed once: $(cat many.txt)"

# Studies: one group of ranks, and groups that share a study.
study=(tune made.safetensors gcn+lp --space 'hidden=[8..24] lr=log(0.01,0.1)' --trials 5 --seed 3)
"$SFUMATO" "${study[@]}" --study memory -o one.safetensors --export one-t.csv -q >/dev/null
ranks 2 "${study[@]}" --study memory --ranks-per-trial 2 -o many.safetensors --export many-t.csv -q >/dev/null
cmp one.safetensors many.safetensors && cmp one-t.csv many-t.csv || fail "another study with 2 ranks per trial"
ranks 4 "${study[@]}" --study shared.db --ranks-per-trial 2 -o many.safetensors --export many-t.csv -q >/dev/null
cmp one.safetensors many.safetensors && cmp one-t.csv many-t.csv || fail "another study with two groups of ranks"
! ranks 3 "${study[@]}" --study memory --ranks-per-trial 2 2>stderr || fail "3 ranks in groups of 2"
[ "$(grep '^sfumato:' stderr)" = 'sfumato: 3 processes were started, which cannot be divided into groups of 2' ] ||
    fail "$(cat stderr)"
# Groups that cannot share a study would each run all of it.
for group in 1 2; do
    ! ranks 4 "${study[@]}" --study memory --ranks-per-trial $group -o never.safetensors 2>stderr || fail "groups of $group"
    [ "$(grep '^sfumato:' stderr)" = 'sfumato: 4 processes were started, each of which would do all of the work: use'\
' --study FILE.db or postgresql://..., or start one process; see sfumato tune --help' ] || fail "$(cat stderr)"
    [ ! -e never.safetensors ] || fail "a model is left"
done
ranks 2 "${study[@]}" --study workers.db -o many.safetensors --export many-t.csv -q --force >/dev/null
cmp one.safetensors many.safetensors && cmp one-t.csv many-t.csv || fail "another study with two workers"
! "$SFUMATO" "${study[@]}" --study memory --ranks-per-trial 2 2>stderr || fail "2 ranks per trial without a launcher"
grep -q '^sfumato: no MPI launcher started this process: mpirun -n 2 ...$' stderr || fail "$(cat stderr)"

# An error of all ranks is one line, and nothing is written.
! ranks 3 train nothing.safetensors gcn -o never.safetensors 2>stderr || fail "a missing dataset was taken"
[ "$(grep -c '^sfumato:' stderr)" = 1 ] && [ ! -e never.safetensors ] || fail "$(cat stderr)"

printf 'no database, but a text' >text.db
! ranks 3 "${study[@]}" --study text.db 2>stderr || fail "a text was taken for a study"
[ "$(grep -c '^sfumato: text.db: ' stderr)" = 1 ] && [ "$(grep -c '^sfumato:' stderr)" = 1 ] || fail "$(cat stderr)"

code=0
timeout 120 mpirun -n 1 "$SFUMATO" "${study[@]}" --study beside.db : -n 1 "$SFUMATO" tune nothing sgcn --study beside.db \
    </dev/null >stdout 2>stderr || code=$?
[ $code -ne 0 ] && grep -q '^sfumato: rank 1: "nothing": no such dataset' stderr || fail "$code: $(cat stderr)"

# Ranks with different data or options are refused by all, in one line that names the first that differs, and what.
different() { # WHAT OPTIONS OF RANK 0 -- OPTIONS OF RANK 1
    local what=$1 first=("$SFUMATO")
    shift
    while [ "$1" != -- ]; do
        first+=("$1")
        shift
    done
    shift
    ! timeout 120 mpirun -n 1 "${first[@]}" : -n 1 "$SFUMATO" "$@" </dev/null >/dev/null 2>stderr || fail "taken: $*"
    [ "$(grep '^sfumato:' stderr)" = "sfumato: rank 1 of 2 has $what than rank 0; expected the same arguments and copies\
 of the same files" ] || fail "$*: $(cat stderr)"
}
different 'another dataset' train made.safetensors gcn -- train dense.safetensors gcn
different 'other options of the training (seed, lr, epochs, ...)' train made.safetensors gcn -- \
    train made.safetensors gcn --epochs 3
different 'another split' train made.safetensors gcn -- train made.safetensors gcn --split holdout:1
different 'another --repeat' train made.safetensors gcn -- train made.safetensors gcn --repeat 2
different 'another network' train made.safetensors gcn -- train made.safetensors gcn --hidden 32
different 'another network, or other nodes' predict made.safetensors model.safetensors -o x.csv -- predict made.safetensors one.safetensors -o x.csv

# An error of one rank ends the others and names the rank: here only one of them has a dataset of that name.
code=0
mpirun -n 3 sh -c 'if [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ]; then cd /; fi; exec "$SFUMATO" "$@"' sh \
    train made.safetensors gcn --epochs 3 -o alone.safetensors </dev/null >/dev/null 2>stderr || code=$?
[ $code -ne 0 ] && grep -q '^sfumato: rank 1: "made.safetensors": no such dataset' stderr || fail "exit $code: $(cat stderr)"
[ ! -e alone.safetensors ] || fail "a model of fewer ranks was written"

# Workers of one study: the first prints the results of all, and writes the files.
ranks 3 tune made.safetensors sgcn --trials 9 --epochs 5 --jobs 1 --study workers.db -o workers.safetensors \
    --export workers.csv --json >stdout 2>stderr || fail "workers: $(cat stderr)"
python3 -c 'import json; assert json.load(open("stdout"))["trials"] == 9' || fail "not one JSON object: $(cat stdout)"
"$SFUMATO" tune made.safetensors sgcn --trials 9 --epochs 5 --study memory -o alone.st --export alone.csv >alone.txt 2>&1
cmp workers.safetensors alone.st && cmp workers.csv alone.csv || fail "the workers have other results"
ranks 3 tune made.safetensors sgcn --trials 9 --epochs 5 --study workers.db >stdout 2>stderr
[ "$(grep -c 'Best trial' stdout)" = 1 ] && ! grep -q $'\x1b' stdout || fail "not one report: $(cat stdout)"

# NAME RANKS: a training that does not end; it writes to NAME.
train_on() {
    exec env --default-signal=INT SFUMATO_PROGRESS=auto mpirun -n "$2" "$SFUMATO" train made.safetensors gcn --epochs 1000000 --patience 0 \
        --threads 1 -o "$1" >/dev/null 2>stderr </dev/null
}

# NAME RANKS: whether that has begun to train. Before, while it plans, a signal ends it without a model.
training() { ready "$1" "$2" && grep -q '^sfumato: training: ' stderr; }

# A rank that is killed ends the job.
(train_on killed.safetensors 3) &
job=$!
wait_until 'ready killed.safetensors 3' $job
kill -9 "${all[2]}"
code=0
wait $job || code=$?
[ $code -ne 0 ] || fail "a job without one of its ranks ended well"
[ -z "$(processes_of killed.safetensors)" ] && [ ! -e killed.safetensors ] || fail "ranks or files are left"

# Ctrl-C reaches all ranks, each in another epoch: they agree on the last one and keep the best weights.
(train_on stopped.safetensors 2) &
job=$!
wait_until 'training stopped.safetensors 2' $job
kill -INT "${all[@]}"
wait $job || true
[ -e stopped.safetensors ] || fail "the best weights are lost: $(cat stderr)"
[ "$(grep -c '^sfumato: interrupted in epoch ' stderr)" = 1 ] || fail "not told once: $(cat stderr)"

# A signal to one rank ends all of them, with the exit status of that signal.
for signal in TERM:143 INT:130; do
    (train_on one-signal.safetensors 3) &
    job=$!
    wait_until 'training one-signal.safetensors 3' $job
    kill -"${signal%:*}" "${all[2]}"
    code=0
    wait $job || code=$?
    [ $code -eq "${signal#*:}" ] && [ -e one-signal.safetensors ] || fail "$signal: exit $code: $(cat stderr)"
    rm one-signal.safetensors
done

# So does one to a rank that only trains the trials of a study with the first one. It is told once.
(exec env --default-signal=INT mpirun -n 2 "$SFUMATO" tune made.safetensors gcn --trials 100000 --ranks-per-trial 2 \
    --study stopped.db -o followed.safetensors >/dev/null 2>stderr </dev/null) &
job=$!
wait_until 'ready followed.safetensors 2' $job
kill -INT "${all[1]}"
code=0
wait $job || code=$?
[ $code -eq 130 ] && [ "$(grep -c '^sfumato:.* interrupted' stderr)" = 1 ] || fail "a follower: exit $code: $(cat stderr)"

# Workers that share a study have the same line: of Open MPI, which ends all if one ends, it is printed once.
(exec env --default-signal=INT mpirun -n 3 "$SFUMATO" tune made.safetensors gcn --trials 100000 --jobs 1 \
    --study shared.db -o shared.safetensors >/dev/null 2>stderr </dev/null) &
job=$!
wait_until 'ready shared.safetensors 3' $job
wait_until '[ -s shared.db ]' $job
kill -INT "${all[1]}"
code=0
wait $job || code=$?
if grep -q 'mpirun detected' stderr; then
    [ $code -eq 130 ] && [ "$(grep -c '^sfumato: interrupted' stderr)" = 1 ] || fail "a worker: exit $code: $(cat stderr)"
fi
