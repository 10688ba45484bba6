#!/usr/bin/env bash
# Man pages and shell completions, as the build wrote them.
. "$SOURCE/tests/support/transcript.sh"
if [ ! -d "$BUILD/man" ]; then
    echo "no man pages in this build: skipped"
    exit 77
fi

# ---- man pages
for page in sfumato sfumato-data sfumato-data-import; do
    [ -f "$BUILD/man/$page.1" ] || fail "no page $page in $(ls "$BUILD/man")"
done
"$SFUMATO" help --man data import | cmp - "$BUILD/man/sfumato-data-import.1"
for page in "$BUILD"/man/*.1; do
    if command -v mandoc >/dev/null; then
        mandoc -T lint "$page" || fail "$page: mandoc has something to say"
        mandoc -T ascii "$page" | col -b >page.txt
        grep -q '^EXAMPLES' page.txt || fail "$page: no examples"
    fi
done
if command -v mandoc >/dev/null; then
    # The options of --help are all on the page.
    mandoc -T ascii "$BUILD/man/sfumato-data-import.1" | col -b >page.txt
    "$SFUMATO" data import --help | grep -oE '^  (-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | while read -r option; do
        grep -q -- "$option" page.txt || fail "the page lacks $option"
    done
else
    echo "no mandoc: the man pages were not checked"
fi

# ---- bash, by asking the function that it calls
PATH="$PWD/bin:$PATH"
mkdir -p bin data sub
ln -s "$SFUMATO" bin/sfumato
: >data/mine.safetensors
# shellcheck disable=SC1091
. "$BUILD/completions/sfumato.bash"
# Only works inside a real completion. Without +o default, bash completes names of files where nothing else matches.
compopt() { [[ $* != *'+o default'* ]] || files=no; }
# The completions after these words, the last of which is incomplete.
offer() {
    local files=yes
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _sfumato
    [ "${#COMPREPLY[@]}" -gt 0 ] || [ $files = no ] || COMPREPLY=(FILES)
    note "$* -> ${COMPREPLY[*]:-}"
}
offer sfumato ''
offer sfumato --
offer sfumato da
offer sfumato data ''
offer sfumato data i
offer sfumato data import --s
offer sfumato data import --scale ''
offer sfumato data import --scale = n
offer sfumato data import --scale =
offer sfumato data import --edges ''
offer sfumato data import --edges e.csv --format ''
offer sfumato data info ''
offer sfumato data info c
offer sfumato data split citation --s
offer sfumato data export citation -o s
offer sfumato data get ''
offer sfumato data get cora --via ''
offer sfumato help ''
offer sfumato help data ''
offer sfumato help --completion ''
: >split.csv
offer sfumato train ''
offer sfumato train citation ''
offer sfumato train citation s
offer sfumato train --lr 0.1 citation sgcn+
offer sfumato train --lr = 0.1 -q citation sgcn+
offer sfumato train citation gcn ''
offer sfumato train citation gcn --loss ''
offer sfumato train citation gcn --loss = s
offer sfumato train citation gcn --keep l
offer sfumato train citation gcn --split ''
offer sfumato train citation gcn --split r
offer sfumato train citation gcn --split random :
offer sfumato train citation gcn --split random : 0
offer sfumato train citation gcn --split = cv : 5
offer sfumato train citation gcn --split file : sp
offer sfumato train citation gcn --size ''
offer sfumato train citation gcn --device ''
offer sfumato train citation gcn --epochs ''
offer sfumato tune citation a
offer sfumato tune citation gcn --space ''
offer sfumato tune citation gcn --space p
offer sfumato tune citation gcn --sampler ''
offer sfumato tune citation gcn --study m
offer sfumato predict ''
offer sfumato predict citation ''
offer sfumato compare citation ''
offer sfumato compare citation --nets ''
offer sfumato compare citation --nets gcn,sg
offer sfumato compare citation --sizes 1,s
offer sfumato reproduce s
offer sfumato reproduce set1 --datasets cora,c
offer sfumato label --budget s
offer sfumato report ''
compare completion

# ---- the others, if their shells are installed
cmp <("$SFUMATO" help --completion zsh) "$BUILD/completions/_sfumato"
cmp <("$SFUMATO" help --completion fish) "$BUILD/completions/sfumato.fish"
cmp <("$SFUMATO" help --completion bash) "$BUILD/completions/sfumato.bash"
for shell in zsh fish; do
    if command -v "$shell" >/dev/null; then
        "$SFUMATO" help --completion "$shell" >script
        "$shell" -n script || fail "$shell cannot read its completions"
    else
        echo "no $shell: its completions were not read by it"
    fi
done
if command -v shellcheck >/dev/null; then
    shellcheck -s bash "$BUILD/completions/sfumato.bash"
fi

# ---- a folder that cannot be written
run help --write /dev/null/folder
tail -n 2 "$transcript" | grep -qx '\[1\]' || fail "help --write into nowhere succeeds"
