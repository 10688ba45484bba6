# A user's own table of 6,100 labels in five classes, one of them rare: training uses 80 % of the labels by default, the
# split survives an export and a file, and the model does not depend on the number of threads.
sfumato() { "$SFUMATO" "$@"; }

fail() {
    echo "$*" >&2
    exit 1
}

awk 'BEGIN { srand(1); print "id,x,y,kind"
    for (i = 0; i < 6104; i++) {
        kind = i < 4 ? "rare" : substr("abcd", i % 4 + 1, 1)
        printf "n%d,%.3f,%.3f,%s\n", i, i % 4 + rand(), i % 3 + rand(), i % 1526 == 9 ? "" : kind } }' >nodes.csv
awk 'BEGIN { print "from,to"; for (i = 4; i < 6104; i++) printf "n%d,n%d\n", i, (i * 7 + 4) % 6104 }' >edges.csv
sfumato data import --edges edges.csv --nodes nodes.csv --id id --label kind --name own -o own.safetensors --quiet >/dev/null

sfumato data split own.safetensors --json >split.json
for pair in train:48 val:6 test:6; do
    count=$(sed -n "s/^ *\"${pair%:*}\": \([0-9]*\),*$/\1/p" split.json | head -n 1)
    [ "$((count / 100))" = "${pair#*:}" ] || fail "$count nodes to ${pair%:*}: $(cat split.json)"
done

# Every class is in all parts, the one with four labels too.
sfumato data split own.safetensors -o split.csv --quiet >/dev/null
awk -F, 'NR == FNR { kind[$1] = $4; next } FNR > 1 { seen[kind[$1] " " $2] = 1 }
    END { for (pair in seen) count++; print count }' nodes.csv split.csv >pairs
[ "$(cat pairs)" = 15 ] || fail "$(cat pairs) of 15 pairs of a class and a part"

# The same split from the file, and from the exported and imported dataset.
digest() { sfumato data split "$@" --json --quiet | sed -n 's/^ *"digest": "\([0-9a-f]*\)".*/\1/p'; }
one=$(digest own.safetensors)
[ -n "$one" ] && [ "$one" = "$(digest own.safetensors --split holdout:0)" ] || fail "holdout:0 is not the default"
[ "$one" = "$(digest own.safetensors --split file:split.csv)" ] || fail "another split from its file"
[ "$one" != "$(digest own.safetensors --split holdout:1)" ] || fail "the seed does nothing"
sfumato data export own.safetensors -o exported >said
command=$(sed -n 's/.*\(sfumato data import .*\)/\1/p' said)
eval "\"\$SFUMATO\" ${command#sfumato } -o again.safetensors --quiet" >/dev/null
[ "$one" = "$(digest again.safetensors)" ] || fail "another split after an export"

# `train` and `tune` take it, with the same model for any number of threads.
for threads in 1 3; do
    sfumato train own.safetensors gcn --epochs 4 --threads $threads -o $threads.model --quiet >$threads.page
    grep -q '^  split holdout:0 size 5: 4,8' $threads.page || fail "$(cat $threads.page)"
done
cmp 1.model 3.model
sfumato tune own.safetensors sgcn --trials 2 --epochs 3 --study memory --quiet | grep -q '^  split holdout:0 size 5: 4,8' ||
    fail "tune has another split"
sfumato train own.safetensors gcn --epochs 1 --split random:0 --quiet 2>/dev/null | grep -q '^  split random:0 size 1: 8' ||
    fail "random is not the protocol of the paper"
