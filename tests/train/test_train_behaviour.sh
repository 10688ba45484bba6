#!/usr/bin/env bash
# Behaviour of train and predict: interrupts, pipes, full disks, progress, threads.
. "$SOURCE/tests/support/transcript.sh"

"$SFUMATO" data make -o small.safetensors --nodes 500 --classes 3 --vocabulary 80 --words 8 --seed 7 >/dev/null

# ---- the same bytes for any number of threads, and for the same seed
for threads in 1 2 3 8; do
    "$SFUMATO" train small.safetensors gcn+lp -o "$threads.model" --seed 5 --epochs 30 --threads $threads >/dev/null
    "$SFUMATO" predict small.safetensors "$threads.model" -o "$threads.csv" --threads $threads >/dev/null
    cmp 1.model "$threads.model" || fail "$threads threads give another model"
    cmp 1.csv "$threads.csv" || fail "$threads threads give other predictions"
done

# ---- and for any instruction set
for isa in plain neon x86-64-v3 x86-64-v4; do
    if SFUMATO_ISA=$isa "$SFUMATO" train small.safetensors gcn+lp -o "$isa.model" --seed 5 --epochs 30 >/dev/null 2>stderr; then
        cmp 1.model "$isa.model" || fail "$isa gives another model"
    elif [ "$isa" = plain ]; then
        fail "the plain kernels do not run: $(cat stderr)"
    fi
done

# ---- --repeat trains the same models as its seeds separately, and keeps the best
"$SFUMATO" train small.safetensors sgcn --repeat 3 --seed 2 -o repeated.model --epochs 20 -q >page
best=$(awk '$1 == "best" && $2 == "seed" { print $3 }' page)
"$SFUMATO" train small.safetensors sgcn --seed "$best" -o alone.model --epochs 20 -q >/dev/null
cmp repeated.model alone.model || fail "--repeat keeps another model than the seed $best gives"

# ---- stdout: only the table with -o -; a reader that ends; a full disk
"$SFUMATO" predict small.safetensors 1.model -o - -q 2>stderr | cmp - 1.csv || fail "-o - writes something else"
[ ! -s stderr ] || fail "-o -: $(cat stderr)"
mkfifo pipe
(exec 3<pipe) &
exec 4>pipe
wait $!
code=0
"$SFUMATO" predict small.safetensors 1.model -o - -q >&4 2>stderr || code=$?
exec 4>&-
[ "$code" -eq 1 ] && [ ! -s stderr ] || fail "a closed pipe: exit $code, $(cat stderr)"
code=0
"$SFUMATO" predict small.safetensors 1.model -o - >/dev/full 2>stderr || code=$?
[ "$code" -eq 1 ] && grep -qx 'sfumato: standard output: No space left on device' stderr || fail "a full disk: $(cat stderr)"

# ---- --json prints one object with stable keys
if command -v python3 >/dev/null; then
    "$SFUMATO" train small.safetensors gcn --json --epochs 5 2>/dev/null | python3 -c '
import json, sys
found = json.load(sys.stdin)
keys = "net epochs best_epoch train_accuracy val_accuracy val_loss test_accuracy test_macro_f1 per_class seconds seed split model"
assert not [key for key in keys.split() if key not in found], found.keys()
assert all(set(row) == {"name", "precision", "recall", "f1", "support"} for row in found["per_class"])
assert len(found["split"]) == 64 and found["seed"] == 0 and found["epochs"] == 5'
else
    echo "no python3: --json was not parsed"
fi

# ---- no leaks, if the build can detect them
if [ "${BUILD_KIND:-plain}" = sanitized ]; then
    ASAN_OPTIONS=detect_leaks=1 "$SFUMATO" train small.safetensors gcn+lp --repeat 2 --epochs 2 --report -o leaks.model >/dev/null
    ASAN_OPTIONS=detect_leaks=1 "$SFUMATO" predict small.safetensors leaks.model -o leaks.csv >/dev/null
    ASAN_OPTIONS=detect_leaks=1 "$SFUMATO" explain small.safetensors gcn --plain >/dev/null
fi

# ---- Ctrl-C: the best weights so far are written, with a message. Slow cases run concurrently.
endless=("$SFUMATO" train small.safetensors gcn --epochs 2000000000 --patience 0 --threads 1)
line='^sfumato: training: [0-9.]+ %, loss [0-9.]+, val [0-9.]+ %, [0-9.,k]+ ?(k )?epochs/s' # progress if stderr is not a terminal
interrupt saved "grep -qE '$line' saved.stderr" "${endless[@]}" -o interrupted.model &
interrupt json 'grep -q "training 1 of 5:" json.stderr' "${endless[@]}" --json --repeat 5 &

# ---- a progress bar on a terminal, within its width, and removed at the end
if command -v script >/dev/null; then
    for columns in 40 80 100; do
        pattern='[0-9] %'
        [ $columns -lt 100 ] || pattern='loss .*val .*epochs/s'
        draw_bars $columns "$pattern" "'$SFUMATO'" train small.safetensors gcn --epochs 2000000000 --patience 0 --threads 1 &
    done
else
    echo "no script: no terminal to draw a bar on"
fi
wait

[ "$(cat saved.code)" -eq 130 ] || fail "an interrupt: exit $(cat saved.code), $(cat saved.stderr)"
grep -q '^sfumato: interrupted in epoch [0-9]*; using the best weights so far, those of epoch [0-9]*$' saved.stderr ||
    fail "an interrupt: $(cat saved.stderr)"
grep -q '^  model written to interrupted.model$' saved.stdout || fail "an interrupt: $(cat saved.stdout)"
"$SFUMATO" predict small.safetensors interrupted.model -o interrupted.csv >/dev/null
[ "$(cat json.code)" -eq 130 ] && grep -q '"interrupted": true' json.stdout ||
    fail "an interrupt: exit $(cat json.code), $(cat json.stderr)"
grep -qE "$line" saved.stderr || fail "no progress: $(cat saved.stderr)"
if command -v script >/dev/null; then
    for columns in 40 80 100; do
        check_bars $columns
    done
    grep -q 'loss .*val .*epochs/s' bars || fail "no loss, accuracy and rate: $(cat bars)"
fi
