#!/usr/bin/env bash
# Runs one script test in an empty folder that is removed afterwards.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME="$folder/home" XDG_CACHE_HOME="$folder/cache" LC_ALL=C.UTF-8
unset SFUMATO_DATA
# The amount of progress output depends on the speed of the machine; a test that checks it sets "auto".
export SFUMATO_PROGRESS=never
if [ -e "$SOURCE/build/venv/complete" ]; then # a python3 with numpy and safetensors, see scripts/setup.sh
    export PATH="$SOURCE/build/venv/bin:$PATH"
fi
# Leak detection takes seconds per run on some machines; the test_*_behaviour.sh enable it where it is useful.
if [ "${BUILD_KIND:-plain}" = sanitized ]; then
    export ASAN_OPTIONS=detect_leaks=0
fi
mkdir -p "$HOME" "$folder/work"
cd "$folder/work"
exec_status=0
bash -eu -o pipefail "$1" || exec_status=$?
exit "$exec_status"
