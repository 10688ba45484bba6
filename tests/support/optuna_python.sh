# shellcheck shell=bash
# A Python with Optuna, for tests that open our studies with it: the latest release from pip, installed into the build
# folder by the first test that needs it, or the installed one. Sourced; sets $python, or skips the test.

# has PYTHON MODULE
has() { "$1" -c "import $2" 2>/dev/null; }

# need_optuna [MODULE PACKAGE]: with another module beside it.
need_optuna() {
    local folder=$BUILD/optuna
    exec 9>"$BUILD/optuna.lock"
    flock 9
    if [ ! -e "$folder/complete" ]; then
        rm -rf "$folder"
        if python3 -m venv "$folder" 2>/dev/null && timeout 300 "$folder/bin/pip" install -q --retries 1 --timeout 20 \
            optuna optuna-dashboard pandas >pip.log 2>&1; then
            touch "$folder/complete"
        fi
    fi
    if [ -e "$folder/complete" ] && [ -n "${1:-}" ] && ! has "$folder/bin/python3" "$1"; then
        timeout 300 "$folder/bin/pip" install -q --retries 1 --timeout 20 "$2" >pip.log 2>&1 || true
    fi
    exec 9>&-
    for python in "$folder/bin/python3" "$(command -v python3 || true)"; do
        if [ -n "$python" ] && has "$python" optuna && { [ -z "${1:-}" ] || has "$python" "$1"; }; then
            "$python" -c 'import optuna; print("Optuna", optuna.__version__)'
            return 0
        fi
    done
    printf 'skipped: pip gives no Optuna%s (no network?), and none is installed\n' "${1:+ with $1}" >&2
    return 77
}

# Options of `tune` for this version of Optuna.
optuna_stamp() {
    if "$python" -c 'import optuna, sys; sys.exit(tuple(map(int, optuna.__version__.split(".")[:2])) >= (3, 2))'; then
        echo --old-optuna
    fi
}
