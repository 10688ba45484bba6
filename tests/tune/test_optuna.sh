# Our studies opened by Optuna itself: the latest release from pip, or the installed one.
. "$SOURCE/tests/support/optuna_python.sh"
say() { printf '%s\n' "$*" >&2; }

need_optuna || exit $?
mapfile -t stamp < <(optuna_stamp)

"$SFUMATO" data make -q -o toy.safetensors --nodes 300 --vocabulary 60 >/dev/null
tune() {
    "$SFUMATO" tune toy.safetensors any --space 'practical k=[1..3]' --wave 8 --epochs 30 --study study.db \
        --study-name toy --enqueue 'net=gcn lr=0.01' "$@"
}
# Skips if the program was built without studies in files.
if ! tune -q "${stamp[@]}" --trials 24 >first 2>error; then
    cat error >&2
    grep -q 'no SQLite' error && exit 77
    exit 1
fi
tune -q "${stamp[@]}" --trials 48 --json --export trials.csv >ours.json

cat >look.py <<'PY'
import csv, math, optuna
from optuna.trial import TrialState
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.load_study(study_name=None, storage="sqlite:///study.db")
trials = study.trials
assert study.study_name == "toy", study.study_name
assert study.direction == optuna.study.StudyDirection.MAXIMIZE
assert [t.number for t in trials] == list(range(48))
assert all(t.state in (TrialState.COMPLETE, TrialState.FAIL) for t in trials)
complete = [t for t in trials if t.state == TrialState.COMPLETE]
assert len(complete) > 30
for t in complete:
    assert set(t.user_attrs) >= {"seed", "val_loss", "epochs", "best_epoch"}, t.user_attrs
    assert isinstance(t.user_attrs["seed"], int) and 0 <= t.user_attrs["seed"] < 2**53
    assert 0 <= t.value <= 1 and t.datetime_start <= t.datetime_complete
    for name, distribution in t.distributions.items():
        assert distribution._contains(distribution.to_internal_repr(t.params[name])), (name, t.params)
# The winner by our rule is one of the best by Optuna's.
number = study.user_attrs["sfumato:winner"]["number"]
best = max(complete, key=lambda t: (t.value, -t.user_attrs["val_loss"], -t.number))
assert best.number == number, (best.number, number)
assert study.best_value == best.value == study.best_trial.value
# The enqueued point.
assert trials[0].params["net"] == "gcn" and trials[0].params["lr"] == 0.01
assert trials[0].system_attrs["fixed_params"]["net"] == "gcn", trials[0].system_attrs
# The table agrees with the study.
with open("trials.csv") as file:
    rows = list(csv.DictReader(file))
assert len(rows) == 48
for row, t in zip(rows, trials):
    for name, value in t.params.items():
        if name in row:
            assert row[name] == value if isinstance(value, str) else float(row[name]) == value, (row, t.params)
try:
    import pandas
except ImportError:
    print("no pandas: the dataframe is not looked at")
else:
    frame = study.trials_dataframe()
    assert len(frame) == 48 and "user_attrs_val_loss" in frame and "params_lr" in frame, list(frame)
    assert any("val_accuracy" in column for column in frame), list(frame)
if hasattr(optuna.importance, "PedAnovaImportanceEvaluator"):
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    assert found and math.isclose(sum(found.values()), 1), found
print("looked at", len(trials), "trials; best", best.number, best.value)
PY
"$python" look.py

# The tables are exactly Optuna's, plus two of ours.
cat >schema.py <<'PY'
import optuna, sqlite3
optuna.logging.set_verbosity(optuna.logging.ERROR)
optuna.create_study(study_name="x", storage="sqlite:///theirs.db")
def schema(path):
    rows = sqlite3.connect(path).execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    return {(r[0], r[1]): "".join((r[3] or "").split()) for r in rows if "sfumato" not in r[2]}
