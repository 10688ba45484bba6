"""GraphClassifier and Labeler with graphs."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import sfumato
from sfumato import ArgumentError, Graph, GraphClassifier, Labeler


def test_fit_and_predict(citation):
    standard = citation.split("standard")
    fitted = GraphClassifier("gcn", hidden=16).fit(citation, split="standard")
    assert fitted.scores_["test_accuracy"] > 0.78 and len(fitted.history_["val_loss"]) == fitted.scores_["epochs"]
    found = fitted.predict(citation)
    names = np.array(citation.class_names)[citation.labels]
    assert np.mean(found[standard["test"]] == names[standard["test"]]) == pytest.approx(fitted.scores_["test_accuracy"])
    chances = fitted.predict_proba(citation)
    assert chances.shape == (2708, 7) and chances.flags.owndata and np.allclose(chances.sum(axis=1), 1, atol=1e-5)
    assert fitted.embed(citation).shape == (2708, 16) and fitted.model_.net.startswith("smooth | dense 16")


def test_arrays_and_hidden_labels(small, few):
    fitted = GraphClassifier("sgcn", scale="unit").fit(small.features, few, graph=small.adjacency)
    assert fitted.classes_.tolist() == [0, 1, 2] and set(fitted.split_["train"]) | set(fitted.split_["val"]) == set(
        np.flatnonzero(few >= 0))
    assert fitted.predict(small.features, graph=small.adjacency).shape == (200,)
    other = Graph.make(nodes=50, classes=3, vocabulary=60, seed=2)
    assert fitted.predict_proba(other.features, graph=other.adjacency).shape == (50, 3)
    assert fitted.score(small.features, few, graph=small.adjacency) > 0.5
    with pytest.raises(ValueError, match="fitted with a graph"):
        fitted.predict(small.features)


@pytest.mark.parametrize("kind", ["text", "objects", "floats"])
def test_labels_of_any_type(small, few, kind):
    if kind == "floats":
        y = np.where(few < 0, np.nan, few.astype(float))
    else:
        y = np.array([None if label < 0 else "abc"[label] for label in few], object)
    if kind == "text":
        y[y == None] = float("nan")  # noqa: E711
    fitted = GraphClassifier("linear").fit(small.features, y, graph=small.adjacency)
    assert set(fitted.predict(small.features, graph=small.adjacency)) <= set(fitted.classes_)
    assert len(fitted.classes_) == 3


def test_labels_of_pandas(small, few):
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(["abc"[label] if label >= 0 else None for label in few])
    numbers = pandas.Series([label if label >= 0 else None for label in few], dtype="Int64")
    X = pandas.DataFrame(small.features.toarray())
    for labels in (y, y.astype("category"), numbers):
        fitted = GraphClassifier("sgcn").fit(X, labels, graph=small.adjacency)
        assert len(fitted.classes_) == 3 and len(fitted.predict(X, graph=small.adjacency)) == 200
    with pytest.raises(ValueError, match="one type"):
        GraphClassifier().fit(X, np.array([1, "a"] * 100, object), graph=small.adjacency)


def test_predict_frame(small):
    pytest.importorskip("pandas")
    fitted = GraphClassifier("sgcn").fit(small, split="random:0")
    table = fitted.predict_frame(small)
    assert table.index.name == "node" and list(table.columns[:2]) == ["label", "probability"]
    assert np.array_equal(table["label"], fitted.predict(small)) and table.shape == (200, 5)


def test_same_bytes_for_any_number_of_threads(small, tmp_path):
    for threads in (1, 2):
        GraphClassifier("gcn", n_jobs=threads).fit(small, split="random:0").save(tmp_path / f"{threads}.safetensors")
    assert (tmp_path / "1.safetensors").read_bytes() == (tmp_path / "2.safetensors").read_bytes()


def test_same_bytes_on_any_device(small, few, tmp_path):
    for device in ("auto", "cpu"):
        GraphClassifier("gcn", device=device).fit(small, split="random:0").save(tmp_path / f"{device}.safetensors")
    assert (tmp_path / "auto.safetensors").read_bytes() == (tmp_path / "cpu.safetensors").read_bytes()
    model = sfumato.Model.open(tmp_path / "auto.safetensors")
    for call in (model.predict, model.predict_proba, model.embed):
        assert np.array_equal(call(small), call(small, device="cpu"))
    assert model.evaluate(small) == model.evaluate(small, device="cpu")
    found = [Labeler("steps:1", nets="sgcn", device=device).fit(small.features, few, graph=small.adjacency).probabilities_
             for device in ("auto", "cpu")]
    assert np.array_equal(*found)


def test_unknown_devices(small, few):
    model = GraphClassifier("sgcn", epochs=2).fit(small, split="random:0").model_
    calls = (lambda: model.predict(small, device="gpu"), lambda: model.predict_proba(small, device="gpu"),
             lambda: GraphClassifier("gcn", epochs=2).fit(small).model_.embed(small, device="gpu"),
             lambda: model.evaluate(small, device="gpu"),
             lambda: Labeler("steps:1", device="gpu").fit(small.features, few, graph=small.adjacency))
    for call in calls:
        with pytest.raises(ArgumentError, match="expected auto, cpu, cuda or cuda:N"):
            call()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A graph in a file that takes more memory than the tests leave."""
    path = tmp_path_factory.mktemp("large") / "large.safetensors"
    sfumato.Graph.make(nodes=20000, classes=3, dense=256, name="large").save(path)
    return sfumato.Graph.load(path)


