# shellcheck shell=bash
# A Python for the comparisons; sourced.

# Sees to it that $SFUMATO_VENV is a virtual environment with the packages named: where none is given, in the cache folder, outside
# the project, fetched once.
need_venv() { # PACKAGE...
    if [ -n "${SFUMATO_VENV:-}" ]; then
        return
    fi
    SFUMATO_VENV=${XDG_CACHE_HOME:-$HOME/.cache}/sfumato-race
    export SFUMATO_VENV
    if [ -e "$SFUMATO_VENV/complete" ]; then
        return
    fi
    echo "fetching $* into $SFUMATO_VENV; that takes a few minutes, once" >&2
    python3 -m venv --clear "$SFUMATO_VENV"
    "$SFUMATO_VENV/bin/pip" install -q --disable-pip-version-check "$@"
    touch "$SFUMATO_VENV/complete"
}
