"""From arrays to labels: the same GCN through the Python package, scikit-network and PyTorch Geometric, in one run.

usage: python_fit.py [--rounds 5] [DATASET]     DATASET: a name or file that sfumato opens; citation

Each round starts one process per way, in turn. A process loads the arrays (not timed), imports its package, trains GCN
with 64 hidden units and the default settings of this project (Adam 0.01, weight decay 5e-4, dropout 0.5, at most 500
epochs, stopping after 25 without a better validation accuracy), predicts every node, and prints seconds of the import
and of the rest, and the test accuracy. scikit-network has neither dropout nor weight decay. Medians are printed, in
seconds. Ways whose package is not installed are left out.
"""
import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse as sp

PACKAGES = {"sfumato": "sfumato", "sknetwork": "sknetwork", "pyg": "torch_geometric"}


def with_sfumato(A, X, y, split, _classes):
    begin = time.perf_counter()
    import sfumato

    sfumato.GraphClassifier
    imported = time.perf_counter()
    clf = sfumato.GraphClassifier("gcn", hidden=64).fit(X, y, graph=A, split=split)
    labels = clf.predict(X, graph=A)
    return imported - begin, time.perf_counter() - imported, labels


def with_sknetwork(A, X, y, split, classes):
    begin = time.perf_counter()
    from sknetwork.gnn import GNNClassifier

    imported = time.perf_counter()
    labels = np.full(len(y), -1)
    known = np.concatenate([split["train"], split["val"]])
    labels[known] = y[known]
    model = GNNClassifier([64, classes], "Conv", ["Relu", "Softmax"], learning_rate=0.01, early_stopping=True,
                          patience=25)
    found = model.fit_predict(sp.csr_matrix(A), sp.csr_matrix(X), labels, n_epochs=500, random_state=0,
                              validation=len(split["val"]) / len(known))
    return imported - begin, time.perf_counter() - imported, found


def with_pyg(A, X, y, split, classes):
    begin = time.perf_counter()
    import torch
    import torch.nn.functional as F
    from torch_geometric.nn import GCNConv

    imported = time.perf_counter()
    torch.manual_seed(0)
    coo = A.tocoo()
    edges = torch.from_numpy(np.vstack([coo.row, coo.col]).astype(np.int64))
    x, target = torch.from_numpy(X.toarray()), torch.from_numpy(y.astype(np.int64))
    train, val = (torch.from_numpy(split[part].astype(np.int64)) for part in ("train", "val"))
    first, last = GCNConv(x.shape[1], 64, cached=True), GCNConv(64, classes, cached=True)
    weights = [*first.parameters(), *last.parameters()]
    optimizer = torch.optim.Adam(weights, lr=0.01, weight_decay=5e-4)

    def forward(training):
        h = F.relu(first(F.dropout(x, 0.5, training), edges))
        return last(F.dropout(h, 0.5, training), edges)
    best, kept, since = -1.0, None, 0
    for _ in range(500):
        optimizer.zero_grad()
        F.cross_entropy(forward(True)[train], target[train]).backward()
        optimizer.step()
        with torch.no_grad():
            accuracy = (forward(False)[val].argmax(1) == target[val]).float().mean().item()
        if accuracy > best:
            best, kept, since = accuracy, [w.detach().clone() for w in weights], 0
        else:
            since += 1
            if since == 25:
                break
    with torch.no_grad():
        for w, value in zip(weights, kept):
            w.copy_(value)
        labels = forward(False).argmax(1).numpy()
    return imported - begin, time.perf_counter() - imported, labels


WAYS = {"sfumato": with_sfumato, "sknetwork": with_sknetwork, "pyg": with_pyg}


def child(way, path):
    arrays = np.load(path)
    A = sp.csr_array((arrays["weight"], arrays["indices"], arrays["indptr"]))
    X = sp.csr_array((arrays["value"], arrays["columns"], arrays["rows"]), shape=tuple(arrays["shape"]))
    split = {part: arrays[part] for part in ("train", "val", "test")}
    y = arrays["y"]
    importing, rest, labels = WAYS[way](A, X, y, split, int(y.max()) + 1)
    print(importing, rest, np.mean(np.asarray(labels)[split["test"]] == y[split["test"]]))


def save_arrays(name, path):
    import sfumato

    g = sfumato.load(name)
    A, X = g.adjacency, sp.csr_array(g.features)
    np.savez(path, indptr=A.indptr, indices=A.indices, weight=A.data, rows=X.indptr, columns=X.indices, value=X.data,
             shape=X.shape, y=g.labels, **g.split())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--way")
    parser.add_argument("dataset", nargs="?", default="citation")
    options = parser.parse_args()
    if options.way:
        child(options.way, options.dataset)
        return
    ways = [way for way in WAYS if importlib.util.find_spec(PACKAGES[way])]
    times = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "arrays.npz")
        save_arrays(options.dataset, path)
        for _ in range(options.rounds):
            for way in ways:
                found = subprocess.run([sys.executable, __file__, "--way", way, path], check=True, capture_output=True,
                                       text=True).stdout
                times[way].append([float(number) for number in found.split()])
    print(f"{options.dataset}, {options.rounds} rounds    import    arrays to labels    test accuracy")
    for way in ways:
        importing, rest, accuracy = (statistics.median(column) for column in zip(*times[way]))
        print(f"{way:10} {importing:8.3f} {rest:8.3f} {accuracy:8.3f}")


if __name__ == "__main__":
    main()
