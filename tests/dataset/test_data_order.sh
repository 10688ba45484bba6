#!/usr/bin/env bash
# An ordered dataset is the same dataset under the same names, and fewer of its edges join distant nodes.
. "$SOURCE/tests/support/transcript.sh"
if "$SFUMATO" --version | grep -q '^  metis *no'; then
    echo "no METIS in this build: skipped"
    exit 77
fi

# DATASET OPTION...: the CSV files of both, line by line in any order.
same() {
    local file
    rm -rf before after ordered.safetensors
    "$SFUMATO" data order "$@" -o ordered.safetensors >stdout 2>stderr || fail "$1: $(cat stderr)"
    "$SFUMATO" data export "$1" -o before >/dev/null
    "$SFUMATO" data export ordered.safetensors -o after >/dev/null
    for file in before/*.csv; do
        file=${file#before/}
        if [ "$file" = edges.csv ] && [ "${directed:-no}" = no ]; then # an edge may be written from either end
            for side in before after; do
                awk -F, -v OFS=, 'NR > 1 && $1 > $2 { t = $1; $1 = $2; $2 = t } 1' "$side/$file" >"$side/turned"
                mv "$side/turned" "$side/$file"
            done
        fi
        cmp <(sort "before/$file") <(sort "after/$file") || fail "$1: $file differs"
    done
    awk '/edges between/ { exit !($(NF - 5) < $6) }' stderr || fail "$1: no better: $(cat stderr)"
}
"$SFUMATO" data make -o made.safetensors --nodes 2000 --degree 5 --vocabulary 30 --words 5 -q >/dev/null
same made.safetensors --parts 8
same citation

# Weights, directions, names, node columns, dense features.
awk 'BEGIN { srand(3); print "from,to,w"
    for (i = 0; i < 900; i++) {
        a = int(300 * rand()); b = a % 6 + 6 * int(50 * rand())
        if (a != b) print "n" a ",n" b "," 1 + int(9 * rand())
    } }' >edges.csv
awk 'BEGIN { srand(4); print "id,kind,height,age"
    for (i = 0; i < 300; i++) print "n" i "," (i % 3 ? "a" : "b") "," rand() "," int(90 * rand()) }' >nodes.csv
"$SFUMATO" data import --edges edges.csv --nodes nodes.csv --label kind --directed -o own.safetensors >/dev/null
directed=yes same own.safetensors --parts 6
"$SFUMATO" data info ordered.safetensors | grep -q 'nodes ordered in 6 parts$' || fail "data info does not tell the order"

# The same training on any number of threads, and a prediction by name.
"$SFUMATO" train ordered.safetensors gcn --epochs 3 -q -o model.safetensors >/dev/null
"$SFUMATO" predict ordered.safetensors model.safetensors -o labels.csv >/dev/null
[ "$(sort labels.csv | grep -c '^n[0-9]')" = 300 ] || fail "names are lost: $(head -n 3 labels.csv)"

! "$SFUMATO" data order ordered.safetensors -o twice.safetensors >stdout 2>stderr || fail "ordered twice"
[ "$(cat stderr)" = 'sfumato: ordered: its nodes were ordered before; start from the original' ] || fail "$(cat stderr)"
[ ! -e twice.safetensors ] || fail "a file is left"
! "$SFUMATO" data order citation --parts 1 -o x.safetensors >stdout 2>stderr || fail "one part"
