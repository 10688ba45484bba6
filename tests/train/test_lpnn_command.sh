# LPNN on the command line: every variant trains, its model reproduces the scores of the training, f is stored only if
# it is needed, and only then another graph is refused. The bytes do not depend on threads or kernels.
sfumato() { "$SFUMATO" "$@"; }

value() { sed -n "s/^ *\"$1\": \([^,]*\),*$/\1/p" "$2" | head -n 1; }

expect_failure() { # WORDS... -- COMMAND...
    local words=() word
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    if "$@" >out 2>err; then
        echo "did not fail: $*"
        return 1
    fi
    for word in "${words[@]}"; do
        grep -qF -- "$word" err || {
            echo "no \"$word\" in the message of $*:"
            cat err
            return 1
        }
    done
}

sfumato data make --nodes 700 --seed 5 -o here.safetensors --quiet >/dev/null
sfumato data make --nodes 650 --seed 6 -o there.safetensors --quiet >/dev/null

epochs=12
if [ "${BUILD_KIND:-plain}" != plain ]; then
    epochs=3
fi
for f in softmax clamp; do
    for input in x fx; do
        for output in f g; do
            net="lpnn(f=$f, input=$input, output=$output)"
            sfumato train here.safetensors "$net" --epochs $epochs --json --quiet -o model.safetensors >train.json
            test "$(value epochs train.json)" = $epochs
            sfumato train here.safetensors "$net" --epochs $epochs --threads 3 --quiet -o three.safetensors >/dev/null
            SFUMATO_ISA=plain sfumato train here.safetensors "$net" --epochs $epochs --quiet -o plain.safetensors >/dev/null
            cmp model.safetensors three.safetensors
            cmp model.safetensors plain.safetensors
            sfumato predict here.safetensors model.safetensors -o here.csv --quiet >/dev/null
            test "$(wc -l <here.csv)" = 701
            has_f=no
            if grep -qaE '"f": ?\{ ?"dtype' model.safetensors; then
                has_f=yes
            fi
            if [ "$input $output" = "x g" ]; then
                test $has_f = no
                sfumato predict there.safetensors model.safetensors -o there.csv --quiet >/dev/null
                test "$(wc -l <there.csv)" = 651
            else
                test $has_f = yes
                expect_failure there "700 nodes" -- sfumato predict there.safetensors model.safetensors -o no.csv
                test ! -e no.csv
            fi
        done
    done
done

# The last hidden layer, and training from a model.
sfumato predict here.safetensors model.safetensors -o hidden.csv --embedding --quiet >/dev/null
test "$(head -n 1 hidden.csv | tr , '\n' | wc -l)" -ge 65
sfumato train here.safetensors "$net" --epochs 3 --init model.safetensors --quiet >/dev/null

# mean or sum applies to the validation loss only; the objective is always a sum.
sfumato train here.safetensors lpnn --epochs 5 --loss sum --quiet -o sum.safetensors --json >sum.json
sfumato train here.safetensors lpnn --epochs 5 --loss mean --quiet -o mean.safetensors --json >mean.json
test "$(value val_accuracy sum.json)" = "$(value val_accuracy mean.json)"
test "$(value test_accuracy sum.json)" = "$(value test_accuracy mean.json)"

# Too large a learning rate gives an error message, not a crash.
expect_failure diverged -- sfumato train here.safetensors "lpnn(f=clamp, mu_g=1e30)" --lr 1e30 --epochs 20
