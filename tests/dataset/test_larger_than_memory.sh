#!/usr/bin/env bash
# Imports and made datasets within a memory limit: the same bytes as without one, and the limit holds (ulimit -d counts
# private memory). Full disks, truncated files and Ctrl-C leave nothing behind.
fail() {
    echo "$*" >&2
    exit 1
}

# limited KILOBYTES COMMAND...: with so much private memory. Sanitizers and emulators take gigabytes for themselves.
limited() {
    local kilobytes=$1
    shift
    (
        [ "$BUILD_KIND" != plain ] || ulimit -d "$kilobytes"
        "$SFUMATO" "$@"
    )
}

# same MEGABYTES WORD...: an import with and without the limit gives the same file.
same() {
    local megabytes=$1
    shift
    "$SFUMATO" data import "$@" -o same.safetensors --quiet >/dev/null
    mv same.safetensors plain.safetensors
    limited $((megabytes * 1024)) data import "$@" -o same.safetensors --memory "${megabytes}M" >out 2>err ||
        fail "$*: $(cat err)"
    cmp plain.safetensors same.safetensors || fail "$*: other bytes"
    rm plain.safetensors same.safetensors
}

nothing_left() {
    local left
    left=$(find . -name '.*sfumato*' -o -name '*scratch*' -o -name 'never*')
    [ -z "$left" ] || fail "$1 left $left"
}

# ---- edges: ten times the limit, in numbers, weighted, named
edges=2000000 copies=8
[ "$BUILD_KIND" = plain ] || edges=60000 copies=2
awk -v n=$edges 'BEGIN { srand(7)
    for (i = 0; i < n; i++) {
        a = int(rand() * 200000)
        print a "," (a + int(rand() * rand() * 900)) % 200000 } }' >part.csv
for ((i = 0; i < copies; i++)); do cat part.csv; done >edges.csv
head -n 500000 part.csv | awk -F, '{ print "n" $1 "\tn" $2 "\t" NR % 17 }' >named.tsv
awk -F, '{ print $1 "," $2 "," NR % 23 ".5" }' part.csv >weighted.csv
same 36 --edges edges.csv
[ "$BUILD_KIND" != plain ] || grep -q '^sfumato: 16,000,000 edges sorted on disk: [0-9][0-9]* runs, merged' err ||
    fail "no word of the runs: $(cat err)"
same 36 --edges weighted.csv --directed --self-loops keep --duplicates sum
same 36 --edges weighted.csv --duplicates first
same 64 --edges named.tsv
{
    echo '%%MatrixMarket matrix coordinate real symmetric'
    awk -F, '$1 != $2 && NR <= 50000 { a = $1 % 900; b = $2 % 900; if (a < b) { t = a; a = b; b = t }
        if (!((a, b) in seen)) { seen[a, b] = 1; n++; line[n] = a + 1 " " b + 1 " " NR % 7 + 1 } }
        END { print 900, 900, n; for (i = 1; i <= n; i++) print line[i] }' part.csv
} >graph.mtx
same 36 --edges graph.mtx
same 36 --edges graph.mtx --directed
gzip -k part.csv
same 36 --edges part.csv.gz

# ---- tables, words and names of nodes: more than half of what the limit leaves
nodes=30000
[ "$BUILD_KIND" = plain ] || nodes=3000
awk -v n=$nodes 'BEGIN { srand(3); print "node,feature,value"
    for (i = 0; i < 20 * n; i++) print "node " int(rand() * n) ",word " int(rand() * rand() * 5000) "," i % 7 - 3 }' >triples.csv
awk -v n=$nodes 'BEGIN { srand(4); printf "id"
    for (j = 0; j < 40; j++) printf ",column" j
    print ",town,text,team"
    for (i = 0; i < n; i++) {
        printf "node %d", i
        for (j = 0; j < 40; j++) printf ",%.4f", rand()
        print ",town" i % 30 ",w" int(rand() * 900) " v" int(rand() * 900) "," (i % 3 ? "red" : i % 5 ? "blue" : "") } }' >table.csv
