#!/usr/bin/env bash
# Trials a second of tuning GCN in the paper's space beside Optuna and PyTorch, in one run: ours first, then the peers in turn,
# then ours again, whose two times are averaged.
#   usage: bench/tune.sh [DATASET]     default: cora; a path, or a name in $SFUMATO_DATA or the cache folder
# Needs build/ (make). $SFUMATO_VENV is a virtual environment with torch, numpy, torch_geometric and optuna; without one it is
# made in a new folder, which takes the network and a few minutes; where it has no optuna, those lines are left out. TRIALS: of our study (2000). SAMPLE: trials of a fast peer
# (60), SLOW_SAMPLE: of PyTorch Geometric (8).
#
# What is compared. Ours is the whole program: reading, planning, 2000 trials with TPE, each stored in a SQLite file, the winner
# scored. The peers run a sample, of which peer_tune.py says what is left out in their favour:
#   optuna      Optuna's TPE half-way through such a study (the trials that it finds there are ours), as users run it
#   given       the very configurations of our study, an even sample, for which choosing and storing cost nothing
# "x" is trials a second. As early stopping is a matter of luck in a small sample, "x alike" is for as many epochs of each hidden
# width as ours had, and "x CPU" that in seconds of the processor.
set -euo pipefail
cd "$(dirname "$0")/.."
sfumato=${SFUMATO:-$PWD/build/sfumato}
trials=${TRIALS:-2000}
sample=${SAMPLE:-60}
slow=${SLOW_SAMPLE:-8}
cores=$(nproc)
. bench/peers.sh
need_venv torch numpy torch_geometric optuna
python=$SFUMATO_VENV/bin/python3
dataset=$(file_of "${1:-cora}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Tunes, and adds a line: seconds, seconds of the processor.
ours() {
    local times
    rm -f "$folder/study.db"
    TIMEFORMAT='%R %U %S'
    times=$({ time "$sfumato" tune "$dataset" gcn --trials "$trials" --jobs "$cores" --study "$folder/study.db" \
        --export "$folder/trials.csv" --quiet >"$folder/out" 2>"$folder/errors"; } 2>&1) || {
        cat "$folder/errors" >&2
        return 1
    }
    awk '{ print $1, $2 + $3 }' <<<"$times" >>"$folder/ours"
}
peer() { # WAY SEARCH JOBS THREADS TRIALS
    "$python" bench/peer_tune.py --way "$1" --search "$2" --jobs "$3" --threads "$4" --trials "$5" "$dataset" \
        "$folder/trials.csv" >>"$folder/peers" 2>"$folder/errors" || {
        cat "$folder/errors" >&2
        return 1
    }
}

"$python" - <<'END'
import importlib.metadata, os, platform, torch
versions = []
for name in ("torch_geometric", "optuna"):
    try:
        versions.append(f"{name} {importlib.metadata.version(name)}")
    except importlib.metadata.PackageNotFoundError:
        versions.append(f"no {name}")
print(f"machine: {os.cpu_count()} cores, {platform.machine()}; torch {torch.__version__}",
      "with MKL," if torch.backends.mkl.is_available() else "without MKL,", ", ".join(versions))
END
ours
if "$python" -c 'import optuna' 2>/dev/null; then
    peer pyg sqlite "$cores" 1 "$slow"
    peer pyg sqlite 1 "$cores" $(((slow + 1) / 2))
    peer pyg memory 1 "$cores" $(((slow + 1) / 2))
fi
peer pyg none "$cores" 1 "$slow"
for way in tuned bag pruned; do
    peer "$way" none "$cores" 1 "$sample"
done
ours

epochs=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "epochs") at = i; next } { sum += $at } END { print sum }' \
    "$folder/trials.csv")
awk -v trials="$trials" -v epochs="$epochs" -v cores="$cores" '
    function row(who, rate, each, x, alike, cpu) {
        printf "%-58s %9.3f %9.1f %9.1f %9s %9s %9s\n", who, rate, 1000 / rate, each, x, alike, cpu
    }
    function form(jobs, threads) { return jobs == 1 ? threads " threads" : jobs " processes" }
    FILENAME ~ /ours$/ { seconds += $1; cpu += $2; runs++; next }
    FNR == 1 {
        seconds /= runs; cpu /= runs; rate = trials / seconds
        printf "%-58s %9s %9s %9s %9s %9s %9s\n", "", "trials/s", "ms/trial", "epochs", "x", "x alike", "x CPU"
        row("sfumato tune --jobs " cores ", TPE, SQLite", rate, epochs / trials, "", "", "")
    }
    {
        what = $2 == "none" ? $1 ", given, " : $1 ", optuna TPE (" $2 "), "
        theirs = $5 * $3 / $7
        # Outside trainings a peer takes as long a trial as it took here.
        row(what form($3, $4), theirs, $6 / $5, sprintf("%.1f", rate / theirs),
            sprintf("%.1f", ($9 + $8 / $5 * trials) / $3 / seconds), sprintf("%.1f", $10 / cpu))
    }' "$folder/ours" "$folder/peers"
