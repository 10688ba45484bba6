#!/usr/bin/env bash
# Names with terminal control sequences, from every source: escaped in output, unchanged in files.
fail() {
    echo "$*" >&2
    exit 1
}
command -v python3 >/dev/null || { echo "skipped: python3 makes the files"; exit 77; }
ESC=$'\033'
title="${ESC}]0;owned"$'\a' # sets the title of a terminal

# Prints its input if it contains a terminal control byte.
clean() { # WHAT FILE...
    local what=$1
    shift
    ! LC_ALL=C grep -q $'[\001-\010\013-\037\177]' "$@" || fail "$what: $(cat -v "$@" | head -20)"
    ! grep -q $'\u202e\|\u2028\|\u009b' "$@" || fail "$what turns the direction of writing"
}
run() { # CODE COMMAND...: prints no terminal control bytes
    local wanted=$1 code=0
    shift
    "$SFUMATO" "$@" >stdout 2>stderr </dev/null || code=$?
    [ "$code" -eq "$wanted" ] || fail "$*: exit $code, $(cat -v stderr)"
    clean "$*" stdout stderr
}

python3 - "$title" <<'END'
import sys
title = sys.argv[1]
names = [title + "%d" % i if i % 3 else "n\u202e%d" % i for i in range(90)]
quoted = lambda text: '"' + text.replace('"', '""') + '"'
classes = [title, "two\nlines\r", "\u009b2J\u2028"]
with open("edges.csv", "w") as f:
    f.write("from,to\n" + "".join("%s,%s\n" % (names[i], names[(i * k + 1) % 90]) for i in range(90) for k in (1, 3)))
with open("nodes.csv", "w", newline="") as f:
    f.write("node,%s,topic\n" % quoted("a" + title) +
            "".join("%s,%d,%s\n" % (n, i % 7, quoted(classes[i % 3]) if i % 4 else "") for i, n in enumerate(names)))
with open("columns.csv", "w") as f:
    f.write("node,%s\n" % quoted("year" + title) + "".join("%s,%d\n" % (n, i) for i, n in enumerate(names)))
END
data="da${title}ta"$'\n'.safetensors
model="mo${title}del.safetensors"

run 0 data import --edges edges.csv --nodes nodes.csv --label topic --columns columns.csv -o "$data"
grep -qF 'da\x1b]0;owned\x07ta' stdout || fail "import: $(cat stdout)"
run 0 data info "$data"
run 0 data split "$data" --split cv:3:0:0 -o "sp${title}lit.csv"
run 0 explain "$data" gcn --split cv:3:0:0 --svg "dr${title}awn.svg"
run 0 train "$data" gcn --epochs 3 --split cv:3:0:0 --report -o "$model"
grep -qF "Next: sfumato predict \$'da\\x1b]0;owned\\x07ta\\x0a.safetensors'" stdout || fail "train: $(cat stdout)"
# The printed command can be copied and gives the same.
(eval "sfumato() { \"$SFUMATO\" \"\$@\"; }; $(sed -n 's/^Next: //p' stdout)") >/dev/null || fail "the next command is not one"
run 0 predict "$data" "$model" --top 2 -o "la${title}bels.csv"
LC_ALL=C grep -q "$title" "la${title}bels.csv" || fail "a file does not have the names as they are"
run 0 data export "$data" -o "fo${title}lder"
(eval "sfumato() { \"$SFUMATO\" \"\$@\" -o back.safetensors; }; $(sed -n '/^To import/{n;p}' stdout)") >/dev/null ||
    fail "the command of export is not one"
"$SFUMATO" data info "$data" --json >one.json
"$SFUMATO" data info back.safetensors --json >two.json
python3 -c '
import json
one, two = (json.load(open(name)) for name in ("one.json", "two.json"))
assert one["digest"] == two["digest"] and one["classes"] == two["classes"], (one, two)
assert any("\x1b]0;owned\x07" == row["name"] for row in one["classes"])'
run 0 tune "$data" gcn --split cv:3:0:0 --trials 2 --epochs 2 --study memory
run 0 label "$data" --budget 1s --forget -o "found${title}.csv"
SFUMATO_DATA=$PWD run 0 data list
cp "$data" "$data"$'\u202e|<b>'.safetensors
run 0 compare "$data"$'\u202e|<b>'.safetensors --nets gcn,sgcn --splits 2 --trials 1 -o study
clean "tables" study/tables.md study/tables.tex study/report.html
grep -qF '\|\<b>' study/tables.md || fail "markdown: $(grep -m1 'b>' study/tables.md)"
run 0 report study
run 1 data info "no${title}"
run 2 train "$data" "gcn${title}"
run 2 "no${title}command"
run 2 data info --"no${title}option"

# Foreign files: names of tensors, metadata, invalid JSON.
python3 - "$title" <<'END'
import json, struct, sys
title = sys.argv[1]
def write(path, header):
    open(path, "wb").write(struct.pack("<Q", len(header)) + header)
meta = {"__metadata__": {"format": title}}
write("format.safetensors", json.dumps(meta).encode())
write("tensor.safetensors", json.dumps({title + "\n": {"dtype": title, "shape": [], "data_offsets": [0, 0]}}).encode())
write("offsets.safetensors", json.dumps({title: {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}).encode())
write("json.safetensors", b'{"a": ' + title.encode() + b"\n}")
END
for file in format tensor offsets json; do
    run 1 data info $file.safetensors
    [ "$(wc -l <stderr)" -eq 1 ] || fail "$file: not one line: $(cat -v stderr)"
done

# A terminal gets escaped lines of a CSV, too; a pipe gets the bytes.
"$SFUMATO" predict "$data" "$model" --top 1 -o - | LC_ALL=C grep -q "$title" || fail "a pipe does not get the bytes"
if command -v script >/dev/null; then
    cp "$data" d.safetensors
    cp "$model" m.safetensors
    TERM=xterm script -qec "'$SFUMATO' predict d.safetensors m.safetensors --top 1 -o -" log >/dev/null </dev/null
    tr -d '\r' <log | grep -v '^Script' >page
    grep -qF '\x1b]0;owned\x07' page || fail "a terminal: $(head -5 page | cat -v)"
    clean "a terminal" page
fi

# ---- invalid UTF-8: kept in node names, refused with a remedy where JSON must hold the name
printf 'from,to\nM\374ller,b\nb,c\nc,M\374ller\n' >edges.csv
printf 'node,age,topic\nM\374ller,1,caf\351\nb,2,x\nc,3,\n' >nodes.csv
run 1 data import --edges edges.csv --nodes nodes.csv --label topic -o latin.safetensors
grep -qF 'nodes.csv:2: the name of a class, "caf\xe9", is not UTF-8; convert the file with iconv -f LATIN1' stderr || fail "$(cat stderr)"
[ ! -e latin.safetensors ] || fail "a dataset that was refused is written"
printf 'node,\351ge\nM\374ller,1\nb,2\nc,3\n' >columns.csv
printf 'node,age,topic\nM\374ller,1,y\nb,2,x\nc,3,\n' >nodes.csv
run 1 data import --edges edges.csv --nodes nodes.csv --label topic --columns columns.csv -o latin.safetensors
grep -qF 'columns.csv:1: the name of a column, "\xe9ge", is not UTF-8' stderr || fail "$(cat stderr)"
run 0 data import --edges edges.csv --nodes nodes.csv --label topic -o latin.safetensors
run 0 data export latin.safetensors -o latin
LC_ALL=C grep -q $'^M\374ller,' latin/nodes.csv || fail "the name of a node is not as it was"
