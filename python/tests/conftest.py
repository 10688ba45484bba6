"""Fixtures of the tests."""

import numpy as np
import pytest

import sfumato


@pytest.fixture(scope="session")
def citation():
    """The built-in dataset, of Cora's size."""
    return sfumato.Graph.load("citation")


@pytest.fixture(scope="session")
def small():
    """A graph of 200 nodes that trains in milliseconds."""
    return sfumato.Graph.make(nodes=200, classes=3, vocabulary=60, seed=1, name="small")


@pytest.fixture
def few(small):
    """Labels of `small` of which two thirds are hidden."""
    labels = np.array(small.labels)
    labels[np.arange(len(labels)) % 3 != 0] = -1
    return labels
