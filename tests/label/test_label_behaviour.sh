#!/usr/bin/env bash
# Behaviour of label: jobs and budgets, interrupts, and use of its files by other commands.
. "$SOURCE/tests/support/transcript.sh"
mkdir bin
ln -s "$SFUMATO" bin/sfumato
PATH=$PWD/bin:$PATH
edges=$SOURCE/examples/demo/edges.csv nodes=$SOURCE/examples/demo/nodes.csv
label() { # NAME OPTION...
    local name=$1
    shift
    sfumato label --edges "$edges" --nodes "$nodes" --label topic -o "$name.csv" "$@" --quiet >"$name.page"
}

# ---- the same bytes for any number of jobs; a time budget equals a number of steps
label one --budget steps:9 --jobs 1
label three --budget steps:9 --jobs 3
for end in csv model.safetensors; do
    cmp one.$end three.$end || fail "three jobs come to another $end than one"
done
cmp one.html <(sed 's/Labels of three/Labels of one/' three.html) || fail "three jobs come to another page than one"
"$SFUMATO" label one.safetensors -o timed.csv --budget 1s --json --quiet >timed.json
steps=$(sed -n 's/^  "steps": \([0-9]*\).*/\1/p' timed.json)
[ "$steps" -ge 1 ] || fail "no steps: $(cat timed.json)"
"$SFUMATO" label one.safetensors -o again.csv --budget "steps:$steps" --json --quiet >again.json
cmp timed.csv again.csv || fail "so many steps come to other labels than the budget"
diff <(grep -v '"seconds"\|"path"\|"model"\|"page"' timed.json) <(grep -v '"seconds"\|"path"\|"model"\|"page"' again.json) ||
    fail "other numbers"

# ---- its files work with other commands, and give the same labels
sfumato predict one.safetensors one.model.safetensors --only-unlabelled -o predicted.csv >/dev/null
cmp one.csv predicted.csv || fail "the kept model labels otherwise"
sed -n 's/^\(Next:\|     \) sfumato \(explain\|predict\)/sfumato \2/p' one.page >next.sh
[ "$(wc -l <next.sh)" -eq 2 ] || fail "what is next? $(cat one.page)"
bash -eu next.sh >/dev/null || fail "this does not run: $(cat next.sh)"

# ---- label sets and nodes to label next
sfumato label one.safetensors -o sets.csv --budget steps:2 --coverage 0.9 --ask 3 --forget --json --quiet >sets.json
head -n 1 sets.csv | grep -q ',set$' || fail "no sets: $(head -n 2 sets.csv)"
[ "$(awk -F, 'NR > 1 && index("|" $NF "|", "|" $2 "|") == 0' sets.csv | wc -l)" -eq 0 ] || fail "a set without its label"
[ "$(sed -n '/"ask": \[/,/\]/p' sets.json | grep -c '^    "')" -eq 3 ] || fail "not three nodes: $(cat sets.json)"
[ ! -e sets.html ] || fail "a page in spite of --forget"

# ---- with a hub, smoothed features are full: linear+lp is tried first, and sgcn without the hub
awk 'BEGIN { print "from,to"; for (i = 1; i < 1200; i++) print (i % 8 == 0 ? i - 1 : 0) "," i }' >hub.edges
awk -F, 'NR == 1 || $1 != 0' hub.edges >no_hub.edges
awk 'BEGIN { print "node,feature,value"; for (i = 0; i < 120000; i++) print int(i / 100) "," i ",1" }' >hub.features
awk 'BEGIN { print "node,label"; for (i = 0; i < 1200; i++) print i "," (i % 3 == 0 ? "a" : "b") }' >hub.labels
while read -r name net; do
    sfumato label --edges $name.edges --features hub.features --labels hub.labels -o hub.csv --all --budget steps:1 --forget \
        --quiet >$name.page
    grep -qx "Selected network: $net" $name.page || fail "not $net: $(cat $name.page)"
done <<'END'
hub linear+lp
no_hub sgcn
END

# ---- settings are rounded in the report, and exact in the command that continues from them
! grep -v '^Next:' one.page | grep -E '\.0*[1-9][0-9]{6}' || fail "these are more than six digits"
sfumato label one.safetensors -o exact.csv --budget steps:9 --forget --json --quiet >exact.json
params=$(sed -n 's/^  "params": "\(.*\)",$/\1/p' exact.json)
[ -n "$params" ] && grep -q "^Next: sfumato tune .* --enqueue '$params'\$" one.page || fail "not '$params': $(cat one.page)"
if ! sfumato --version | grep -q '^  sqlite *no'; then
    sed -n 's/^Next: \(.*\) --trials 200/\1 --trials 1 --epochs 5/p' one.page >next.sh
    bash -eu next.sh >tuned 2>/dev/null || fail "this does not run: $(cat next.sh)"
    grep -q '^Best trial 0:' tuned || fail "it does not begin there: $(cat tuned)"
fi

# ---- interrupts: after the first result it is written, before that nothing is
"$SFUMATO" data make -o big.safetensors --nodes 6000 --classes 6 >/dev/null
interrupted() { # FOLDER
    [ "$(cat "$1/run.code")" = 130 ] || fail "exit $(cat "$1/run.code")"
    if grep -q 'best model so far' "$1/run.stderr"; then
        [ "$(wc -l <"$1/labels.csv")" -eq 6001 ] || fail "a half-written answer"
    else
        [ "$(ls "$1")" = "$(printf 'run.code\nrun.stderr\nrun.stdout')" ] || fail "something was left: $(ls "$1")"
    fi
}
mkdir late early
interrupt late/run "grep -qE 'step ([2-9]|[0-9]{2,}) of' late/run.stderr" \
    "$SFUMATO" label big.safetensors --all -o late/labels.csv --budget 1h
interrupted late
grep -qx 'sfumato: interrupted; the results are those of the best model so far' late/run.stderr || fail "not said: $(cat late/run.stderr)"
interrupt early/run 'handles $process 2' "$SFUMATO" label big.safetensors --all -o early/labels.csv --budget 1h
interrupted early

# ---- the progress bar fits the terminal, and shows the remaining time
if command -v script >/dev/null; then
    draw_bars 70 ' left' "'$SFUMATO'" label big.safetensors --all -o bar.csv --forget --budget 1h
    check_bars 70
    grep -q ' left' bars || fail "no time left: $(cat bars)"
fi
