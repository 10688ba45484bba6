#!/usr/bin/env bash
# Checks the sources: format, rules of the project, spelling, line lengths of documents, clang-tidy with clang's
# warnings, cppcheck. Code for x86_64 and for arm64 is checked on either machine. A file that passed is checked again
# only when the file, one of its headers or the rules change.
#   usage: scripts/lint.sh             check
#          scripts/lint.sh --deep      the same, and the analyzer follows every path that it can (four times as long)
#          scripts/lint.sh --format    only format the sources
set -euo pipefail
cd "$(dirname "$0")/.."
build=build-clang
analyzer_nodes=40000 # per function; clang's default is 225000
[ "${1:-}" = --deep ] && analyzer_nodes=225000
jobs=$(nproc 2>/dev/null || echo 2)
failed=0

tool() { # version 14, which the project is written for; otherwise the installed one
    command -v "$1-14" || command -v "$1" || { echo "lint: $1 is missing: run make setup" >&2; exit 1; }
}
clang_format=$(tool clang-format)
clang_tidy=$(tool clang-tidy)
for program in cppcheck codespell; do
    command -v "$program" >/dev/null || { echo "lint: $program is missing: run make setup" >&2; exit 1; }
done

mapfile -t sources < <(find src cli tests bench examples -name '*.c' 2>/dev/null | LC_ALL=C sort)
mapfile -t headers < <(find include src cli tests bench examples -name '*.h' 2>/dev/null | LC_ALL=C sort)

