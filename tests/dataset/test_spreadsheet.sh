#!/usr/bin/env bash
# CSV files for spreadsheets: names that would be run as formulas are prefixed with ', numbers are not changed.
fail() {
    echo "$*" >&2
    exit 1
}
has() { # FILE LINE
    grep -qxF -- "$2" "$1" || fail "$1 has no line '$2': $(head -12 "$1")"
}

# Nodes "=0", "-1" (a number), "@2", ... in a ring, classes "=cmd|x" and "-plus".
python3 - <<'END' 2>/dev/null || { echo "skipped: python3 makes the files"; exit 77; }
names = [("=%d", "%d", "-%d", "@%d", "+x%d", "'=%d")[i % 6] % i for i in range(60)]
with open("edges.csv", "w") as f:
    f.write("from,to\n" + "".join("%s,%s\n" % (names[i], names[(i + 1) % 60]) for i in range(60)))
with open("nodes.csv", "w") as f:
    f.write("node,=age,topic\n" + "".join("%s,%d,%s\n" % (n, i % 7, ("=cmd|x", "-plus")[i // 30] if i % 5 else "")
                                         for i, n in enumerate(names)))
END
"$SFUMATO" data import --edges edges.csv --nodes nodes.csv --label topic -q -o odd.safetensors >/dev/null
"$SFUMATO" train odd.safetensors gcn --epochs 3 --split cv:3:0:0 -q -o model.safetensors >/dev/null

# ---- without the option, the bytes as they are
"$SFUMATO" predict odd.safetensors model.safetensors --top 1 -o plain.csv >/dev/null
grep -q '^=0,' plain.csv || fail "plain: $(head -3 plain.csv)"
"$SFUMATO" data export odd.safetensors -o plain >/dev/null
has plain/edges.csv '=0,1'

# ---- with it
"$SFUMATO" predict odd.safetensors model.safetensors --spreadsheet -o sheet.csv >/dev/null
head -1 sheet.csv | grep -qF "node,label,probability,'-plus,'=cmd|x" || fail "header: $(head -1 sheet.csv)"
for start in "'=0," "1," "-2," "'@3," "'+x4," "''=5,"; do
    grep -q "^$start" sheet.csv || fail "no line begins with $start: $(head -8 sheet.csv)"
done
"$SFUMATO" data export odd.safetensors --spreadsheet -o sheet >stdout
! grep -q 'import it again' stdout || fail "an export for spreadsheets says how it is read back"
has sheet/edges.csv "'=0,1"
grep -qE "^(node,'=age|'=0,'=age,0)" sheet/features.csv || fail "features: $(head -3 sheet/features.csv)"
"$SFUMATO" data split odd.safetensors --split cv:3:0:0 --spreadsheet -o split.csv >/dev/null
grep -q "^'@3,[tv]" split.csv || fail "split: $(head -3 split.csv)"
for option in '' --spreadsheet; do
    "$SFUMATO" tune odd.safetensors gcn --split cv:3:0:0 --trials 2 --epochs 2 --study memory $option \
        --export "trials$option.csv" -q >/dev/null
done
cmp trials.csv trials--spreadsheet.csv || fail "tune: nothing in this table could be a formula"
"$SFUMATO" label odd.safetensors --budget steps:8 --forget --spreadsheet -o labels.csv -q >/dev/null
grep -q "^'=0,'[=-]" labels.csv && ! grep -q '^[=@+]' labels.csv || fail "label: $(cat labels.csv)"

# ---- the table of a comparison is always safe, and is read back
cp odd.safetensors =odd.safetensors
SFUMATO_DATA=$PWD "$SFUMATO" compare ./=odd.safetensors --nets gcn,sgcn --splits 2 --trials 1 -q -o study >/dev/null 2>stderr ||
    fail "compare: $(cat stderr)"
grep -q "^'=odd," study/results.csv || grep -q "^./=odd" study/results.csv || fail "compare: $(head -3 study/results.csv)"
"$SFUMATO" report study -q >/dev/null
grep -qF '=odd' study/tables.md || fail "report: $(head -20 study/tables.md)"
! grep -qF "'=odd" study/tables.md || fail "report shows the '"
