"""Graphs: every way to make one, what it contains, who owns its memory."""

import gc
import pickle
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp

import sfumato
from sfumato import ArgumentError, Graph


def test_citation(citation):
    assert len(citation) == citation.n_nodes == 2708
    assert (citation.n_edges, citation.n_features, citation.n_classes) == (5283, 1433, 7)
    assert citation.adjacency.shape == (2708, 2708) and citation.adjacency.nnz == 2 * 5283
    assert citation.features.shape == (2708, 1433) and sp.issparse(citation.features)
    assert citation.class_counts.sum() == 2708 and len(citation.class_names) == 7
    assert sorted(citation.split("standard")) == ["test", "train", "val"]
    assert "2,708" in citation._repr_html_() and "2708 nodes" in repr(citation)


def test_from_scipy_gives_the_same_data(citation):
    again = Graph.from_scipy(citation.adjacency, citation.features, citation.labels, scale="none",
                             split=citation.split("standard"))
    assert again.digest == citation.digest and again.info["duplicates_dropped"] == 0


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_array", "dense", "bool", "int64"])
def test_adjacency_of_any_form(small, form):
    matrix = sp.csr_matrix(small.adjacency)
    given = {"csr_matrix": matrix, "csc_array": sp.csc_array(matrix), "coo_array": sp.coo_array(matrix),
             "dense": matrix.toarray(), "bool": matrix.astype(bool), "int64": matrix.astype(np.int64)}[form]
    made = Graph.from_scipy(given, small.features.toarray(), small.labels, scale="none")
    assert made.digest == Graph.from_scipy(small.adjacency, small.features, small.labels, scale="none").digest


def test_from_edges_and_weights():
    made = Graph.from_edges([0, 1, 2], [1, 2, 3], np.eye(4), [0, 1, 0, -1], weights=[1, 2, 3],
                            columns={"trust": [1, 2, 3, 4]}, class_names=["no", "yes"], node_names=list("abcd"),
                            feature_names=list("wxyz"))
    assert made.adjacency.toarray()[1, 2] == 2 and made.adjacency.toarray()[2, 1] == 2
    assert made.class_names == ["no", "yes"] and made.node_names == list("abcd") and made.feature_names == list("wxyz")
    assert made.labels.tolist() == [0, 1, 0, -1] and made.columns["trust"].tolist() == [1, 2, 3, 4]
    directed = Graph.from_edges([0], [1], nodes=2, directed=True)
    assert directed.adjacency.toarray().tolist() == [[0, 1], [0, 0]] and directed.labels is None


def test_from_pandas_is_the_import_of_csv_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    edges = pandas.DataFrame({"from": ["a", "b", "c", "d"], "to": ["b", "c", "d", "a"], "weight": [1, 2, 3, 0.5]})
    nodes = pandas.DataFrame({"who": list("abcd"), "age": [31, None, 27.5, 40], "city": ["x", "y", "x", None],
                              "topic": ["u", None, "v", ""]})
    edges.to_csv(tmp_path / "edges.csv", index=False)
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    files = Graph.from_files(edges=tmp_path / "edges.csv", nodes=tmp_path / "nodes.csv", label="topic")
    made = Graph.from_pandas(edges, nodes, label="topic")
    assert made.digest == files.digest and made.labels.tolist() == [0, -1, 1, -1] and made.notes
    assert Graph.from_pandas(edges, nodes.set_index("who"), label="topic").digest == files.digest
    turned = nodes[["age", "who", "city", "topic"]]
    assert Graph.from_pandas(edges, turned, label="topic", id="who").node_names == list("abcd")
    like = Graph.from_pandas(edges, nodes.drop(columns="topic").iloc[::-1], like=made)
    assert like.feature_names == made.feature_names
    assert np.array_equal(like.features[::-1], made.features)


def test_from_networkx():
    networkx = pytest.importorskip("networkx")
    club = networkx.karate_club_graph()
    made = Graph.from_networkx(club, label="club")
    assert (made.n_nodes, made.n_edges, made.class_names) == (34, 78, ["Mr. Hi", "Officer"])
    again = Graph.from_networkx(made.to_networkx(), label="label")
    assert again.digest == made.digest
    for node in club:
        club.nodes[node].update(x=[1.0, node], z=node / 2)
    assert Graph.from_networkx(club, "x", scale="none").features[3].tolist() == [1, 3]
    assert Graph.from_networkx(club, ["z", "x"], scale="none").features[3].tolist() == [1.5, 1, 3]
    with pytest.raises(ValueError, match="no attribute 'y'"):
        Graph.from_networkx(club, "y")


