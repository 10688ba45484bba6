"""What the peers share: a dataset as numpy has it, the smoothing matrices, the networks, first weights, and how an epoch is timed."""
import csv
import functools
import json
import os
import time
import typing

import numpy as np
import torch
import torch.nn.functional as F

# name: smoothings before the (first) weights, a hidden layer, smoothings before the last weights, smoothings of labels
NETS = {
    "gcn": (1, True, 1, 0),
    "sgcn": (2, False, 0, 0),
    "fp+mlp": (2, True, 0, 0),
    "sgcn+lp": (1, False, 0, 1),
    "gcn+lp": (1, True, 0, 1),
    "linear+lp": (0, False, 0, 2),
    "mlp+lp": (0, True, 0, 2),
}


class Csr:
    """Compressed rows in numpy, and what is needed to transpose them with other values."""

    def __init__(self, indptr, indices, values, cols):
        self.indptr, self.indices, self.cols = indptr.astype(np.int64), indices.astype(np.int64), cols
        self.values = values.astype(np.float32)
        self.rows = len(indptr) - 1
        self.row_of = np.repeat(np.arange(self.rows), np.diff(indptr))

    def coo(self, device="cpu"):
        places = torch.from_numpy(np.stack([self.row_of, self.indices]))
        return torch.sparse_coo_tensor(places, torch.from_numpy(self.values), (self.rows, self.cols)).coalesce().to(device)

    @functools.cached_property
    def turned(self):
        """The transpose, and where in self.values each of its values comes from."""
        order = np.argsort(self.indices, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(self.indices, minlength=self.cols))])
        return Csr(indptr, self.row_of[order], self.values[order], self.rows), torch.from_numpy(order)

    @functools.cached_property
    def tensors(self):
        """Begins of rows and columns, with 32 bits, which MKL wants."""
        return torch.from_numpy(self.indptr.astype(np.int32)), torch.from_numpy(self.indices.astype(np.int32))

    def picked(self, rows, cols=None):
        """Some of the rows, and some of the columns, which must be all that these rows have."""
        counts = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        chosen = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], counts)
        indices = self.indices[chosen]
        if cols is None:
            return Csr(indptr, indices, self.values[chosen], self.cols)
        return Csr(indptr, np.searchsorted(cols, indices), self.values[chosen], len(cols))

    def dense(self):
        matrix = np.zeros((self.rows, self.cols), np.float32)
        matrix[self.row_of, self.indices] = self.values
        return torch.from_numpy(matrix)

    def seen(self, rows):
        """The columns that these rows have, sorted."""
        return np.unique(self.picked(rows).indices)


def read_tensors(path):
    """A safetensors file: eight bytes of length, a JSON header, the tensors."""
    raw = np.memmap(path, np.uint8, "r")
    size = int(raw[:8].view(np.uint64)[0])
    header = json.loads(raw[8 : 8 + size].tobytes())
    types = {"F32": np.float32, "I32": np.int32, "I64": np.int64, "U8": np.uint8}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            bytes_ = np.array(raw[8 + size + begin : 8 + size + end])
            tensors[name] = bytes_.view(types[entry["dtype"]]).reshape(entry["shape"])
    return tensors, header.get("__metadata__", {})


def read_split(path):
    """Training, validation and test nodes of node,part lines."""
    with open(path, newline="") as file:
        rows = [(row["part"], int(row["node"])) for row in csv.DictReader(file)]
    return (np.array([node for part, node in rows if part == wanted]) for wanted in ("train", "val", "test"))


