"""Milliseconds an epoch of scikit-network's GNNClassifier as a GCN: two graph convolutions, hidden 64, Adam.

usage: peer_sknet.py [--seconds 4] DATASET.safetensors

It does less than the others in one way: no dropout, no weight decay, and the validation accuracy comes out of the forward pass of
the training step, so that there is one forward pass an epoch instead of two. It does more in another: it normalises the
adjacency at every step. Its validation nodes are drawn from the labelled ones, as many as the split has.
An epoch is the time from one step of its optimiser to the next. One thread. Prints DATASET gcn sknet MEDIAN LOW HIGH LEAST ACCURACY.
Needs scikit-network and what peer_data.py needs.
"""
import os

os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})

import argparse  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from peer_data import Data, name_of, quartiles  # noqa: E402
from sknetwork.gnn import GNNClassifier  # noqa: E402


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("dataset")
    options = parser.parse_args()
    data = Data(options.dataset)
    n, labelled = len(data.y), np.concatenate([data.train, data.val])
    adjacency = sp.csr_matrix((np.ones(data.edges.shape[1], bool), data.edges), (n, n))
    features = sp.csr_matrix((data.x.values, data.x.indices, data.x.indptr), (n, data.x.cols))
    labels = np.full(n, -1)
    labels[labelled] = data.y[labelled]
    model = GNNClassifier([64, data.classes], "Conv", ["Relu", "Softmax"], learning_rate=0.01, early_stopping=False)
    step, stamps = model.optimizer.step, []

    def stamped(self):
        step(self)
        stamps.append(time.perf_counter())

    model.optimizer.step = stamped

    def fit(epochs):
        model.val_mask = None  # drawn anew, and kept out of the training nodes
        begin = time.perf_counter()
        model.fit(adjacency, features, labels, n_epochs=epochs, validation=len(data.val) / len(labelled), reinit=True,
                  random_state=0)  # fmt: skip
        return (time.perf_counter() - begin) / epochs

    each = fit(5)
    stamps.clear()
    fit(max(6, int(options.seconds / each)))
    times = 1000 * np.diff(stamps)
    print(name_of(options.dataset), "gcn sknet", *(f"{t:.4f}" for t in quartiles(times)), f"{max(model.history_['val_accuracy']):.3f}")


if __name__ == "__main__":
    main()
