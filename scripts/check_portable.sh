#!/usr/bin/env bash
# Checks a portable program: it depends on the C library only, and it is small.
#   usage: scripts/check_portable.sh PROGRAM
set -euo pipefail
program=$1
limit=5000000 # bytes

needed=$(LC_ALL=C readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
foreign=$(grep -vE '^(ld-linux|lib(c|m)\.so)' <<<"$needed" || true)
size=$(stat -c %s "$program")
if [ -n "$foreign" ]; then
    echo "$program needs more than the C library:" $foreign >&2
    exit 1
fi
if [ "$size" -ge "$limit" ]; then
    echo "$program has $size bytes, expected less than $limit: a linker map (-Wl,-Map=FILE) shows what is in it" >&2
    exit 1
fi
echo "$program: $size bytes, needs" $needed