class Data:
    """Features, the smoothing matrices, labels and the split: its own, or the one in the folder $PEER_SPLITS, as
    `sfumato data split -o NAME.csv` writes it."""

    def __init__(self, path):
        tensors, metadata = read_tensors(path)
        self.y = tensors["y"].astype(np.int64)
        n = len(self.y)
        self.classes = int(self.y.max()) + 1
        if "x" in tensors:
            dense = tensors["x"]
            rows, cols = np.nonzero(dense)
            indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
            self.x = Csr(indptr, cols, dense[rows, cols], dense.shape[1])
        else:
            indices = tensors["x.indices"]
            values = tensors.get("x.value", np.ones(len(indices), np.float32))
            self.x = Csr(tensors["x.indptr"], indices, values, int(metadata["features"]))
        adjacency = Csr(tensors["adj.indptr"], tensors["adj.indices"], np.ones(len(tensors["adj.indices"])), n)
        rows = np.concatenate([adjacency.row_of, np.arange(n)])
        cols = np.concatenate([adjacency.indices, np.arange(n)])
        order = np.lexsort((cols, rows))
        rows, cols = rows[order], cols[order]
        degree = np.bincount(rows, minlength=n).astype(np.float64)
        indptr = np.concatenate([[0], np.cumsum(degree).astype(np.int64)])
        symmetric = 1 / np.sqrt(degree[rows] * degree[cols])
        row_sums = np.bincount(rows, symmetric, minlength=n)
        self.S = Csr(indptr, cols, symmetric, n)  # of features
        self.P = Csr(indptr, cols, symmetric / row_sums[rows], n)  # of labels: rows sum to 1
        self.edges = np.stack([adjacency.row_of, adjacency.indices])
        if "split.train" in tensors:
            self.train, self.val, self.test = (tensors["split." + part].astype(np.int64) for part in ("train", "val", "test"))
        else:
            self.train, self.val, self.test = read_split(os.path.join(os.environ["PEER_SPLITS"], name_of(path) + ".csv"))

    @functools.cached_property
    def folded(self):
        """S^k X for k = 0, 1, 2, which no training changes."""
        return Powers(self.S, self.x)


class Powers:
    def __init__(self, S, x):
        self.S, self.made = S, [x]

    def __getitem__(self, times):
        while len(self.made) <= times:
            product = torch.sparse.mm(self.S.coo(), self.made[-1].coo()).coalesce()
            (rows, cols), values = product.indices().numpy(), product.values().numpy()
            indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=self.S.rows))])
            self.made.append(Csr(indptr, cols, values, self.made[0].cols))
        return self.made[times]


class How(typing.NamedTuple):
    """What is optimised, and how."""

    lr: float = 0.01
    weight_decay: float = 5e-4
    loss: str = "mean"  # or "sum"


MEAN = How()


def weights(data, hidden, wide):
    def glorot(rows, cols):
        return (torch.rand(rows, cols) * 2 - 1) * (6 / (rows + cols)) ** 0.5

    shapes = [(data.x.cols, hidden), (hidden, data.classes)] if wide else [(data.x.cols, data.classes)]
    return [t for rows, cols in shapes for t in (glorot(rows, cols), torch.zeros(cols))]


class Bag:
    """A sparse matrix whose product is a sum of weighted rows of an embedding."""

    def __init__(self, indptr, indices, values):
        self.begins, self.indices, self.values = indptr[:-1], indices, values

    def __matmul__(self, H):
        return F.embedding_bag(self.indices, H, self.begins, mode="sum", per_sample_weights=self.values)


class Training:
    """A training on its way: called, it trains an epoch and returns the validation accuracy."""

    def __init__(self, epoch, parameters, score):
        self.epoch, self.parameters, self.score = epoch, parameters, score  # score(nodes): their accuracy

    def __call__(self):
        return self.epoch()


EPOCHS, PATIENCE = 500, 25


def train_until(training, epochs=EPOCHS, patience=PATIENCE, keep=lambda: None):
    """Trains until the validation accuracy has not become better for so many epochs: how many there were, and the best. Calls
    keep() at each that is better."""
    best, last_better, ran = -1.0, 0, 0
    while ran < epochs and ran - last_better < patience:
        accuracy = training()
        ran += 1
        if accuracy > best:
            best, last_better = accuracy, ran
            keep()
    return ran, best


def share_right(outputs, y):
    return float((outputs.argmax(1) == y).float().mean())


# ---- timing ----------------------------------------------------------------------------------------------------------


def time_epochs(epoch, seconds, least=5):
    """Milliseconds of as many epochs as fit into the time, by the clock on the wall, and the best accuracy. An epoch returns
    its accuracy as a number, so that whatever computes it has ended."""
    for _ in range(min(3, least)):
        epoch()
    times, start, best = [], time.perf_counter(), 0.0
    while time.perf_counter() - start < seconds or len(times) < least:
        begin = time.perf_counter()
        best = max(best, epoch())
        times.append(1000 * (time.perf_counter() - begin))
    return times, best


def quartiles(times):
    """Median, lower and upper quartile, and the least."""
    return (*np.percentile(times, [50, 25, 75]), min(times))


def name_of(path):
    return os.path.basename(path).removesuffix(".safetensors")
