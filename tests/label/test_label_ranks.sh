#!/usr/bin/env bash
# A labelling over several processes, together or in groups, has the bytes of one process. What the processes of a
# launcher have in common is printed once.
. "$SOURCE/tests/support/transcript.sh"
. "$SOURCE/tests/support/mpi.sh"
slow=$([ "$BUILD_KIND" = plain ] || echo yes)

"$SFUMATO" data make -o whole.safetensors --nodes 300 --degree 5 --classes 3 --vocabulary 40 --words 6 --seed 7 -q >/dev/null
"$SFUMATO" data export whole.safetensors -o whole -q >/dev/null
awk -F, 'NR == 1 || NR % 4 == 0 { print; next } { print $1 "," }' whole/nodes.csv >few.csv
awk -F, 'NR == 1 { print $0 ",weight"; next } { print $0 "," 1 + NR % 3 }' whole/edges.csv >edges.csv
files=(--edges edges.csv --features whole/features.csv --labels few.csv --weight weight)
"$SFUMATO" data import "${files[@]}" --name few -q >/dev/null

mkdir one many
same() { # WHAT
    local file
    for file in one/*; do # the page tells how long it took
        cmp <(sed -E 's/[0-9.]+ (s|ms|min)\b//g' "$file") <(sed -E 's/[0-9.]+ (s|ms|min)\b//g' "many/${file#one/}") ||
            fail "another ${file#one/} with $1"
    done
}
# STEPS OPTION...: the files of one process, and of ranks: "3" as they are by default, "4 2" in groups of two.
check() {
    local steps=$1 count group division
    shift
    rm -f one/* many/*
    "$SFUMATO" label "$@" --budget "steps:$steps" --jobs 1 -o one/labels.csv -q >/dev/null || fail "exit $?"
    for division in "${divisions[@]}"; do
        read -r count group <<<"$division"
        ranks "$count" label "$@" --budget "steps:$steps" --jobs 1 ${group:+--ranks-per-trial "$group"} -o many/labels.csv \
            >many.txt 2>stderr || fail "$division: exit $?: $(cat stderr)"
        same "$division ranks"
        [ "$(grep -c '^Selected network' many.txt)" = 1 ] || fail "not printed once: $(cat many.txt)"
    done
}
divisions=("2" "2 2" "3 3" "4 4" "4 2" "3 1")
[ -z "$slow" ] || divisions=("2" "2 2" "4 2")
check 2 few.safetensors --nets sgcn,gcn
steps=3
divisions=("2" "2 1")
[ -z "$slow" ] || { steps=2; divisions=("2 1"); }
check $steps few.safetensors --nets linear,sgcn --metric macro-f1 --coverage 0.9 --class-weight balanced
# From CSV files, which each rank imports; the dataset is written once.
divisions=("2")
check 1 "${files[@]}" --nets sgcn --all --top 2

# By default each rank trains its own trials if the graph is small; the option decides otherwise.
for group in "" 1 2; do
    ranks 2 label few.safetensors --nets sgcn --budget steps:1 --jobs 1 ${group:+--ranks-per-trial "$group"} --json \
        -o chosen.csv --forget >chosen.json 2>stderr || fail "exit $?: $(cat stderr)"
    grep -q "\"ranks_per_trial\": ${group:-1}," chosen.json || fail "not in groups of ${group:-1}"
done

# With a budget of time the clock of rank 0 decides for all: the steps that were made give the same labels again.
for group in 2 1; do
    ranks 2 label few.safetensors --nets sgcn,linear --budget 1s --ranks-per-trial $group --jobs 1 -o timed.csv --json \
        >timed.json 2>stderr || fail "exit $?: $(cat stderr)"
    steps=$(grep -o '"steps": *[0-9]*' timed.json | grep -o '[0-9]*$')
    "$SFUMATO" label few.safetensors --nets sgcn,linear --budget "steps:$steps" -o again.csv -q >/dev/null
    cmp timed.csv again.csv || fail "$steps steps within a budget of time have another result"
done

# What is wrong is told once, and nothing is written.
once() { # CODE LINE RANKS WORD...
    local code=0 want=$1 line=$2
    shift 2
    ranks "$@" >/dev/null 2>stderr || code=$?
    [ $code = "$want" ] || fail "exit $code instead of $want: $*"
    [ "$(grep '^sfumato:' stderr)" = "sfumato: $line" ] || fail "$*: $(cat stderr)"
}
once 2 'unknown command "trainn" (did you mean train?); see sfumato --help' 2 trainn
once 2 'unknown option "--epoch" (did you mean --epochs?); see sfumato train --help' 3 train few gcn --epoch 3
once 2 '--trials: expected an integer from 1 to 10000000, found "x"; see sfumato tune --help' 2 tune few gcn --trials x
once 2 '3 processes were started, which cannot be divided into groups of 2' 3 label few --ranks-per-trial 2
once 2 '--share and --ranks-per-trial cannot be combined: with --share each process is a worker; see sfumato label --help' \
    2 label few --share postgresql://nowhere/x --budget steps:1 --ranks-per-trial 2
once 2 '2 processes were started, but this command is for one: leave out mpirun; see sfumato data make --help' \
    2 data make -o never.safetensors
for command in compare reproduce; do
    once 2 "2 processes were started, each of which would do all of the work: add --share postgresql://..., or start one process; see sfumato $command --help" \
        2 $command 3 -o never
done
# Also what is wrong before the work that processes share: data, values, the database, the folder.
told_once() { # WORD...
    ! ranks 3 "$@" --quiet >/dev/null 2>stderr || fail "taken: $*"
    [ "$(grep -c '^sfumato:' stderr)" = 1 ] || fail "$*: $(cat stderr)"
}
nowhere='postgresql://me@127.0.0.1:1/x?connect_timeout=5'
touch file
told_once compare nothing --share "$nowhere" -o never
told_once compare few.safetensors --share "$nowhere" -o never
told_once compare few.safetensors --share "$nowhere" -o never --nets bogus
told_once reproduce set1 --datasets nothing --share "$nowhere" -o never
told_once label nothing --budget steps:1 --share "$nowhere" -o never
told_once label few.safetensors --budget steps:1 --share "$nowhere" -o never
told_once label few.safetensors --budget steps:1 --share "$nowhere" -o file/never
told_once label whole.safetensors --budget steps:1 --share "$nowhere" -o never # has no node without a label
told_once tune few.safetensors sgcn --study never.db -o file/never
[ ! -e never ] && [ ! -e never.safetensors ] || fail "something was written"
[ "$(ranks 2 label --help | grep -c '^sfumato label - ')" = 1 ] || fail "help is not printed once"
[ "$(ranks 2 --version | grep -c '^sfumato ')" = 1 ] || fail "the version is not printed once"
! "$SFUMATO" label few.safetensors --ranks-per-trial 2 2>stderr || fail "2 ranks per trial without a launcher"
grep -q '^sfumato: no MPI launcher started this process: mpirun -n 2 ...$' stderr || fail "$(cat stderr)"

# A usage error of one process names it; different data are refused by all.
! timeout 120 mpirun -n 1 "$SFUMATO" label few.safetensors --budget 1h -o alone.csv : \
    -n 1 "$SFUMATO" label few.safetensors --bad </dev/null >/dev/null 2>stderr || fail "taken"
grep -q '^sfumato: rank 1: unknown option "--bad"' stderr && [ ! -e alone.csv ] || fail "$(cat stderr)"
for group in 2 1; do
    ! timeout 120 mpirun -n 1 "$SFUMATO" label few.safetensors --ranks-per-trial $group -o x.csv : \
        -n 1 "$SFUMATO" label whole.safetensors --all --ranks-per-trial $group -o x.csv </dev/null >/dev/null 2>stderr ||
        fail "different data were taken"
    [ "$(grep -c '^sfumato: rank 1 of 2 has another dataset, or other options than rank 0; expected the same' stderr)" = 1 ] || fail "$(cat stderr)"
done

# NAME RANKS OPTION...: a labelling that takes an hour.
label_on() {
    local name=$1 count=$2
    shift 2
    exec env --default-signal=INT mpirun -n "$count" "$SFUMATO" label whole.safetensors --all --nets sgcn,gcn \
        --budget 1h --jobs 1 --forget "$@" -o "$name" >"$name.txt" 2>stderr </dev/null
}
# A rank that is killed ends the job, together or in another group.
for group in 3 1; do
    (label_on killed.csv 3 --ranks-per-trial $group) &
    job=$!
    wait_until 'ready killed.csv 3' $job
    kill -9 "${all[1]}"
    ! wait $job || fail "a job without one of its ranks ended well"
    [ -z "$(processes_of killed.csv)" ] && [ ! -e killed.csv ] || fail "ranks or files are left"
done

# Ctrl-C, at all ranks or at one of them, ends all together: with the best result so far, or without one.
for group in 2 1; do
    (label_on stopped.csv 2 --ranks-per-trial $group) &
    job=$!
    wait_until 'ready stopped.csv 2' $job
    kill -INT "${all[@]: -group}"
    ! wait $job || fail "an interrupted job ended well"
    [ "$(grep -c '^sfumato: interrupted; ' stderr)" = 1 ] || fail "not told once: $(cat stderr)"
done

# Ctrl-C of mpirun is told once as well, even if it kills the ranks before they have a result.
(label_on killed.csv 2 --ranks-per-trial 1) &
job=$!
wait_until 'ready killed.csv 2' $job
kill -INT $job
! wait $job || fail "an interrupted job ended well"
[ "$(grep -c '^sfumato: interrupted; ' stderr)" = 1 ] || fail "not told once: $(cat stderr)"
