#!/usr/bin/env bash
# The demonstration in its quick form: it succeeds and produces what it announces. A second run gives the same.
. "$SOURCE/tests/support/transcript.sh"
for round in 1 2; do
    DEMO_OFFLINE=yes bash "$SOURCE/scripts/demo.sh" --quick "$PWD/demo" >"$round.out" 2>"$round.err" ||
        fail "run $round: $(cat "$round.out" "$round.err")"
    for file in labels.csv labels.safetensors labels.model.safetensors citation/report.html citation/results.csv; do
        [ -s "demo/$file" ] || fail "run $round leaves no $file: $(cat "$round.out")"
    done
    grep -q 'open it in a browser' "$round.out" || fail "run $round does not say where the report is"
    grep -q 'Cora is not installed' "$round.out" || fail "run $round says nothing of Cora"
    sha256sum demo/labels.csv demo/labels.model.safetensors demo/citation/results.csv >"$round.sums"
done
cmp 1.sums 2.sums || fail "the second run gives other bytes"
