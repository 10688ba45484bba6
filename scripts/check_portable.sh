#!/usr/bin/env bash
# Holds a program that is to be carried to other machines to what it promises: it needs nothing but the C library, and
# it is small.
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
    echo "$program has $size bytes, and $limit are the limit: a linker map (-Wl,-Map=FILE) says what is in it" >&2
    exit 1
fi
echo "$program: $size bytes, needs" $needed
