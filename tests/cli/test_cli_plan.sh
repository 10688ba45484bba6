#!/usr/bin/env bash
# explain and bench as transcripts. No rates were measured in the folder of a test, so the predicted times are those of the
# nominal machine, the same everywhere.
. "$SOURCE/tests/support/transcript.sh"

part "the plan"
run explain citation sgcn
run explain citation gcn --hidden 16 -k 3 --dropout 0 --quiet
part "beside the one without rewrites"
run explain citation 'softmax | smooth^2' --plain --quiet
part "the picture"
run explain citation mlp --svg network.svg --quiet
note "$(head -c 5 network.svg)"
part "what cannot be planned"
run explain citation
run explain citation gnc
run explain citation lpnn
run explain citation 'dense 16 relu | softmax | softmax'
run explain nothing gcn
run explain citation gcn --dropout 1
run explain citation gcn --size 9
run explain citation gcn --svg /nowhere/network.svg
run bench citation
run bench citation gnc
run bench nothing gcn
compare plan

# Equal steps of many blocks are one line.
"$SFUMATO" data make --nodes 12000 -o blocks.safetensors --quiet >/dev/null
"$SFUMATO" explain blocks.safetensors gcn --split holdout:0 --size 9000 --quiet >blocks.txt
"$SFUMATO" explain blocks.safetensors gcn --split holdout:0 --size 9000 --quiet --json >blocks.json
[ "$(grep -c '^    dW1 += ' blocks.txt)" = 1 ] && grep -q "^    dW1 += .* spmm, $(grep -o '"dW1 += ' blocks.json | wc -l) times$" \
    blocks.txt || fail "$(cat blocks.txt)"

# ---- for scripts
if command -v python3 >/dev/null; then
    "$SFUMATO" explain citation gcn --measure --plain --threads 1 --json --quiet >plan.json
    "$SFUMATO" bench citation sgcn --json --quiet >bench.json
    "$SFUMATO" explain citation sgcn --json --quiet >measured.json
    python3 - <<'PY'
import json
plan = json.load(open("plan.json"))
assert plan["net"] == "smooth | dense 64 relu | smooth | softmax", plan["net"]
step_keys = set("op rows cols flops bytes predicted_s measured_s why".split())
for passes in (plan, plan["plain"]):
    for key in ("train", "evaluate", "predict"):
        one = passes[key]
        assert {"steps", "predicted_s", "measured_s", "memory_bytes"} <= set(one)
        assert one["steps"] and all(step_keys <= set(step) for step in one["steps"])
        assert all(step["measured_s"] > 0 and step["predicted_s"] > 0 for step in one["steps"])
        assert abs(sum(step["predicted_s"] for step in one["steps"]) - one["predicted_s"]) < 1e-9
        assert one["memory_bytes"] > 0 and one["measured_s"] > 0
assert all(plan["plain"][key]["predicted_s"] >= plan[key]["predicted_s"] for key in ("train", "evaluate", "predict"))
paper = plan["paper_cost"]
assert set("formula L L_l n N_E d M value".split()) <= set(paper)
n, d, M, L, N_E = (paper[key] for key in ("n", "d", "M", "L", "N_E"))
assert abs(paper["value"] - (L * N_E * d + L * n * d * d + n * d * M)) < 1, paper
bench = json.load(open("bench.json"))
rates = {rate["what"]: rate["value"] for rate in bench["rates"]}
assert {"read L1", "read memory"} <= set(rates) and all(value > 0 for value in rates.values()), rates
assert 0 < bench["train"]["floor_s"] and 0 < bench["epoch"]["measured_s"] and 0 < bench["epoch"]["predicted_s"]
for whole in (bench["epoch"], bench["predict"]):
    assert 0 < whole["measured_s"] < 1.0001 * whole["low_s"] and whole["low_s"] <= whole["median_s"] <= whole["high_s"], whole
# explain predicts with the rates that bench has measured.
predicted = json.load(open("measured.json"))["train"]["predicted_s"]
assert abs(predicted - bench["train"]["predicted_s"]) < 1e-12
PY
    rm -r "$XDG_CACHE_HOME"
else
    echo "no python3: --json was not parsed"
fi
if [ "${BUILD_KIND:-plain}" = plain ]; then # measuring again takes long in the others
    "$SFUMATO" bench --no-keep --quiet >rates.txt
    grep -q '^  read L2 ' rates.txt || fail "no rates: $(cat rates.txt)"
    [ ! -e "$XDG_CACHE_HOME" ] || fail "--no-keep kept something"
fi
