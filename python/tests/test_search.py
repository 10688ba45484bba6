"""tune, compare and explain."""

import pytest

import sfumato


def test_tune(small, tmp_path):
    study = sfumato.tune(small, "smooth^$k | dense $h relu | softmax", space="practical k=[1..4] h={16,64}", trials=12,
                         study=tmp_path / "study.db")
    assert len(study) == 12 and set(study.best["params"]) == {"lr", "dropout", "weight_decay", "k", "h"}
    assert study.best["val_score"] == max(trial["val_score"] for trial in study.ranking)
    assert sum(study.importances.values()) == pytest.approx(1)
    assert "<svg" in study._repr_html_() and "12 trials" in repr(study)
    more = sfumato.tune(small, "smooth^$k | dense $h relu | softmax", space="practical k=[1..4] h={16,64}", trials=15,
                        study=tmp_path / "study.db")
    assert more.trials[:12] == study.trials and len(more) == 15
    fitted = study.estimator().fit(small, split="standard")
    assert fitted.scores_["val_accuracy"] == pytest.approx(study.best["val_accuracy"])


def test_trials_dataframe(small):
    pytest.importorskip("pandas")
    table = sfumato.tune(small, "sgcn", space="practical", trials=5).trials_dataframe()
    assert len(table) == 5 and "params_lr" in table.columns


def test_optuna(small):
    pytest.importorskip("optuna")
    study = sfumato.tune(small, "sgcn", space="practical", trials=5)
    assert study.optuna().best_value == study.best["val_score"]


def test_compare(small, tmp_path):
    found = sfumato.compare([small], nets=["sgcn", "mlp"], splits=2, trials=3, space="practical", folder=tmp_path / "r")
    assert {cell["net"] for cell in found.cells} == {"sgcn", "mlp"} and len(found.entries) == 4
    assert "sgcn" in str(found) and "<table" in found._repr_html_()
    again = sfumato.open_comparison(tmp_path / "r")
    assert [e["test_accuracy"] for e in again.entries] == [e["test_accuracy"] for e in found.entries]
    with pytest.raises(ValueError, match="two of them"):
        sfumato.compare([small, small])


def test_explain(small):
    plan = sfumato.explain(small, "gcn")
    assert "training step" in str(plan) and plan.steps("predict") and plan.cost()["predicted_s"] > 0
    assert plan.svg.startswith("<svg") and "<table" in plan._repr_html_()
    assert "measured" in str(sfumato.explain(small, "sgcn", measure=True))
    assert sfumato.draw("smooth | softmax").startswith("<svg")
    with pytest.raises(ValueError, match="unknown network") as raised:
        sfumato.explain(small, "gnc")
    assert "^" in str(raised.value)
