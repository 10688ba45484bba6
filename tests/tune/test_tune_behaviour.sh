#!/usr/bin/env bash
# Behaviour of tune: reproduction of the winner, continuation, jobs, interrupts, plots, JSON.
. "$SOURCE/tests/support/transcript.sh"
if "$SFUMATO" --version | grep -q '^  sqlite *no'; then
    echo "no SQLite in this build: skipped"
    exit 77
fi
mkdir bin
ln -s "$SFUMATO" bin/sfumato
PATH=$PWD/bin:$PATH
sfumato data make -o "it's small.safetensors" --nodes 200 --classes 3 --vocabulary 50 --words 8 --seed 7 >/dev/null
data="it's small.safetensors"
cp "$data" other.safetensors
without_time() { sed '/^  time /d; /"seconds"/d' "$1"; }

# ---- the printed command reproduces the winner's model byte for byte
again() { # NAME OPTION...: the study's model and the one of the command that it prints
    local name=$1
    shift
    sfumato tune "$data" "$@" --study memory -q -o "$name.model" >"$name.page"
    mv "$name.model" "$name.winner"
    bash -c "$(tail -n 1 "$name.page")" >/dev/null 2>&1 || fail "this does not run: $(tail -n 1 "$name.page")"
    cmp "$name.winner" "$name.model" || fail "another model than that of the study: $(tail -n 1 "$name.page")"
    # Text that is not to be copied must be readable.
    ! head -n -1 "$name.page" | grep -E '\.0*[1-9][0-9]{6}' || fail "these are more than six digits"
}
again plain gcn --trials 6 --epochs 15
again split 'dense $h tanh(dropout=0.1) | smooth^$k(self=$a) | softmax' --trials 6 --epochs 15 --split random:3 --size 2 \
    --space 'lr=log(1e-3,0.3) h={4,8} k=[1..3] a=(0.1,2)' --loss sum --class-weight balanced --patience 3
grep -q '^Best trial .*(self=[0-9.]*) |' split.page && tail -n 1 split.page | grep -Eq '[(]self=[0-9]\.[0-9]{8,}[)]' ||
    fail "the network is not as it should be: $(cat split.page)"
again any any --space practical --trials 12 --epochs 10 --seed 18446744073709551615
again lpnn lpnn --trials 3 --epochs 5

# ---- the same trials for any number of jobs, continued or not; a second run prints the same
study() { # NAME OPTION...
    local name=$1
    shift
    sfumato tune "$data" gcn --study "$name.db" --study-name same --epochs 12 --export "$name.csv" -q "$@" >"$name.page"
}
study one --trials 14 --jobs 1
study three --trials 14 --jobs 3
study parts --trials 5 --jobs 2
study parts --trials 14 --jobs 1
cmp one.csv three.csv || fail "three jobs have other trials than one"
cmp one.csv parts.csv || fail "a study that went on has other trials than one that was never stopped"
mv one.page first.page
sfumato tune "$data" gcn --study one.db --study-name same --epochs 12 --export one.csv --trials 14 >one.page 2>stderr
cmp <(without_time first.page) <(without_time one.page) || fail "a second run says something else"
grep -qx 'sfumato: all 14 trials are in one.db already; nothing to do' stderr || fail "$(cat stderr)"
[ "$(wc -l <one.csv)" -eq 15 ] || fail "not a line a trial: $(cat one.csv)"
head -n 1 one.csv | grep -qx 'number,state,val_accuracy,val_loss,epochs,best_epoch,seed\(,[a-z_]*\)*' || fail "$(head -n 1 one.csv)"

# ---- random search ignores results, so it waits for none, for any wave
if command -v sqlite3 >/dev/null; then
    count() { sqlite3 blind.db "SELECT count(*) FROM trials WHERE state IN ($1)" 2>/dev/null || echo 0; }
    "$SFUMATO" tune "$data" gcn --sampler random --wave 1 --jobs 3 --trials 100000 --study blind.db -q >/dev/null 2>&1 &
    worker=$!
    wait_until "[ \"\$(count \"'COMPLETE'\")\" -ge 3 ]" $worker
    kill -9 $worker
    wait $worker 2>/dev/null || true
    [ "$(count "'COMPLETE'")" -ge 3 ] || fail "it ended before three trials did"
    [ "$(count "'RUNNING', 'WAITING'")" -ge 3 ] || fail "fewer trials are out than there are jobs"