ours, theirs = schema("study.db"), schema("theirs.db")
assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
for key in ours:
    assert ours[key] == theirs[key], (key, ours[key], theirs[key])
def rows(path, table):
    return sqlite3.connect(path).execute("SELECT * FROM " + table).fetchall()
assert rows("study.db", "alembic_version") == rows("theirs.db", "alembic_version")
assert rows("study.db", "version_info")[0][:2] == rows("theirs.db", "version_info")[0][:2]
PY
"$python" schema.py

# The dashboard answers.
if "$python" -c 'import optuna_dashboard' 2>/dev/null; then
    cat >dashboard.py <<'PY'
import json, threading, urllib.request, optuna
from wsgiref.simple_server import WSGIRequestHandler, make_server
from optuna_dashboard import wsgi
class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass
optuna.logging.set_verbosity(optuna.logging.ERROR)
server = make_server("127.0.0.1", 0, wsgi(optuna.storages.RDBStorage("sqlite:///study.db")), handler_class=Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
def get(path):
    with urllib.request.urlopen("http://127.0.0.1:%d%s" % (server.server_port, path)) as answer:
        return json.load(answer)
studies = get("/api/studies")["study_summaries"]
assert [s["study_name"] for s in studies] == ["toy"], studies
study = get("/api/studies/%d" % studies[0]["study_id"])
assert len(study["trials"]) == 48, study.keys()
server.shutdown()
PY
    "$python" dashboard.py
else
    say "no optuna-dashboard: it is not looked at"
fi

# Python runs its own study in the same file while ours continues.
cat >beside.py <<'PY'
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.create_study(study_name="beside", storage="sqlite:///study.db")
study.optimize(lambda t: (t.suggest_float("x", -1, 1) - 0.5) ** 2, n_trials=5)
PY
"$python" beside.py
tune -q --trials 56 >/dev/null
"$python" -c '
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
assert len(optuna.load_study(study_name="toy", storage="sqlite:///study.db").trials) == 56
assert len(optuna.load_study(study_name="beside", storage="sqlite:///study.db").trials) == 5
'

# In ours it may enqueue trials and add results. test_store_foreign.c has the same rows as SQL.
cat >add.py <<'PY'
import optuna
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState, create_trial
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.load_study(study_name="toy", storage="sqlite:///study.db")
best = study.best_trial
study.enqueue_trial({"net": "gcn", "lr": 0.02})                                         # 56: is trained
study.enqueue_trial({"net": "gcn", "lr": 1e6})                                          # 57: is skipped
study.add_trial(create_trial(params=best.params, distributions=best.distributions, value=0.999))  # 58: is observed
study.add_trial(create_trial(params={"lr": 0.01}, distributions={"lr": best.distributions["lr"]}, value=0.1))
study.add_trial(create_trial(state=TrialState.FAIL))
study.add_trial(best)                                                                   # 61: a copy, with our seed
PY
"$python" add.py
tune --trials 64 --json --export trials.csv >added.json 2>error
grep -q '"trials": 65,' added.json
grep -q '"observed": 2,' added.json
grep -q '"skipped": 3,' added.json
grep -q '3 trials of another program were skipped; the first: trial 57 has a value outside the range of lr' error
"$python" -c '
import json, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.load_study(study_name="toy", storage="sqlite:///study.db")
asked = study.trials[56]
assert asked.params["net"] == "gcn" and asked.params["lr"] == 0.02 and asked.user_attrs["val_loss"] > 0, asked
assert study.trials[57].state == optuna.trial.TrialState.WAITING
assert json.load(open("added.json"))["best"]["number"] not in (58, 61)
assert len(study.trials) == 70
# It takes the waiting trial, which was skipped, and begins one of its own.
one, other = study.ask(), study.ask()
assert (one.number, other.number) == (57, 70), (one.number, other.number)
'
tune -q --trials 66 --json >asked.json
grep -q '"trials": 67,' asked.json
