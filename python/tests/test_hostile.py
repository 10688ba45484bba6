"""Bad input of every kind is an exception with one clear line, never a crash."""

import numpy as np
import pytest
import scipy.sparse as sp

import sfumato
from sfumato import Graph, GraphClassifier, Labeler

EYE = np.eye(4, dtype=np.float32)
RING = sp.csr_array(np.roll(EYE, 1, axis=1))


def broken(**parts):
    """A CSR array with parts that scipy would refuse."""
    made = RING.copy()
    for name, value in parts.items():
        setattr(made, name, value)
    return made


BAD_GRAPHS = [
    ("not square", lambda: Graph.from_scipy(np.ones((2, 3))), "square"),
    ("three dimensions", lambda: Graph.from_scipy(np.ones((2, 2, 2))), "square"),
    ("text", lambda: Graph.from_scipy("graph"), "adjacency"),
    ("none", lambda: Graph.from_scipy(None), "adjacency"),
    ("nan weight", lambda: Graph.from_scipy(EYE * np.nan), "finite"),
    ("negative weight", lambda: Graph.from_scipy(-np.roll(EYE, 1, axis=1)), "weight"),
    ("complex", lambda: Graph.from_scipy(EYE * 1j), "numbers"),
    ("objects", lambda: Graph.from_scipy(RING, np.array([["a"] * 2] * 4, object)), "numbers"),
    ("no nodes", lambda: Graph.from_scipy(np.ones((0, 0))), "nodes"),
    ("column out of range", lambda: Graph.from_scipy(broken(indices=np.array([1, 2, 3, 9], np.int32))), "9"),
    ("negative column", lambda: Graph.from_scipy(broken(indices=np.array([1, 2, 3, -1], np.int32))), "-1"),
    ("falling indptr", lambda: Graph.from_scipy(broken(indptr=np.array([0, 3, 1, 3, 4]))), "falls"),
    ("short indptr", lambda: Graph.from_scipy(broken(indptr=np.array([0, 4]))), "indptr"),
    ("long indptr", lambda: Graph.from_scipy(broken(indptr=np.array([0, 1, 2, 3, 400]))), "400"),
    ("short indices", lambda: Graph.from_scipy(broken(indices=np.array([1], np.int32))), "indptr|weights|shape"),
    ("short data", lambda: Graph.from_scipy(broken(data=np.array([2], np.float32))), "1 values"),
    ("rows of features", lambda: Graph.from_scipy(RING, EYE[:3]), "one row for each"),
    ("features of one dimension", lambda: Graph.from_scipy(RING, [1, 2, 3, 4]), "one row for each"),
    ("no columns", lambda: Graph.from_scipy(RING, np.zeros((4, 0))), "features"),
    ("nan feature", lambda: Graph.from_scipy(RING, EYE * np.nan), "finite"),
    ("huge feature", lambda: Graph.from_scipy(RING, EYE.astype(float) * 1e300), "float32"),
    ("sparse features out of range", lambda: Graph.from_scipy(RING, broken(indices=np.array([1, 2, 3, 9], np.int32))),
     "9"),
    ("short values of features", lambda: Graph.from_scipy(RING, broken(data=np.array([2], np.float32))), "features"),
    ("short indices of features", lambda: Graph.from_scipy(RING, broken(indices=np.array([1], np.int32))), "features"),
    ("sparse indptr of features", lambda: Graph.from_scipy(RING, broken(indptr=np.array([0, 4]))), "indptr"),
    ("labels of text", lambda: Graph.from_scipy(RING, EYE, ["a"] * 4), "whole numbers"),
    ("too few labels", lambda: Graph.from_scipy(RING, EYE, [0, 1]), "shape"),
    ("labels below -1", lambda: Graph.from_scipy(RING, EYE, [0, 1, -2, 0]), "-2"),
    ("huge labels", lambda: Graph.from_scipy(RING, EYE, [0, 1, 2**40, 0]), "fit"),
    ("fractional labels", lambda: Graph.from_scipy(RING, EYE, [0, 1, 0.5, 0]), "whole"),
    ("class names", lambda: Graph.from_scipy(RING, EYE, [0, 1, 2, 0], class_names=["a"]), "label|class"),
    ("class names of numbers", lambda: Graph.from_scipy(RING, EYE, [0, 1, 2, 0], class_names=[1, 2, 3]), "text"),
    ("zero byte", lambda: Graph.from_scipy(RING, EYE, [0, 0, 0, 0], class_names=["a\0b"]), "zero byte"),
    ("node names", lambda: Graph.from_scipy(RING, EYE, node_names=["a"]), "node_names"),
    ("feature names", lambda: Graph.from_scipy(RING, EYE, feature_names=["a"]), "feature_names"),
    ("columns", lambda: Graph.from_scipy(RING, EYE, columns={"c": [1, 2]}), "shape"),
    ("nan column", lambda: Graph.from_scipy(RING, EYE, columns={"c": [1, 2, 3, np.nan]}), "finite"),
    ("split part", lambda: Graph.from_scipy(RING, EYE, [0, 1, 0, 1], split={"tain": [0]}), "train"),
    ("split node", lambda: Graph.from_scipy(RING, EYE, [0, 1, 0, 1], split={"train": [7], "val": [1], "test": [2]}),
     "7"),
    ("scale", lambda: Graph.from_scipy(RING, EYE, scale="big"), "scale"),
    ("scale of another type", lambda: Graph.from_scipy(RING, EYE, scale=3), "scale"),
    ("duplicates", lambda: Graph.from_scipy(RING, EYE, duplicates=None), "duplicates"),
    ("directed", lambda: Graph.from_scipy(RING, EYE, directed="yes"), "True or False"),
    ("knn", lambda: Graph.from_scipy(RING, EYE, knn=2**40), "knn"),
    ("threads", lambda: Graph.from_scipy(RING, EYE, threads=1.5), "whole number"),
    ("name", lambda: Graph.from_scipy(RING, EYE, name=7), "text"),
    ("edges of two lengths", lambda: Graph.from_edges([0, 1], [1]), "one length"),
    ("edges below 0", lambda: Graph.from_edges([0, -1], [1, 2]), "-1"),
    ("edges beyond", lambda: Graph.from_edges([0, 1], [1, 2], nodes=2), "2"),
    ("edges of floats", lambda: Graph.from_edges([0.5], [1]), "whole"),
    ("number of nodes", lambda: Graph.from_edges([0], [1], nodes=-4), "nodes"),
    ("weights", lambda: Graph.from_edges([0], [1], weights=[1, 2]), "shape"),
    ("nothing to import", lambda: Graph.from_files(), "."),
    ("no such file", lambda: Graph.from_files(edges="/nonexistent/edges.csv"), "nonexistent"),
    ("decimal", lambda: Graph.from_files(edges="x", decimal=";"), "decimal"),
    ("like", lambda: Graph.from_files(edges="x", like=7), "expected"),
    ("load", lambda: Graph.load(7), "text"),
    ("not a table", lambda: Graph.from_pandas([1, 2]), "DataFrame"),
    ("size of a synthetic graph", lambda: Graph.make(nodes=-1), "nodes"),
    ("dict of objects", lambda: Graph.from_scipy(object()), "adjacency|array"),
]