def test_from_pyg_by_its_attributes(small):
    class Data:  # what from_pyg reads of torch_geometric.data.Data
        edge_index = np.vstack(small.adjacency.tocoo().coords).astype(np.int64)
        x = small.features.toarray()
        y = small.labels.astype(np.int64)
        num_nodes = len(small)
        train_mask, val_mask, test_mask = (np.arange(200) % 3 == part for part in range(3))

        def is_directed(self):
            return False
    made = Graph.from_pyg(Data(), scale="none")
    assert (made.adjacency != small.adjacency).nnz == 0 and made.split("standard")["val"][1] == 4


def test_save_load_pickle(small, tmp_path):
    small.save(tmp_path / "small.safetensors")
    assert Graph.load(tmp_path / "small.safetensors").digest == small.digest
    again = pickle.loads(pickle.dumps(small))
    assert again.digest == small.digest and again.name == "small" and again.class_names == small.class_names


def test_with_labels(small, few):
    hidden = small.with_labels(few)
    assert hidden.labels.tolist() == few.tolist() and hidden.class_names == small.class_names
    assert (hidden.adjacency != small.adjacency).nnz == 0 and (hidden.features != small.features).nnz == 0


def test_noise(small):
    """The share is exact, shares of one seed are nested, and everything else stays."""
    half, all_gone = small.noise(remove=0.5, seed=3), small.noise(remove=1)
    assert half.n_edges == small.n_edges - int(0.5 * small.n_edges + 0.5) and all_gone.n_edges == 0
    more = small.noise(remove=0.7, seed=3)
    assert (half.adjacency - more.adjacency).min() == 0 and more.n_edges < half.n_edges
    rewired = small.noise(rewire=0.5, name="noisy")
    assert rewired.n_edges == small.n_edges and rewired.name == "noisy" and rewired.adjacency.diagonal().sum() == 0
    assert (rewired.adjacency != small.adjacency).nnz > 0 and (rewired.features != small.features).nnz == 0
    assert small.noise(rewire=0).digest == small.digest
    with pytest.raises(ArgumentError, match="from 0 to 1"):
        small.noise(remove=2)


def test_arrays_keep_their_memory():
    """An array of a graph is valid after the graph is gone, and cannot be written to."""
    made = Graph.make(nodes=500, classes=2, vocabulary=20)
    labels, matrix = made.labels, made.adjacency
    copy, total = labels.copy(), matrix.sum()
    made.close()
    del made
    gc.collect()
    Graph.make(nodes=500, classes=2, vocabulary=20, seed=9)
    assert np.array_equal(labels, copy) and matrix.sum() == total
    with pytest.raises(ValueError):
        labels[0] = 1
    with pytest.raises(ValueError):
        labels.flags.writeable = True


def test_closed():
    made = Graph.make(nodes=100, classes=2, vocabulary=20)
    made.close()
    made.close()
    for use in (lambda: made.labels, lambda: len(made), lambda: made.save("x"), lambda: made.split(),
                lambda: sfumato.GraphClassifier().fit(made), lambda: made.digest):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert "closed" in repr(made) and "closed" in made._repr_html_()


def test_the_same_memory_is_not_copied_first(small):
    """float32 and int32 arrays go to the library as they are."""
    from sfumato._arrays import floats, integers
    dense = np.ascontiguousarray(small.features.toarray(), np.float32)
    assert floats(dense, "x") is dense or np.shares_memory(floats(dense, "x"), dense)
    indices = small.adjacency.indices
    assert np.shares_memory(integers(indices, "i"), indices)


def test_program_opens_what_python_saved(small, tmp_path):
    import shutil
    program = shutil.which("sfumato")
    if program is None:
        pytest.skip("the program is not installed")
    small.save(tmp_path / "small.safetensors")
    found = subprocess.run([program, "data", "info", tmp_path / "small.safetensors"], capture_output=True, text=True)
    assert found.returncode == 0 and "200" in found.stdout
