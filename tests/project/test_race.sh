#!/usr/bin/env bash
# The race: help, errors, plot; and, with a Python that has torch ($SFUMATO_VENV), its small form.
race=$SOURCE/bench/race
fail() {
    printf '%s\n' "$*" >&2
    exit 1
}
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1

# ---- help
bash "$race" --help >help.txt
grep -q '^usage: bench/race' help.txt && grep -q '^Example' help.txt || fail "no help: $(cat help.txt)"
awk 'length > 140' help.txt | grep . && fail "long lines in the help"
bash "$SOURCE/bench/race_gpu" --help | grep -q 'usage: bench/race_gpu' || fail "no help of race_gpu"

# ---- errors: one line, before anything is downloaded or measured
refused() { # TEXT ARGUMENT...
    local text=$1
    shift
    if SFUMATO_VENV=$PWD/nothing bash "$race" --quick "$@" >out 2>error; then
        fail "taken: $*"
    fi
    [ "$(wc -l <error)" = 1 ] && [ ! -s out ] && grep -qF -- "$text" error || fail "$*: $(cat out error)"
}
refused 'unknown option --fast' --fast
refused '--out needs a value' --out
refused 'unknown section "epoch": one of epochs, ' --only epoch
refused 'unknown net "gnc": one of gcn, ' --nets gnc
refused '--seconds: "long" is not a number' --seconds long
refused '--seconds: 0 is not between' --seconds 0
refused '--edges: 1e9 is not between 10000 and 100000000' --edges 1e9
refused 'no dataset nothing here: sfumato data get nothing' --python /bin/sh nothing
refused 'nowhere/sfumato: no such program' --program nowhere/sfumato
refused 'nothing/bin/python3: no such program'

# ---- the plot
{
    echo 'section,dataset,network,who,median,low,high,unit'
    echo 'epochs,cora,gcn,"sfumato, 1 core",0.9,0.8,1,ms'
    echo 'epochs,cora,gcn,"PyG, 1 core",70,69,71,ms'
} >race.csv
if command -v gnuplot >/dev/null; then
    bash "$SOURCE/bench/race_plot.sh" race.csv folder/race.svg
    grep -q '<svg' folder/race.svg && grep -q 'PyTorch Geometric' folder/race.svg || fail "no drawing"
    grep -q "$PWD\|/tmp" folder/race.svg && fail "a path in the drawing"
else
    echo "no gnuplot: nothing is drawn"
fi
if bash "$SOURCE/bench/race_plot.sh" nothing.csv out.svg 2>error; then
    fail "drawn from nothing"
fi

if command -v shellcheck >/dev/null; then
    (cd "$SOURCE" && shellcheck -x bench/race bench/race_gpu bench/race_plot.sh bench/peers.sh)
fi

# ---- the small form
if [ "${BUILD_KIND:-plain}" != plain ]; then
    exit 0 # measurements of a sanitized program are meaningless
fi
if [ -z "${SFUMATO_VENV:-}" ] || ! "$SFUMATO_VENV/bin/python3" -c 'import torch, numpy' 2>/dev/null; then
    echo "skipped: \$SFUMATO_VENV names no virtual environment with torch; only help, mistakes and the drawing were tested"
    exit 0
fi
export SFUMATO
# The hand-written gradients agree with autograd.
"$SFUMATO" data make -o toy.safetensors --nodes 400 --vocabulary 60 --quiet >/dev/null
"$SFUMATO" data split toy.safetensors -o toy.csv --quiet >/dev/null
PEER_SPLITS=$PWD "$SFUMATO_VENV/bin/python3" -W ignore "$SOURCE/bench/peer_check.py" toy.safetensors || fail "a peer computes something else"
bash "$race" --quick --nets gcn --only epochs,training,study,growth --out result >printed || fail "$(cat printed)"
cmp -s printed result/race.txt || fail "race.txt is not what was printed"
bash "$SOURCE/bench/race_gpu" "$SFUMATO" --quick --nets linear+lp --device cpu --out gpu >printed || fail "$(cat printed)"
python3 - <<'PY'
import csv
rows = list(csv.DictReader(open("result/race.csv"))) + list(csv.DictReader(open("gpu/race.csv")))
def found(section, who):
    return [row for row in rows if row["section"] == section and row["who"].startswith(who)]
for section, who in [("epochs", "sfumato, 1 core"), ("epochs", "floor"), ("epochs", "PyTorch, plain"), ("epochs", "PyTorch, tuned"),
                     ("epochs", "PyTorch, bag"), ("epochs", "PyTorch, pruned"), ("training", "sfumato"), ("study", "sfumato"),
                     ("growth", "sfumato, epoch"), ("growth", "PyTorch, plain, predict"), ("gpu", "sfumato, 1 core"),
                     ("gpu", "PyTorch by hand, CUDA graph"), ("gpu", "PyTorch by hand, many at once")]:
    assert found(section, who), (section, who)
for row in rows:
    assert 0 < float(row["low"]) <= float(row["median"]) <= float(row["high"]), row
PY