say() { printf 'lint: %s\n' "$*"; }
refuse() { # TEXT PATTERN FILE...: fails if a line of a file matches
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
refuse "unfinished work belongs in the issue tracker, not in the code" '\b(TODO|FIXME|XXX)\b[^X]' "${sources[@]}" "${headers[@]}"
refuse "an absolute path" '"/(home|root|work|usr|opt)/' "${sources[@]}" "${headers[@]}"
let_pass=':[0-9]+: *(/\*|\* |")' # lines of a comment or of a string
mapfile -t library < <(printf '%s\n' "${sources[@]}" "${headers[@]}" | grep '^src/')
refuse "the library never prints, exits or aborts" '\b(printf|puts|perror|exit|abort)\(' "${library[@]}"
mapfile -t outside_door < <(printf '%s\n' "${library[@]}" | grep -v '^src/base/core/memory.c$')
refuse "the library allocates through memory.h" '\b(malloc|calloc|realloc|strdup|asprintf)\(' "${outside_door[@]}"
mapfile -t outside_special < <(printf '%s\n' "${library[@]}" | grep -v '^src/base/math/special')
refuse "results of libm differ between machines: use special.h" \
    '[^_[:alnum:]](exp|exp2|expm1|log|log2|log10|log1p|pow|erf|erfc|sin|cos|tan|tanh|cbrt|hypot|lgamma|tgamma)f?\(' \
    "${outside_special[@]}"
twice=$(printf '%s\n' "${sources[@]}" "${headers[@]}" | sed 's|.*/||' | sort | uniq -d)
if [ -n "$twice" ]; then
    say "file names are unique across the tree: $twice"
    failed=1
fi
twice=$(sed -nE 's/^(typedef )?(struct|enum|union) (sfu_[a-z0-9_]+) \{.*/\3/p' "${headers[@]}" | sort | uniq -d)
if [ -n "$twice" ]; then
    say "a type name is defined in one header only: $twice"
    failed=1
fi
# sfu_x and sfu__x, sfu__y_z and sfu__yz are too easily confused.
twice=$(grep -hoE '\bsfu_[a-z0-9_]+\(' "${headers[@]}" | sort -u | awk '{ name = $0; gsub("_", "", name); if (seen[name]++) print }')
if [ -n "$twice" ]; then
    say "names of functions that differ by underscores alone: $twice"
    failed=1
fi

# ---- documents ----
# Spelling, with codespell's default dictionaries, which accept British and American English. scripts/codespell.txt
# lists the words to ignore: names, and misspellings that tests need. Data files, and files that the program wrote,
# are left out.
tracked() { # PATTERN...: the tracked files that exist
    git ls-files "$@" | while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}
say "spelling"
tracked | grep -vE '^(tests/(data|fuzz/seeds)/|docs/results/.+/|examples/demo/.*csv$)' |
    xargs -d '\n' codespell --ignore-words scripts/codespell.txt || failed=1

# At most 120 characters per line in documents, except in tables, code blocks and lines that are one link.
say "line lengths of documents"
mapfile -t documents < <(tracked '*.md' | grep -vE '^(tests|docs/results/.+)/')
long_lines() {
    awk '
        FNR == 1                                     { code = indented = 0 }
        /^ *```/                                     { code = !code; next }
                                                     { indented = /^    / && (blank || indented); blank = /^ *$/ }
        code || indented || /^ *\|/ || length <= 120 { next }
        /^[ >*-]*!?\[[^]]*\]\([^)]*\)[.,;:]?$/      { next } # one link
        { print FILENAME ":" FNR ": " length " characters" }' "$@"
}
long=$(long_lines "${documents[@]}")
if [ -n "$long" ]; then
    echo "$long"
    say "documents have at most 120 characters per line"
    failed=1
fi

cmake --preset clang >/dev/null
stamps=$build/lint
mkdir -p "$stamps"
includes="-Iinclude $(find src cli tests -type d ! -name 'seeds*' -printf '-I%p ')"

# ---- clang-tidy ----
# A unit is a file with its compiler flags: "FILE<tab>FLAGS". A SIMD kernel is one unit per instruction set; files that
# this build does not compile (an optional part) are no units.
native_units() {
    awk -v root="$PWD/" '
        /^ *"command": / { sub(/^ *"command": "/, ""); sub(/",?$/, ""); gsub(/\\\\/, "\001"); gsub(/\\"/, "\""); gsub(/\001/, "\\")
                           sub(/^[^ ]+ /, ""); sub(/ -o [^ ]+ -c [^ ]+$/, ""); command = $0 }
        /^ *"file": /    { sub(/^ *"file": "/, ""); sub(/",?$/, ""); sub(root, ""); print $0 "\t" command }
    ' "$build/compile_commands.json"
}
# Files that depend on the architecture, compiled for the other one. Headers of its C library are in
# /usr/TRIPLE/include.
foreign_units() { # TRIPLE ISA...: each NAME:MARCH, a name of kernels.h and the -march of clang
    local triple=$1 set files
    shift
    files=$(grep -lE '__(aarch64|x86_64|AVX|ARM_)' -r src --include='*.c'; ls src/backend/cpu/simd/*.c src/tune/sampler/simd/*.c)
    for set in "$@"; do
        native_units | sed "s| -march=[^ ]*||; s|SFU__ISA=[^ ]*|SFU__ISA=${set%:*}|
            s|$| --target=$triple -march=${set#*:} -isystem /usr/$triple/include|" |
            awk -F '\t' -v files="$files" 'BEGIN { n = split(files, names, "\n"); for (i = 1; i <= n; i++) wanted[names[i]] = 1 }
                $1 in wanted { delete wanted[$1]; print }'
    done
}
units() {
    native_units
    case $(uname -m) in
    x86_64) foreign_units aarch64-linux-gnu neon:armv8-a ;;
    aarch64) foreign_units x86_64-linux-gnu x86_64_v3:x86-64-v3 x86_64_v4:x86-64-v4 ;;
    esac
}
# The name of a stamp is a digest of everything that the result depends on: rules, flags, preprocessed file.
tidy() {
    local file=${1%%$'\t'*} flags=${1#*$'\t'} stamp
    eval "set -- $flags -UNDEBUG -Xclang -analyzer-config -Xclang max-nodes=$analyzer_nodes"
    stamp=$stamps/$({ echo "$file $* $rules" && "${clang_tidy/-tidy/}" -E "$@" "$file" 2>&1; } | sha256sum | cut -c1-32)
    [ -e "$stamp" ] && return
    "$clang_tidy" --quiet "$file" -- "$@" 2>"$stamp.err" && rm "$stamp.err" && touch "$stamp" && return
    grep -vE 'warnings? .*generated|^Suppressed|^Use -header-filter|^Error while processing' "$stamp.err" >&2
    return 1
}
rules=$(cat .clang-tidy tests/.clang-tidy | sha256sum)
export clang_tidy build stamps rules analyzer_nodes
export -f tidy
foreign_headers=/usr/$([ "$(uname -m)" = x86_64 ] && echo aarch64 || echo x86_64)-linux-gnu/include
[ -e "$foreign_headers/stdio.h" ] || { say "$foreign_headers is missing: run make setup"; exit 1; }
mapfile -t all_units < <(units)
say "clang-tidy on ${#all_units[@]} files and instruction sets"
printf '%s\0' "${all_units[@]}" | xargs -0 -P "$jobs" -n 1 bash -c 'tidy "$0"' || failed=1

# ---- cppcheck ----
check() {
    local stamp
    stamp=$stamps/$(cat scripts/lint.sh scripts/cppcheck.txt "${headers[@]}" "$@" | sha256sum | cut -c1-32)
    [ -e "$stamp" ] && return
    cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --suppressions-list=scripts/cppcheck.txt -D__GNUC__ -j"$jobs" $includes \
        "$@" || return 1
    touch "$stamp"
}
say "cppcheck"
check "${sources[@]}" || failed=1

if [ "$failed" = 0 ]; then
    say "clean"
fi
exit "$failed"