def a_bit_more_memory():
    """Bytes: what the process has reserved, and 24 MB."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGESIZE") + (24 << 20)


def test_same_bytes_within_a_memory_limit(large, tmp_path):
    for name in ("within", "without"):
        memory = a_bit_more_memory() if name == "within" else None
        GraphClassifier("sgcn", epochs=3, memory=memory, n_jobs=1).fit(large, split="standard").save(tmp_path / name)
    assert (tmp_path / "within").read_bytes() == (tmp_path / "without").read_bytes()
    model = sfumato.Model.open(tmp_path / "within")
    for call in (model.predict, model.predict_proba):
        assert np.array_equal(call(large), call(large, memory=a_bit_more_memory(), threads=1))
    assert model.evaluate(large) == model.evaluate(large, memory=a_bit_more_memory())


def test_a_memory_limit_is_for_the_cpu(small):
    model = GraphClassifier("sgcn", epochs=3, memory="64G").fit(small, split="standard").model_
    for call in (lambda: GraphClassifier("sgcn", device="cuda", memory="64G").fit(small, split="standard"),
                 lambda: model.predict(small, device="cuda", memory="64G"),
                 lambda: model.evaluate(small, device="cuda:0", memory="64G")):
        with pytest.raises(ArgumentError, match="only the CPU keeps a memory limit"):
            call()


def test_memory_limits_that_are_refused(large, small):
    with pytest.raises(sfumato.SfumatoError, match='whose smoothing is not learned and all before its first weights'):
        GraphClassifier("gcn", memory="1M").fit(large, split="standard")
    with pytest.raises(sfumato.SfumatoError, match="needs up to .* of memory, more than the limit of 1M"):
        GraphClassifier("sgcn", memory="1M").fit(large, split="standard")
    with pytest.raises(ArgumentError, match="memory: expected a number of bytes such as 8G"):
        GraphClassifier("sgcn", memory="much").fit(small, split="random:0")


@pytest.mark.parametrize("call", [
    lambda small, **memory: GraphClassifier("sgcn", epochs=2, **memory).fit(small, split="standard"),
    lambda small, **memory: GraphClassifier("sgcn", epochs=2).fit(small, split="standard").model_.predict(
        small, **memory),
    lambda small, **memory: sfumato.tune(small, "sgcn", trials=1, epochs=2, **memory),
    lambda small, **memory: sfumato.Graph.make(nodes=300, **memory)])
def test_one_rule_for_all_memory_limits(small, call):
    for memory in ("8g", "8192m", "8e9", "1.5T", 8 * 10**9, np.int64(8 * 10**9), None):  # tests of others hold memory
        call(small, memory=memory)
    for memory, why in ((0, "expected a whole number from 1"), (True, "found True"), (1.5, "expected a whole number"),
                        ("much", "expected a number of bytes such as 8G"), ("8GB", "such as 8G"), ("-1G", "such as 8G"),
                        (8, 'expected at least 1M, found 8 bytes .did you mean "8G"'), ("8", 'did you mean "8G"')):
        with pytest.raises(ArgumentError, match="memory: .*" + why):
            call(small, memory=memory)


def test_files_are_read_within_a_limit(tmp_path):
    (tmp_path / "edges.csv").write_text("from,to\na,b\nb,c\n")
    assert sfumato.Graph.from_files(edges=tmp_path / "edges.csv", memory="1g").n_nodes == 3
    with pytest.raises(ArgumentError, match="memory: expected a whole number from 1"):
        sfumato.Graph.from_files(edges=tmp_path / "edges.csv", memory=0)


def test_same_labels_within_a_memory_limit(large):
    labels = np.array(large.labels)
    labels[np.arange(len(labels)) % 200 != 0] = -1
    few = large.with_labels(labels)
    found = [Labeler("steps:1", nets="sgcn", n_jobs=1, memory=memory).fit(few).probabilities_
             for memory in (None, a_bit_more_memory())]
    assert np.array_equal(*found)
    with pytest.raises(sfumato.SfumatoError, match="one whose smoothing is not learned"):
        Labeler("steps:1", nets="gcn", memory="1M").fit(few)


def test_labels_cannot_be_shared_without_steps(small, few):
    with pytest.raises(sfumato.SfumatoError, match="share"):
        Labeler("1s", share="postgresql://127.0.0.1:1/none").fit(small.features, few, graph=small.adjacency)


def program(*arguments, **settings):
    return subprocess.run([sys.executable, "-m", "sfumato", *map(str, arguments)], capture_output=True, text=True,
                          **settings)


def needs_program():
    if program("--version").returncode != 0:
        pytest.skip("the program is not installed")


def test_same_bytes_as_the_program(small, tmp_path):
    needs_program()
    small.save(tmp_path / "small.safetensors")
    GraphClassifier("gcn", hidden=8, random_state=5).fit(small, split="random:1").save(tmp_path / "ours.safetensors")
    done = program("train", "small.safetensors", "gcn", "--hidden", 8, "--seed", 5, "--split", "random:1", "-o",
                   "theirs.safetensors", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()


def test_same_labels_as_the_program(small, few, tmp_path):
    needs_program()
    hidden = small.with_labels(few)
    hidden.save(tmp_path / "few.safetensors")
    fitted = Labeler("steps:3").fit(Graph.load(tmp_path / "few.safetensors"))
    fitted.save(tmp_path / "ours.safetensors")
    done = program("label", "few.safetensors", "--budget", "steps:3", "--model", "theirs.safetensors", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()


def test_labeler(small, few, tmp_path):
    fitted = Labeler("steps:3", metric="f1_macro", coverage=0.9).fit(small.with_labels(few))
    found = fitted.estimate_
    assert 0 < found["low"] <= found["accuracy"] <= found["high"] <= 1 and found["metric"] == "macro-f1"
    assert len(fitted.candidates_) == 3 and fitted.net_ in sfumato.nets()
    assert fitted.confusion_.sum() == found["held_out"] and fitted.labels_.shape == (200,)
    assert np.array_equal(fitted.predict(small), fitted.labels_)
    assert len(fitted.predict_sets(small)) == 200 and fitted.ask(5).shape == (5,)
    fitted.report(tmp_path / "one.html")
    again = pickle.loads(pickle.dumps(fitted))
    again.report(tmp_path / "two.html")
    assert (tmp_path / "one.html").read_text() == (tmp_path / "two.html").read_text()
    assert np.array_equal(again.predict_proba(small), fitted.predict_proba(small))
    with pytest.raises(ValueError, match="unpickling"):
        again.ask()
    assert "confidence interval" in fitted._repr_html_()


def test_candidates(small, few):
    for nets in ("gcn,mlp", ["mlp", "gcn"]):
        fitted = Labeler("steps:2", nets=nets).fit(small.with_labels(few))
        assert [one["net"] for one in fitted.candidates_] == ["mlp", "gcn"]
    for nets in ("", "gnc", [], 3):
        with pytest.raises(ValueError, match="candidate|expected text"):
            Labeler("steps:2", nets=nets).fit(small.with_labels(few))


@pytest.mark.parametrize("budget", ["", "60x", "steps:0", "-1s", "steps:1.5", "nan", None, [], "1e99h"])
def test_bad_budgets(small, budget):
    with pytest.raises(ValueError, match="budget"):
        Labeler(budget).fit(small)


def test_cross_val_score(small):
    scores = sfumato.cross_val_score(GraphClassifier("sgcn"), small, cv=4)
    assert scores.shape == (4,) and (scores > 0.4).all()
    assert sfumato.cross_val_score(Labeler("steps:1"), small, cv=3, metric="f1_macro").shape == (3,)


def test_model_and_evaluation(small, tmp_path):
    fitted = GraphClassifier("mlp").fit(small, split="random:0")
    fitted.save(tmp_path / "model.safetensors")
    model = sfumato.Model.open(tmp_path / "model.safetensors")
    assert np.array_equal(model.predict_proba(small), fitted.predict_proba(small))
    assert model.evaluate(small, fitted.split_["test"])["accuracy"] == pytest.approx(fitted.scores_["test_accuracy"])
    assert {name: array.shape for name, array in model.parameters.items()}["layer.0.weight"] == (60, 64)
    assert model.class_names == small.class_names


def test_diverged(small):
    with pytest.raises(sfumato.DivergedError):
        GraphClassifier("linear", lr=1e30, weight_decay=1e30, dropout=0.0, patience=0).fit(small, split="random:0")