@pytest.mark.parametrize("what,make,message", BAD_GRAPHS, ids=[case[0] for case in BAD_GRAPHS])
def test_bad_graphs(what, make, message):
    with pytest.raises((ValueError, OSError), match=message) as raised:
        make()
    assert "\n" not in str(raised.value)


def test_unknown_settings():
    for make in (lambda: Graph.from_files(edge="x"), lambda: Graph.make(node=1), lambda: Graph(7)):
        with pytest.raises(TypeError):
            make()


BAD_SETTINGS = [
    {"net": "gnc"}, {"net": 7}, {"net": ""}, {"net": "smooth |"}, {"net": "a\0b"}, {"hidden": 0}, {"hidden": 2**40},
    {"hidden": "64"}, {"hidden": 1.5}, {"k": -1}, {"lr": -1}, {"lr": float("nan")}, {"lr": "fast"}, {"dropout": 1.0},
    {"dropout": -0.1}, {"weight_decay": float("inf")}, {"loss": "max"}, {"metric": "beauty"}, {"metric": 3},
    {"epochs": 0}, {"epochs": -1}, {"epochs": 2**31}, {"patience": -1}, {"keep": "all"}, {"balanced": "yes"},
    {"validation_fraction": 0.9}, {"validation_fraction": float("nan")}, {"n_jobs": -5}, {"n_jobs": "all"},
    {"device": "gpu"}, {"device": "cuda:-1"}, {"device": 0}, {"device": "cpu\0"},
    {"random_state": -1}, {"random_state": 2**70}, {"random_state": "seed"},
]


@pytest.mark.parametrize("settings", BAD_SETTINGS, ids=str)
def test_bad_settings(small, settings):
    with pytest.raises(ValueError):
        GraphClassifier(**settings).fit(small)