else
    echo "no sqlite3: nobody looked how many trials are out at once"
fi

# ---- --json: stable keys, and numbers that parse to the same values
if command -v python3 >/dev/null; then
    sfumato tune "$data" gcn --study one.db --study-name same --epochs 12 --trials 14 --json -q >one.json
    python3 - one.json one.csv <<'PY'
import csv, json, shlex, sys
found = json.load(open(sys.argv[1]))
keys = "study trials best test_accuracy test_macro_f1 importance seconds failed top"
assert not [key for key in keys.split() if key not in found], found.keys()
best = found["best"]
assert not [key for key in "number params val_accuracy val_loss seed".split() if key not in best], best.keys()
assert found["study"] == "one.db" and found["trials"] == 14 and len(found["top"]) <= 10 and found["top"][0] == best
assert abs(sum(found["importance"].values()) - 1) < 1e-12 or not any(found["importance"].values())
trials = list(csv.DictReader(open(sys.argv[2])))
row = trials[best["number"]]
for name, value in best["params"].items():
    assert float(row[name]) == value, (name, row[name], value)
assert row["seed"] == str(best["seed"]) and float(row["val_accuracy"]) == best["val_accuracy"], (row, best)
rank = lambda t: (-float(t["val_accuracy"]), float(t["val_loss"]), int(t["number"]))
complete = sorted((t for t in trials if t["val_accuracy"]), key=rank)
assert [int(t["number"]) for t in complete][:10] == [t["number"] for t in found["top"]], found["top"]
words = shlex.split(found["train"])
assert words[:3] == ["sfumato", "train", "it's small.safetensors"] and words[words.index("--seed") + 1] == str(best["seed"])
assert float(words[words.index("--lr") + 1]) == best["params"]["lr"], words
PY
else
    echo "no python3: --json was not parsed"
fi

# ---- a plot, the same bytes twice; without gnuplot its script and data, and a warning
small=(tune "$data" gcn --study memory --epochs 5 --trials 20)
if command -v gnuplot >/dev/null; then
    mkdir "a 'folder'"
    sfumato "${small[@]}" --plot "a 'folder'/history.svg" >page 2>stderr
    grep -qx "  plot written to a 'folder'/history.svg" page || fail "no plot: $(cat page stderr)"
    sfumato "${small[@]}" --plot history.svg -q >/dev/null
    for file in history.svg history.gp history.csv; do
        cmp "a 'folder'/$file" $file || fail "$file is not the same twice"
    done
    [ "$(ls "a 'folder'" | wc -l)" -eq 3 ] || fail "more than three files: $(ls "a 'folder'")"
    rm history.svg
    gnuplot history.gp
    cmp "a 'folder'/history.svg" history.svg || fail "the script draws something else"
    [ "$(wc -l <history.csv)" -eq 21 ] || fail "not a line a trial: $(cat history.csv)"
    if command -v python3 >/dev/null; then
        python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' history.svg
    fi
else
    echo "no gnuplot: nothing was drawn"
fi
if [ "$BUILD_KIND" != cross ]; then
    PATH=$PWD/nowhere "$SFUMATO" "${small[@]}" --plot bare.svg >page 2>stderr
    grep -q '^sfumato: warning: bare.svg: not drawn: gnuplot is not installed; the script and the data are bare.gp and bare.csv' stderr || fail "$(cat stderr)"
    [ -s bare.gp ] && [ -s bare.csv ] && [ ! -e bare.svg ] || fail "without gnuplot: $(ls)"
    ! grep -q 'plot written' page || fail "a plot that is not there: $(cat page)"
    printf '#!/bin/sh\necho "line 3: no such thing" >&2\nexit 3\n' >bin/gnuplot
    chmod +x bin/gnuplot
    "$SFUMATO" "${small[@]}" --plot bare.svg >page 2>stderr
    grep -q '^sfumato: warning: bare.svg: not drawn: gnuplot ended with status 3: "line 3: no such thing"; ' stderr || fail "$(cat stderr)"
    rm bin/gnuplot
