#!/usr/bin/env bash
# Trials a second of tuning with 1, 2, 4, ... trainings at a time, how near that is to linear, and whether the trials are the
# same bytes. Needs nothing but a shell and awk, for a machine where nothing can be installed.
#   usage: bench/tune_scaling.sh PROGRAM DATASET [JOBS...]     PROGRAM: a sfumato that runs on this machine (make portable, or
#                                                              for another architecture make cross)
# JOBS: by default the powers of two up to the number of cores. TRIALS (2000), NET (gcn), SPACE (paper). The study is in memory;
# the line behind is the greatest number of jobs again with the study in a SQLite file in STUDY_FOLDER (a new temporary one). The
# last one has as many whole studies of one job each at the same time, which wait for nobody: what this machine gives with all of
# those cores busy, which is less than their number times one where cores share caches, memory or the power to be fast.
set -euo pipefail
program=$1
dataset=$2
shift 2
trials=${TRIALS:-2000}
net=${NET:-gcn}
space=${SPACE:-paper}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$folder/cache}
if [ $# = 0 ]; then
    cores=$(nproc)
    for ((jobs = 1; jobs < cores; jobs *= 2)); do
        set -- "$@" "$jobs"
    done
    set -- "$@" "$cores"
fi
echo "machine: $(nproc) cores, $(uname -m), $(lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -1); $("$program" --version | head -1)"
echo "$net, space $space, $trials trials"
printf '%-12s %10s %10s %10s %12s %10s %8s\n' jobs seconds trials/s gain efficiency 'CPU s' same

# One line of the table.
measure() { # LABEL JOBS STUDY
    local label=$1 jobs=$2 study=$3 real cpu same
    TIMEFORMAT='%R %U %S'
    { time "$program" tune "$dataset" "$net" --space "$space" --trials "$trials" --jobs "$jobs" --quiet \
        --study "$study" --export "$folder/trials.csv" >"$folder/out" 2>"$folder/errors"; } 2>"$folder/times" || {
        cat "$folder/errors" >&2
        return 1
    }
    read -r real cpu < <(awk '{ print $1, $2 + $3 }' "$folder/times")
    if [ ! -f "$folder/first.csv" ]; then
        cp "$folder/trials.csv" "$folder/first.csv"
        first_real=$real
        first_jobs=$jobs
    fi
    same=no
    if cmp -s "$folder/first.csv" "$folder/trials.csv"; then
        same=yes
    fi
    awk -v label="$label" -v jobs="$jobs" -v real="$real" -v cpu="$cpu" -v same="$same" -v trials="$trials" \
        -v first="$first_real" -v first_jobs="$first_jobs" 'BEGIN {
            gain = first * first_jobs / real
            printf "%-12s %10.2f %10.1f %9.2fx %11.0f%% %10.1f %8s\n", label, real, trials / real, gain, 100 * gain / jobs, cpu, same
        }'
}

for jobs; do
    measure "$jobs" "$jobs" memory
done
place=$(mktemp -d -p "${STUDY_FOLDER:-$folder}")
measure "$jobs, SQLite" "$jobs" "$place/study.db"
rm -rf "$place"

# All at once: the table's line is of the sum of their trials.
at_once() { # STUDIES
    local i before after
    before=$(date +%s.%N)
    for ((i = 0; i < $1; i++)); do
        "$program" tune "$dataset" "$net" --space "$space" --trials "$trials" --jobs 1 --quiet --study memory >/dev/null &
    done
    wait
    after=$(date +%s.%N)
    awk -v studies="$1" -v real="$(awk -v a="$after" -v b="$before" 'BEGIN { print a - b }')" -v trials="$trials" \
        -v first="$first_real" -v first_jobs="$first_jobs" 'BEGIN {
            gain = studies * first * first_jobs / real
            printf "%-12s %10.2f %10.1f %9.2fx %11.0f%%\n", studies " apart", real, studies * trials / real, gain, 100 * gain / studies
        }'
}
at_once "$jobs"