BAD_SPLITS = ["", "standard", "random", "random:-1", "cv:2:0:0", "file:/nonexistent", 7, {}, {"train": []},
              {"train": [0, 0]}, {"train": [0], "val": [0]}, {"train": [200]}, {"train": [-1]}, {"train": "all"},
              {"train": [True]}, {"train": [[0, 1]]}, {"validation": [1]}, {"train": [0.5]}]


@pytest.mark.parametrize("split", BAD_SPLITS, ids=str)
def test_bad_splits(split):
    graph = Graph.from_scipy(sp.csr_array(np.eye(200)), np.eye(200), np.arange(200) % 2)
    with pytest.raises((ValueError, TypeError, OSError)):
        GraphClassifier().fit(graph, split=split)


def test_bad_estimator_input(small, few):
    clf = GraphClassifier("mlp")
    X, A = small.features, small.adjacency
    for wrong in (A[:10], A[:10, :10], "graph", 7, np.zeros(3)):
        with pytest.raises(ValueError):
            clf.fit(X, few, graph=wrong)
    for wrong in (few[:10], np.full(200, -1), few.reshape(100, 2), None):
        with pytest.raises(ValueError):
            clf.fit(X, wrong, graph=A)
    clf.fit(X, few, graph=A)
    for use in (clf.predict, clf.predict_proba, clf.embed):
        with pytest.raises(ValueError, match="features"):
            use(X[:, :10], graph=A)
        with pytest.raises(ValueError, match="features"):
            use(Graph.make(nodes=50, vocabulary=30, classes=2))
    with pytest.raises(ValueError):
        Labeler("steps:1").fit(X, np.where(few > 0, -1, few), graph=A)
    with pytest.raises(ValueError):
        Labeler("steps:1", coverage=2.0).fit(small)


def test_bad_search(small, tmp_path):
    (tmp_path / "not.db").write_text("this is no database, but long enough to be looked at")
    for call in (lambda: sfumato.tune(small, "gcn", space="lr=("), lambda: sfumato.tune(small, "gcn", trials=0),
                 lambda: sfumato.tune("graph"), lambda: sfumato.tune(small, "gcn", sampler="guess"),
                 lambda: sfumato.tune(small, "gcn", trials=2, study=tmp_path / "not.db"),
                 lambda: sfumato.tune(small, "gcn", trials=2, split={"train": [0, 1]}),
                 lambda: sfumato.compare([small], nets=["gnc"]), lambda: sfumato.compare([]),
                 lambda: sfumato.compare(["nonsense"], trials=1), lambda: sfumato.explain("graph", "gcn"),
                 lambda: sfumato.open_comparison(tmp_path / "nowhere"),
                 lambda: sfumato.Model.open(tmp_path / "nothing"),
                 lambda: sfumato.cross_val_score(GraphClassifier(), small, cv=1)):
        with pytest.raises((ValueError, OSError)):
            call()


def test_random_arguments():
    """A short fuzz run: random arrays of random types either make a graph or raise a ValueError."""
    rng = np.random.default_rng(0)
    types = [np.int8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64, bool, object]

    def array(shape):
        values = rng.choice([0, 1, 2, -1, 3, 0.5, np.nan, np.inf, 1e300, 2**31, -2**40], size=shape,
                            p=[0.3, 0.3, 0.1, 0.05, 0.1, 0.05, 0.02, 0.02, 0.02, 0.02, 0.02])
        with np.errstate(all="ignore"):
            return values.astype(rng.choice(types))
    made = 0
    for _ in range(500):
        n = int(rng.integers(0, 6))
        edges = int(rng.integers(0, 8))
        indptr = np.sort(rng.integers(0, edges + 1, size=n + 1)) if rng.random() < 0.8 else array((n + 1,))
        matrix = sp.csr_array((max(n, 1), max(n, 1)))
        matrix.indptr, matrix.indices, matrix.data = indptr, array((edges,)), array((edges,))
        try:
            with np.errstate(all="ignore"):
                graph = Graph.from_scipy(matrix, array((n, 3)) if rng.random() < 0.7 else None,
                                         array((n,)) if rng.random() < 0.7 else None)
            made += graph.n_nodes > 0 and graph.digest != ""
        except ValueError as error:
            assert "\n" not in str(error)
    for _ in range(200):
        try:
            made += len(Graph.from_edges(array((5,)), array((5,)), array((4, 2)), array((4,)), nodes=4)) == 4
        except ValueError as error:
            assert "\n" not in str(error)
    assert made > 5