fi

# ---- all trials diverge: one line, and a failure
code=0
sfumato tune "$data" gcn --space 'lr=(1e29,1e30)' --trials 3 --study memory >stdout 2>stderr || code=$?
[ "$code" -eq 1 ] && [ ! -s stdout ] && grep -q '^sfumato: all 3 trials diverged' stderr || fail "exit $code: $(cat stdout stderr)"

# ---- the location of a study: the printed form is accepted, memory has several names, invalid ones give one line
few=(tune "$data" gcn --epochs 2 --trials 3 --top 0)
sfumato "${few[@]}" --study sqlite:///url.db -q >url.page
url=$(sed -n 's/^  optuna-dashboard //p' url.page)
[ "$url" = sqlite:///url.db ] && [ -s url.db ] || fail "another file: $(ls), $(cat url.page)"
sfumato "${few[@]}" --study "$url" >/dev/null 2>stderr
grep -q 'all 3 trials are in url.db already' stderr || fail "the printed form is another study: $(cat stderr)"
sfumato "${few[@]}" --study "sqlite:///$PWD/url.db" >/dev/null 2>stderr
grep -q "all 3 trials are in $PWD/url.db already" stderr || fail "four slashes are another study: $(cat stderr)"
mkdir closed
chmod 555 closed
mkfifo pipe
ls -A >../before
for place in :memory: sqlite:// sqlite:///:memory: memory; do
    sfumato "${few[@]}" --study "$place" >/dev/null 2>stderr
    grep -q 'the study was in memory and is not saved' stderr || fail "$place: $(cat stderr)"
done
refused() { # EXIT STUDY TEXT: one line, with a remedy, and without the password
    local code=0
    sfumato "${few[@]}" --study "$2" >stdout 2>stderr || code=$?
    [ $code -eq "$1" ] && [ ! -s stdout ] && [ "$(wc -l <stderr)" -eq 1 ] && grep -qF "$3" stderr && ! grep -q horse stderr ||
        fail "--study $2: exit $code, $(cat stdout stderr)"
}
refused 2 file::memory: 'expected a path without "file:" before it, or memory'
refused 2 'file:x.db?mode=memory' 'expected a path without'
refused 2 'sqlite:///x.db?timeout=3' 'expected sqlite:///PATH'
refused 2 mysql://user:horse@host/db 'mysql://...: expected the path of an SQLite file, sqlite:///PATH, postgresql://'
refused 2 'host=x password=horse' 'found KEY=VALUE pairs'
refused 2 user:horse@host 'user@host: expected postgresql://'
refused 1 /dev/null '/dev/null: expected a file, found a device; give another path (--study PATH), or keep the study in memory'
refused 1 pipe 'pipe: expected a file, found a pipe; give another path'
refused 1 closed 'closed: expected a file, found a folder; a study in it is closed/study.db'
refused 1 none/x.db 'none/x.db: the folder none does not exist; make it first'
refused 1 other.safetensors 'not an SQLite database; give another path'
refused 1 /proc/x.db '/proc/x.db: cannot '
if sfumato --version | grep -q 'postgresql  *yes'; then
    for start in postgresql+psycopg2:// POSTGRESQL:// ' postgresql://' postgres://; do
        refused 1 "${start}user:h%6Frse@127.0.0.1:1/db?password=horse" 'postgresql://user@127.0.0.1:1/db: could not reach the server'
        refused 1 "${start}user:horse@127.0.0.1:1/db " 'postgresql://user@127.0.0.1:1/db: could not reach the server'
    done
    refused 2 'postgresql://user:a@horse@h/db' 'postgresql://...: expected postgresql://USER@HOST'
    refused 2 'postgresql://user:horse' 'postgresql://...: expected postgresql://USER@HOST'
fi
ls -A >../after
diff ../before ../after || fail "something was made"
# A password is not printed either if it was given in the wrong option.
! sfumato tune postgresql://user:horse@host/db gcn 2>stderr && ! sfumato tune "$data" gcn 'password=horse' 2>>stderr || fail "these are no use"
[ "$(wc -l <stderr)" -eq 2 ] && ! grep -q horse stderr || fail "a password: $(cat stderr)"
# A user without permissions, even if root runs this.
if [ "$(id -u)" -ne 0 ]; then
    refused 1 closed/x.db 'closed/x.db: cannot write in the folder closed: Permission denied; give another path'
elif command -v setpriv >/dev/null && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$SFUMATO" -a -r "$data"; then
    cp "$data" closed/it.safetensors
    (cd closed && ! setpriv --reuid 65534 --regid 65534 --clear-groups "$SFUMATO" tune it.safetensors gcn --trials 1 2>../stderr)
    grep -qE '^sfumato: it.gcn.[0-9a-f]*.db: cannot write in the folder .: Permission denied; give another path' stderr || fail "$(cat stderr)"
else
    echo "nobody without rights can run the program here"
fi

# ---- no leaks, if the build can detect them
if [ "${BUILD_KIND:-plain}" = sanitized ]; then
    ASAN_OPTIONS=detect_leaks=1 "$SFUMATO" tune "$data" any --trials 4 --epochs 2 --study leaks.db --plot leaks.svg -o leaks.model -q >/dev/null
fi

# ---- Ctrl-C: finished trials are kept, and the same command continues. Slow cases run concurrently.
long=("$SFUMATO" tune "$data" gcn --trials 100000 --epochs 20 --jobs 1)
line='^sfumato: tuning: [0-9,]+ of 100,000 trials, best [0-9.]+ % at [0-9]+(, [0-9,]+ failed)?, [0-9.,k]+ ?(k )?trials/s, [0-9:]+ left$'
interrupt kept "grep -qE '$line' kept.stderr" "${long[@]}" --study kept.db &
interrupt lost 'grep -q tuning: lost.stderr' "${long[@]}" --study memory --json &
if command -v script >/dev/null; then
    for columns in 40 80 100; do
        pattern='[0-9] of 100,000'
        [ $columns -lt 100 ] || pattern='[0-9]+ of 100,000 .*best .*trials/s'
        draw_bars $columns "$pattern" "'$SFUMATO'" tune "\"$data\"" gcn --trials 100000 --epochs 20 --jobs 1 --study memory &
    done
else
    echo "no script: no terminal to draw a bar on"
fi
wait
[ "$(cat kept.code)" -eq 130 ] && [ ! -s kept.stdout ] || fail "an interrupt: exit $(cat kept.code), $(cat kept.stdout kept.stderr)"
grep -qx 'sfumato: interrupted; [0-9,]* of 100,000 trials are saved in kept.db; run the same command again to resume' kept.stderr ||
    fail "an interrupt: $(cat kept.stderr)"
grep -qE "$line" kept.stderr || fail "no progress: $(cat kept.stderr)"
[ "$(cat lost.code)" -eq 130 ] && [ ! -s lost.stdout ] || fail "an interrupt: exit $(cat lost.code), $(cat lost.stdout lost.stderr)"
grep -qx 'sfumato: interrupted; the study was in memory and is lost' lost.stderr || fail "an interrupt: $(cat lost.stderr)"
kept=$(grep -oE 'interrupted; [0-9,]+' kept.stderr | tr -dc 0-9)
sfumato tune "$data" gcn --trials $((kept + 3)) --epochs 20 --study kept.db --export kept.csv --top 0 >/dev/null 2>stderr
grep -qE '^sfumato: resuming: [0-9,]+ of [0-9,]+ trials are in kept.db already$' stderr || fail "it does not go on: $(cat stderr)"
finished=$(grep -cE '^[0-9]+,(COMPLETE|FAIL),' kept.csv) # what had been asked for is trained too
[ "$finished" -ge $((kept + 3)) ] && [ "$finished" -eq $(($(wc -l <kept.csv) - 1)) ] || fail "$kept trials and 3 more are $finished"
if command -v script >/dev/null; then
    for columns in 40 80 100; do
        check_bars $columns
    done
    grep -qE '[0-9]+ of 100,000 .*best .*trials/s' bars || fail "no trials, best and rate: $(cat bars)"
fi
