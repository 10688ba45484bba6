#!/usr/bin/env bash
# Installs missing packages on a Debian machine with apt-get. If all are installed it does nothing, so a second run
# needs neither network nor root.
#   usage: scripts/setup.sh build|test|wheel|lint|more|cross|fuzz
set -euo pipefail
cd "$(dirname "$0")/.."

to_build=(gcc libc6-dev make cmake pkg-config zlib1g-dev libssl-dev libjansson-dev libzip-dev libmatio-dev
    libcurl4-openssl-dev libsqlite3-dev libpq-dev ca-certificates gnuplot-nox)
to_wheel=(python3 python3-venv xz-utils)
to_test=(g++ libopenmpi-dev openmpi-bin libmetis-dev libcmocka-dev librandom123-dev "${to_wheel[@]}" mandoc bsdextrautils sqlite3 postgresql)
# clang-tidy needs the headers of the tests.
to_lint=("${to_test[@]}" clang-14 clang-tidy-14 clang-format-14 cppcheck codespell)
to_fuzz=("${to_test[@]}" clang-14 libclang-rt-14-dev)
case $(uname -m) in # headers of the other architecture, whose code is checked too
x86_64) to_lint+=(libc6-dev-arm64-cross) ;;
aarch64) to_lint+=(libc6-dev-amd64-cross) ;;
esac
# The daemons are started by the tests alone, under a configuration of their own.
to_cluster=(openmpi-bin slurmctld slurmd slurm-client munge faketime iproute2)
more=("${to_lint[@]}" chromium texlive-latex-base texlive-latex-recommended "${to_cluster[@]}")

say() { printf 'setup: %s\n' "$*" >&2; }

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# Prints the packages that are not installed. A package may be PACKAGE:ARCH.
missing() {
    local package
    for package in "$@"; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed$' || echo "$package"
    done
}

install_packages() {
    local wanted
    mapfile -t wanted < <(missing "$@")
    if [ ${#wanted[@]} = 0 ]; then
        return 0
    fi
    say "installing ${wanted[*]}"
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        say "root or sudo is required. As root: apt-get install ${wanted[*]}"
        return 1
    fi
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3)
    if ! as_root "${apt[@]}" update >"$log" 2>&1 ||
        ! as_root "${apt[@]}" install -y --no-install-recommends "${wanted[@]}" >>"$log" 2>&1; then
        tail -n 5 "$log" >&2
        say "apt-get could not install ${wanted[*]} (no network?); its output is above"
        return 1
    fi
}

# Compiler and libraries of the other architecture, and an emulator.
install_cross() {
    local foreign compiler
    case $(dpkg --print-architecture) in
    arm64) foreign=amd64 compiler=gcc-x86-64-linux-gnu ;;
    amd64) foreign=arm64 compiler=gcc-aarch64-linux-gnu ;;
    *)
        say "cross building: expected amd64 or arm64"
        return 1
        ;;
    esac
    if ! dpkg --print-foreign-architectures | grep -qx "$foreign"; then
        as_root dpkg --add-architecture "$foreign"
    fi
    install_packages "$compiler" qemu-user "libc6:$foreign" "zlib1g-dev:$foreign" "libssl-dev:$foreign" \
        "libjansson-dev:$foreign" "libcmocka-dev:$foreign" "libzip-dev:$foreign" \
        "libsqlite3-dev:$foreign"
}

# Python packages that some tests compare with; without them those tests are skipped and say so.
make_venv() {
    if [ -e build/venv/complete ] || python3 -c 'import numpy, safetensors' 2>"$log"; then
        return 0
    fi
    rm -rf build/venv
    if python3 -m venv build/venv >"$log" 2>&1 &&
        build/venv/bin/python3 -m pip install -q --retries 1 --timeout 20 numpy safetensors >>"$log" 2>&1; then
        touch build/venv/complete
    else
        rm -rf build/venv
        say "numpy and safetensors could not be installed for Python: the tests that need them will be skipped"
    fi
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "apt-get is not available. Required: a C17 compiler, make, CMake 3.25, pkg-config, zlib, libcrypto, jansson;"
    say "optional: libzip, libmatio, libcurl, SQLite, libpq, gnuplot; for tests: PostgreSQL, Chromium, cmocka,"
    say "Random123, clang 14, clang-tidy, clang-format, cppcheck, codespell, Python 3, mandoc"
    exit 0
fi
case ${1:-test} in
build) install_packages "${to_build[@]}" ;;
test)
    install_packages "${to_build[@]}" "${to_test[@]}"
    make_venv
    ;;
wheel) install_packages "${to_build[@]}" "${to_wheel[@]}" ;;
lint) install_packages "${to_build[@]}" "${to_lint[@]}" ;;
fuzz) install_packages "${to_build[@]}" "${to_fuzz[@]}" ;;
more)
    install_packages "${to_build[@]}" "${more[@]}"
    make_venv
    install_cross
    ;;
cross)
    install_packages "${to_build[@]}" "${to_test[@]}"
    install_cross
    ;;
*)
    say "usage: scripts/setup.sh build|test|wheel|lint|more|cross|fuzz"
    exit 2
    ;;
esac
