# shellcheck shell=bash
# What the comparisons with Python share; they source it from the top folder.

# Sees to it that $SFUMATO_VENV is a virtual environment: with the packages named, in a new folder, where none is given.
need_venv() { # PACKAGE...
    if [ -z "${SFUMATO_VENV:-}" ]; then
        SFUMATO_VENV=$(mktemp -d)/venv
        python3 -m venv "$SFUMATO_VENV"
        "$SFUMATO_VENV/bin/pip" install -q "$@"
    fi
}

# The file of a dataset that is given by name.
file_of() {
    local folder
    if [ -f "$1" ]; then
        echo "$1"
        return
    fi
    IFS=: read -ra folders <<<"${SFUMATO_DATA:-}:data:${XDG_CACHE_HOME:-$HOME/.cache}/sfumato"
    for folder in "${folders[@]}"; do
        if [ -n "$folder" ] && [ -f "$folder/$1.safetensors" ]; then
            echo "$folder/$1.safetensors"
            return
        fi
    done
    echo "$1: no such dataset" >&2
    return 1
}
