#!/usr/bin/env bash
# Builds for the other architecture and runs the tests in an emulator, so that pinned bytes are checked there too.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc 2>/dev/null || echo 2)
case $(uname -m) in
aarch64) triple=x86_64-linux-gnu ;;
x86_64) triple=aarch64-linux-gnu ;;
*) echo "cross: expected an x86_64 or aarch64 machine, found $(uname -m)" >&2 && exit 1 ;;
esac
build=build-${triple%%-*}
cmake -S . -B "$build" --toolchain cmake/Cross.cmake -DCROSS_TRIPLE=$triple -DSFUMATO_TESTS=ON -DSFUMATO_MAT=OFF \
    -DSFUMATO_CURL=OFF -DSFUMATO_POSTGRES=OFF
cmake --build "$build" -j"$jobs"
ctest --test-dir "$build" -j"$jobs" -LE more --output-on-failure
# The portable program, for machines of that architecture where nothing can be installed.
cmake -S . -B "$build-portable" --toolchain cmake/Cross.cmake -DCROSS_TRIPLE=$triple -DSFUMATO_TESTS=OFF \
    -DSFUMATO_MAT=OFF -DSFUMATO_CURL=OFF -DSFUMATO_POSTGRES=OFF -DSFUMATO_STATIC_DEPS=ON >/dev/null
cmake --build "$build-portable" -j"$jobs" --target sfumato
scripts/check_portable.sh "$build-portable/sfumato"
"qemu-${triple%%-*}" "$build-portable/sfumato" --version
scripts/python_cross.sh