awk -v n=$nodes 'BEGIN { srand(5); for (i = 0; i < 4 * n; i++) print "node " int(rand() * n) ",node " int(rand() * n) }' >names.csv
same 36 --edges names.csv --features triples.csv
same 36 --edges names.csv --nodes table.csv --label team
same 36 --edges names.csv --nodes table.csv --label team --scale quantile

# ---- real data
if [ -e "$TEST_DATA/linqs/cora.content" ]; then
    same 32 "$TEST_DATA/linqs/cora.content"
fi
for source in "$TEST_DATA"/planetoid/ind.pubmed "$TEST_DATA"/npz/*.npz; do
    if [ -e "$source" ] || [ -e "$source.graph" ]; then
        same 32 "$source"
    fi
done

# ---- data make: ten times the limit
nodes=400000
[ "$BUILD_KIND" = plain ] || nodes=5000
made=(data make -o made.safetensors --nodes "$nodes" --degree 60 --dense 128)
"$SFUMATO" "${made[@]}" --quiet >/dev/null
mv made.safetensors plain.safetensors
limited $((40 * 1024)) "${made[@]}" --memory 40M >/dev/null 2>err ||
    fail "data make: $(cat err)"
cmp plain.safetensors made.safetensors
[ "$BUILD_KIND" != plain ] || [ "$(stat -c %s made.safetensors)" -gt 300000000 ] || fail "it is not large"
rm plain.safetensors made.safetensors

# ---- refused in one line that says what is needed
refused() {
    local wanted=$1 code=0
    shift
    "$SFUMATO" "$@" -o never.safetensors >out 2>err || code=$?
    [ $code -ne 0 ] || fail "$*: it did not fail"
    [ "$(wc -l <err)" -eq 1 ] || fail "$*: $(cat err)"
    grep -q -- "$wanted" err || fail "$*: it says $(cat err)"
    nothing_left "$*"
}
refused 'needs up to .*, more than the limit of 32M; use a larger limit' data make --nodes 900000 --memory 32M
if [ "$BUILD_KIND" = plain ]; then # what it says is enough
    "$SFUMATO" data make --nodes 900000 --memory "$(sed 's/.*needs up to \([0-9.]*[MG]\) .*/\1/' err)" -o made.safetensors \
        --quiet >/dev/null
    rm made.safetensors
fi
refused 'needs up to .*, more than the limit of 32M; use a larger limit' data make --nodes 9000000 --memory 32M
refused 'a memory limit of 1M is too small: expected at least 32M' data import --edges part.csv --memory 1M
for size in 0 -1 8Q G 1e 0x10 '8 G' 99999999999T; do
    code=0
    "$SFUMATO" data import --edges part.csv --memory="$size" 2>err || code=$?
    [ $code -eq 2 ] || fail "--memory=$size: exit $code"
    grep -q 'memory: expected a number of bytes such as 8G, 512M or 1000000, found' err || fail "$size: $(cat err)"
done

# ---- a full disk, a truncated file, an edge that is none
full() { # BLOCKS WORD...
    local code=0 blocks=$1
    shift
    (ulimit -f "$blocks"; "$SFUMATO" data import "$@" -o never.safetensors --memory 40M) >out 2>err || code=$?
    [ $code -eq 1 ] || fail "a full disk: exit $code: $(cat err)"
    grep -q 'cannot write a temporary file: File too large; it holds what does not fit the memory limit: ' err ||
        fail "a full disk: it says $(cat err)"
    nothing_left "a full disk"
}
full 300 --edges part.csv
[ "$BUILD_KIND" != plain ] || full 3000 --nodes table.csv --label team
head -c 100000 part.csv.gz >cut.csv.gz
refused 'cut.csv.gz' data import --edges cut.csv.gz --memory 40M
{ cat part.csv; echo '5,6,7,8'; } >odd.csv
refused 'odd.csv' data import --edges odd.csv --memory 40M

# ---- Ctrl-C
env --default-signal=INT,PIPE "$SFUMATO" data import --edges edges.csv -o never.safetensors --memory 40M >out 2>err &
process=$!
sleep 0.3
kill -INT $process 2>/dev/null || true
code=0
wait $process || code=$?
[ $code -eq 130 ] || [ $code -eq 0 ] || fail "Ctrl-C: exit $code: $(cat err)"
[ $code -eq 0 ] || nothing_left "Ctrl-C"
