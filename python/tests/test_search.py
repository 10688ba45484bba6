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
    assert [(pair["one"], pair["other"]) for pair in found.rank_pairs] == [("sgcn", "mlp")]
    assert all(rank["low"] <= rank["rank"] <= rank["high"] for rank in found.ranks)
    assert "sgcn" in str(found) and "<table" in found._repr_html_()
    again = sfumato.open_comparison(tmp_path / "r")
    assert [e["test_accuracy"] for e in again.entries] == [e["test_accuracy"] for e in found.entries]
    with pytest.raises(ValueError, match="two of them"):
        sfumato.compare([small, small])


def test_same_study_within_a_memory_limit(small):
    studies = [sfumato.tune(small, "sgcn", space="practical", trials=5, memory=memory) for memory in (None, "64G")]
    assert studies[0].trials == studies[1].trials
    with pytest.raises(sfumato.SfumatoError, match="more than the limit of 1M"):
        sfumato.tune(small, "sgcn", space="practical", trials=5, memory="1M")


def test_a_database_that_is_not_there(small):
    with pytest.raises(sfumato.SfumatoError, match="127.0.0.1|PostgreSQL"):
        sfumato.compare([small], nets=["sgcn"], splits=1, trials=2, space="practical",
                        share="postgresql://127.0.0.1:1/none")


def test_explain(small):
    plan = sfumato.explain(small, "gcn")
    assert "training step" in str(plan) and plan.steps("predict") and plan.cost()["predicted_s"] > 0
    assert plan.svg.startswith("<svg") and "<table" in plan._repr_html_()
    assert "measured" in str(sfumato.explain(small, "sgcn", measure=True))
    assert sfumato.draw("smooth | softmax").startswith("<svg")
    with pytest.raises(ValueError, match="unknown network") as raised:
        sfumato.explain(small, "gnc")
    assert "^" in str(raised.value)


def test_devices(small, tmp_path):
    """A study begun on one device goes on with another; an unknown one is refused."""
    studies = [sfumato.tune(small, "sgcn", trials=trials, study=tmp_path / "study.db", device=device)
               for trials, device in ((4, "auto"), (6, "cpu"))]
    assert studies[1].trials[:4] == studies[0].trials
    assert studies[0].trials == sfumato.tune(small, "sgcn", trials=4, device="cpu").trials
    small.save(tmp_path / "small.safetensors")
    compared = [sfumato.compare(tmp_path / "small.safetensors", ["sgcn"], splits=splits, trials=2, folder=tmp_path / "r",
                                device=device)
                for splits, device in ((1, "auto"), (2, "cpu"))]
    assert [len(one.entries) for one in compared] == [1, 2]
    for call in (lambda: sfumato.tune(small, "sgcn", trials=2, device="gpu"),
                 lambda: sfumato.compare(small, ["sgcn"], splits=1, trials=2, device="gpu"),
                 lambda: sfumato.explain(small, "sgcn", device="gpu")):
        with pytest.raises(sfumato.ArgumentError, match="expected auto, cpu, cuda or cuda:N"):
            call()
