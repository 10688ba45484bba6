#!/usr/bin/env bash
# Optuna opens a study that was tuned on a PostgreSQL server, and has its own study beside it.
. "$SOURCE/tests/support/transcript.sh"
. "$SOURCE/tests/support/optuna_python.sh"
trials=48
if [ "$BUILD_KIND" = cross ] || ! "$SFUMATO" --version | grep -q 'postgresql  *yes'; then
    echo "skipped: this build has no PostgreSQL, or no server beside an emulated program" >&2
    exit 77
fi
need_optuna psycopg2 psycopg2-binary || exit $?
server=$(bash "$SOURCE/tests/support/postgres_server.sh" make $$) || exit $?
place="postgresql://sfumato@/postgres?host=$server"
"$SFUMATO" data make -o small.safetensors --nodes 300 --classes 3 --vocabulary 40 --words 6 --seed 7 >/dev/null
tune() {
    "$SFUMATO" tune small.safetensors any --space 'practical k=[1..3]' --epochs 8 --wave 8 --trials $trials -q "$@"
}
tune --study memory --export alone.csv >/dev/null
tune --study "$place" --study-name many >/dev/null
PLACE="postgresql+psycopg2://sfumato@/postgres?host=$server" TRIALS=$trials "$python" - <<'PY'
import csv, optuna, os
from optuna.trial import TrialState
optuna.logging.set_verbosity(optuna.logging.ERROR)
place, count = os.environ["PLACE"], int(os.environ["TRIALS"])
old = tuple(map(int, optuna.__version__.split(".")[:2])) < (3, 2)
storage = optuna.storages.RDBStorage(place, skip_compatibility_check=old)
study = optuna.load_study(study_name="many", storage=storage)
with open("alone.csv") as file:
    rows = list(csv.DictReader(file))
assert [t.number for t in study.trials] == list(range(count)) and len(rows) == count
for row, trial in zip(rows, study.trials):
    assert trial.state.name == row["state"]
    assert {n: v for n, v in row.items() if n in trial.params and v != ""}.keys() == trial.params.keys()
    for name, value in trial.params.items():
        assert row[name] == value if isinstance(value, str) else float(row[name]) == value, (row, trial.params)
    if trial.state == TrialState.COMPLETE:
        assert trial.value == float(row["val_accuracy"])
        assert trial.datetime_start <= trial.datetime_complete
winner = study.user_attrs["sfumato:winner"]["number"]
assert study.trials[winner].value == study.best_value
# Python has its own study beside ours, in the same database.
beside = optuna.create_study(study_name="beside", storage=storage)
beside.optimize(lambda t: t.suggest_float("x", -1, 1) ** 2, n_trials=3)
print("Optuna reads", len(study.trials), "trials from PostgreSQL")
PY
tune --study "$place" --study-name many --export again.csv >/dev/null
cmp alone.csv again.csv || fail "with another study beside it, the study reads otherwise"
"$SFUMATO" tune small.safetensors any --epochs 8 --wave 8 --trials $trials -q --study "$place" --study-name many --export kept.csv >/dev/null
cmp alone.csv kept.csv || fail "without --space the study has another space than its own"

# Python enqueues a trial and adds a result: the first is trained, the second does not win.
PLACE="postgresql+psycopg2://sfumato@/postgres?host=$server" "$python" - <<'PY'
import optuna, os
optuna.logging.set_verbosity(optuna.logging.ERROR)
old = tuple(map(int, optuna.__version__.split(".")[:2])) < (3, 2)
storage = optuna.storages.RDBStorage(os.environ["PLACE"], skip_compatibility_check=old)
study = optuna.load_study(study_name="many", storage=storage)
best = study.best_trial
study.enqueue_trial({"net": "gcn", "lr": 0.02})
study.add_trial(optuna.trial.create_trial(params=best.params, distributions=best.distributions, value=0.999))
study.enqueue_trial({"colour": 3})
PY
tune --study "$place" --study-name many --json --export added.csv >added.json
grep -q '"observed": 1,' added.json || fail "the added result is not observed"
grep -q '"skipped": 1,' added.json || fail "the unfit trial is not skipped"
grep -q '^48,COMPLETE,.*,gcn,0.02,' added.csv || fail "the enqueued trial is not trained"
head -n 49 added.csv | cmp - alone.csv || fail "added trials change the others"
