"""scikit-learn's rules: its checks of estimators, clone, Pipeline, GridSearchCV, pickling."""

import pickle

import numpy as np
import pytest

import sfumato

pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

EXPECTED = {}


@parametrize_with_checks(
    [sfumato.GraphClassifier(epochs=200), sfumato.Labeler(budget="steps:1")],
    expected_failed_checks=lambda estimator: EXPECTED.get(type(estimator).__name__, {}))
def test_estimator_checks(estimator, check):
    check(estimator)


def blobs():
    centers = np.array([[2, 0], [-1, 2], [-1, -2]])
    y = np.arange(90) % 3
    return centers[y] + np.random.default_rng(0).normal(scale=0.5, size=(90, 2)), np.array(["a", "b", "c"])[y]


def test_pipeline_and_grid():
    X, y = blobs()
    pipe = make_pipeline(StandardScaler(), sfumato.GraphClassifier("mlp", epochs=100))
    assert pipe.fit(X, y).score(X, y) > 0.9
    grid = GridSearchCV(sfumato.GraphClassifier("mlp", epochs=50), {"hidden": [4, 8], "lr": [0.01, 0.1]}, cv=3)
    grid.fit(X, y)
    assert grid.best_score_ > 0.9


def test_clone_and_pickle():
    X, y = blobs()
    first = sfumato.GraphClassifier("mlp", hidden=8, random_state=3).fit(X, y)
    again = clone(first)
    assert not hasattr(again, "model_") and again.hidden == 8
    assert np.array_equal(again.fit(X, y).predict_proba(X), first.predict_proba(X))
    assert np.array_equal(pickle.loads(pickle.dumps(first)).predict_proba(X), first.predict_proba(X))


def test_minus_one_is_a_class_without_a_graph():
    X, y = blobs()
    numbers = np.where(y == "a", -1, 1)
    assert set(sfumato.GraphClassifier("linear").fit(X, numbers).predict(X)) == {-1, 1}
