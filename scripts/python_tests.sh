#!/usr/bin/env bash
# Builds the wheel, installs it into a virtual environment and runs the tests of the Python package there, then mypy.
# What cannot be installed from PyPI is skipped, and said so.
#   usage: scripts/python_tests.sh [--torch] [OPTION OF PYTEST...]
# --torch installs PyTorch Geometric too, several gigabytes, and runs only what needs it.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build-python
python=$work/venv/bin/python

torch=no
if [ "${1:-}" = --torch ]; then
    torch=yes
    shift
fi
status=0
scripts/wheel.sh || status=$?
if [ "$status" = 77 ]; then
    echo "skipped: the tests of the Python package (no wheel)"
    exit 0
fi
[ "$status" = 0 ] || exit "$status"

if [ ! -e "$work/venv/complete" ]; then
    rm -rf "$work/venv"
    if ! python3 -m venv "$work/venv" >"$work/venv.log" 2>&1 ||
        ! "$python" -m pip install -q --retries 1 --timeout 20 numpy scipy pandas networkx scikit-learn tqdm optuna \
            pytest mypy nbclient ipykernel >>"$work/venv.log" 2>&1; then
        rm -rf "$work/venv"
        echo "skipped: the tests of the Python package (pytest, pandas, ... could not be installed from PyPI)"
        exit 0
    fi
    touch "$work/venv/complete"
fi
if [ "$torch" = yes ]; then
    if ! "$python" -m pip install -q --retries 1 --timeout 60 torch torch_geometric >"$work/torch.log" 2>&1; then
        echo "skipped: the notebook with PyTorch Geometric (it could not be installed from PyPI)"
        exit 0
    fi
    set -- -k pyg "$@"
fi
"$python" -m pip install -q --no-deps --force-reinstall "$work"/dist/*.whl
cd "$work" # not in python/, whose sources would be imported instead
"$python" -m pytest -q -p no:cacheprovider "$@" ../python/tests
cd ../python
"$python" -m mypy --cache-dir "$work/mypy"
