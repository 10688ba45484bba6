#!/usr/bin/env bash
# Format, clang-tidy, cppcheck and a few rules of the house. The compile commands are those of the clang build.
# A file that came out clean is not looked at again until it, a header or the rules change.
#   usage: scripts/lint.sh             check
#          scripts/lint.sh --format    only bring the sources into the format
set -euo pipefail
cd "$(dirname "$0")/.."
build=build-clang
jobs=$(nproc 2>/dev/null || echo 2)
failed=0

tool() { # the version the project is written for, or what there is
    command -v "$1-14" || command -v "$1" || { echo "lint: $1 is missing: run make setup" >&2; exit 1; }
}
clang_format=$(tool clang-format)
clang_tidy=$(tool clang-tidy)
command -v cppcheck >/dev/null || { echo "lint: cppcheck is missing: run make setup" >&2; exit 1; }

mapfile -t sources < <(find src cli tests bench examples -name '*.c' 2>/dev/null | LC_ALL=C sort)
mapfile -t headers < <(find include src cli tests bench examples -name '*.h' 2>/dev/null | LC_ALL=C sort)

say() { printf 'lint: %s\n' "$*"; }
refuse() { # TEXT PATTERN FILE...: no file may hold a line that matches
    local text=$1 pattern=$2
    shift 2
    if grep -nE -- "$pattern" "$@" /dev/null | grep -vE "$let_pass"; then
        say "$text"
        failed=1
    fi
}

if [ "${1:-}" = --format ]; then
    exec "$clang_format" -i "${sources[@]}" "${headers[@]}"
fi

say "format of ${#sources[@]} sources and ${#headers[@]} headers"
"$clang_format" --dry-run -Werror "${sources[@]}" "${headers[@]}" || failed=1

say "rules"
let_pass='^$'
refuse "unfinished work belongs into the tracker, not the code" '\b(TODO|FIXME|XXX)\b[^X]' "${sources[@]}" "${headers[@]}"
refuse "an absolute path" '"/(home|root|work|usr|opt)/' "${sources[@]}" "${headers[@]}"
let_pass=':[0-9]+: *(/\*|\* |")' # lines of a comment, or of a text
mapfile -t library < <(printf '%s\n' "${sources[@]}" "${headers[@]}" | grep '^src/')
refuse "the library never prints, exits or aborts" '\b(printf|puts|perror|exit|abort)\(' "${library[@]}"
mapfile -t outside_door < <(printf '%s\n' "${library[@]}" | grep -v '^src/base/memory.c$')
refuse "the library allocates through memory.h" '\b(malloc|calloc|realloc|strdup|asprintf)\(' "${outside_door[@]}"
mapfile -t outside_special < <(printf '%s\n' "${library[@]}" | grep -v '^src/base/special\.')
refuse "libm's bits differ between machines: use special.h" \
    '[^_[:alnum:]](exp|exp2|expm1|log|log2|log10|log1p|pow|erf|erfc|sin|cos|tan|tanh|cbrt|hypot|lgamma|tgamma)f?\(' \
    "${outside_special[@]}"
twice=$(printf '%s\n' "${sources[@]}" "${headers[@]}" | sed 's|.*/||' | sort | uniq -d)
if [ -n "$twice" ]; then
    say "file names are unique across the tree: $twice"
    failed=1
fi

cmake --preset clang >/dev/null
# One stamp a file, named by what its result depends on: the rules, the build's options, and the file as preprocessed.
stamps=$build/lint
mkdir -p "$stamps"
includes="-Iinclude $(find src cli tests -type d ! -name 'seeds*' -printf '-I%p ')"
shared=$(cat .clang-tidy tests/.clang-tidy scripts/lint.sh CMakeLists.txt cmake/*.cmake | sha256sum)
tidy() {
    local stamp
    stamp=$stamps/$({ echo "$1 $shared" && "${clang_tidy/-tidy/}" -E $includes "$1" 2>/dev/null; } | sha256sum | cut -c1-32)
    [ -e "$stamp" ] && return
    "$clang_tidy" -p "$build" --extra-arg=-UNDEBUG --quiet "$1" 2>"$stamp.err" && rm "$stamp.err" && touch "$stamp" && return
    grep -vE 'warnings? .*generated|^Suppressed|^Use -header-filter|^Error while processing' "$stamp.err" >&2
    return 1
}
check() {
    local stamp
    stamp=$stamps/$(cat scripts/lint.sh scripts/cppcheck.txt "${headers[@]}" "$@" | sha256sum | cut -c1-32)
    [ -e "$stamp" ] && return
    cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --suppressions-list=scripts/cppcheck.txt -D__GNUC__ -j"$jobs" $includes \
        "$@" || return 1
    touch "$stamp"
}
export clang_tidy build stamps shared includes
export -f tidy

# Files that this build leaves out (an optional part, another compiler) have no compile command.
known=$(sed -n 's/^ *"file": "\(.*\)",\?$/\1/p' "$build/compile_commands.json")
mapfile -t compiled < <(for file in "${sources[@]}"; do grep -qxF "$PWD/$file" <<<"$known" && echo "$file"; done)
say "clang-tidy on ${#compiled[@]} files"
printf '%s\n' "${compiled[@]}" | xargs -P "$jobs" -I{} bash -c 'tidy {}' || failed=1
say "cppcheck"
check "${sources[@]}" || failed=1

if [ "$failed" = 0 ]; then
    say "clean"
fi
exit "$failed"
