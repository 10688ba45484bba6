#!/usr/bin/env bash
# Runs every fuzz target of build-fuzz for SECONDS each, two at a time. The corpus grows in build-fuzz/corpus; inputs
# that fail are stored in build-fuzz/findings.
#   usage: scripts/fuzz.sh SECONDS [FORMAT...]
set -euo pipefail
cd "$(dirname "$0")/.."
export seconds=${1:-600}
shift || true
mkdir -p build-fuzz/findings build-fuzz/logs

fuzz() { # FORMAT
    local corpus=build-fuzz/corpus/$1 log=build-fuzz/logs/$1.txt
    mkdir -p "$corpus"
    if "build-fuzz/tests/fuzz/fuzz_$1" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=65536 \
        -artifact_prefix="build-fuzz/findings/$1-" "$corpus" "tests/fuzz/seeds/$1" >"$log" 2>&1; then
        printf 'fuzz: %-16s clean, %s\n' "$1" "$(grep -E '^Done [0-9]+ runs' "$log")"
    else
        printf 'fuzz: %-16s FAILED, see %s\n' "$1" "$log"
        return 1
    fi
}
export -f fuzz

if [ $# = 0 ]; then
    set -- $(find build-fuzz/tests/fuzz -maxdepth 1 -type f -executable -name 'fuzz_*' | sed 's/.*fuzz_//' | sort)
fi
printf '%s\n' "$@" | xargs -P 2 -I{} bash -c 'fuzz {}'
