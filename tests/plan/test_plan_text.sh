#!/usr/bin/env bash
# Plans as the text that explain prints, without predicted times, against tests/plan/expected/*.txt; UPDATE=1 writes these instead,
# for a person to read and commit. The choices are made from nominal rates, so they are the same on every machine.
. "$SOURCE/tests/support/transcript.sh"
: >differences

# plan NAME DATASET NET [OPTION]...
plan() {
    local golden=$SOURCE/tests/plan/expected/$1.txt
    shift
    "$SFUMATO" explain "$@" --quiet | sed -E 's/ +predicted$//; s/  +[0-9.]+ [num]?s(  [a-z_]+)?$/\1/' >plan.txt
    if [ -n "${UPDATE:-}" ]; then
        cp plan.txt "$golden"
    elif ! diff -u "$golden" plan.txt >>differences; then
        echo "$golden differs" >&2
    fi
}

# ---- the paper's networks on the dataset that comes with the program
for net in gcn sgcn fp+mlp sgcn+lp gcn+lp linear+lp mlp+lp mlp linear; do
    plan "citation-$net" citation "$net"
done
plan citation-gcn-no-dropout citation gcn --dropout 0
plan citation-gcn-all-labels citation gcn --split random:0 --size 5
plan citation-appnp citation 'dense 64 relu | dense classes | smooth^10(teleport=0.1) | softmax(linear=no)'
plan citation-learned citation 'dense 16 relu | softmax | smooth^2(learn=self+neighbour)'

# ---- each rewrite, taken and not
make_data() { # NAME OPTION...
    "$SFUMATO" data make -q -o "$1.safetensors" "${@:2}" >/dev/null
}
# fold: few features become no denser by smoothing; many sparse ones do, and are smoothed behind the weights.
make_data few-words --nodes 2000 --vocabulary 12 --words 8 --degree 6
make_data many-words --nodes 2000 --vocabulary 5000 --words 12 --degree 12
plan fold-taken few-words.safetensors 'smooth^2 | softmax' --dropout 0
plan fold-not-taken many-words.safetensors 'smooth^2 | softmax' --dropout 0
# prune: sixty labels see a part of a thin graph, and all of a thick one.
make_data thin --nodes 5000 --classes 3 --degree 2
make_data thick --nodes 600 --classes 3 --degree 100
plan prune-taken thin.safetensors 'dense 8 relu | smooth | softmax'
plan prune-not-taken thick.safetensors 'dense 8 relu | smooth^2 | softmax'
# order: the narrow side is smoothed.
make_data few-classes --nodes 2000 --classes 3
make_data many-classes --nodes 2000 --classes 40
plan order-weights-first few-classes.safetensors 'dense 64 relu | smooth | softmax' --split random:0 --size 5
plan order-smoothing-first many-classes.safetensors 'dense 8 relu | smooth | softmax' --split random:0 --size 5
# collapse: two steps of a thin graph are few entries, those of a thick one all of them.
plan collapse-taken thin.safetensors 'softmax | smooth^2'
plan collapse-not-taken thick.safetensors 'softmax | smooth^2' --split random:0 --size 5
# sparse: words of a vocabulary, and numbers that are hardly ever zero.
make_data dense-words --nodes 1000 --vocabulary 16 --words 15
plan sparse-taken many-words.safetensors mlp
plan sparse-not-taken dense-words.safetensors mlp --dropout 0

if [ -s differences ]; then
    cat differences
    fail "a plan is another than tests/plan has; read the difference, then UPDATE=1 keeps it"
fi
