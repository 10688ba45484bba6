"""Milliseconds an epoch of the paper's networks in PyTorch: a training step (dropout, Adam) and the validation accuracy.

usage: peer_epoch.py [--ways plain,tuned,bag,pruned,pyg] [--nets gcn,...] [--device cpu] [--hidden 64] [--seconds 4] DATASET.safetensors...

  plain   as it is usually written: sparse COO features and graph, autograd, torch.optim.Adam
  tuned   the best that we could write: CSR products (MKL's where torch has it), a backward by hand with the transposes kept,
          dropout on the non-zeros alone, fused Adam
  bag     the same with every sparse product as an embedding_bag, which no one writes, but which is faster where there is no MKL
  pruned  bag, and done by hand what our planner does (gcn alone): only the rows that the training or the validation nodes
          can see; and random bits, sixteen a value
  pyg     PyTorch Geometric as in its examples (gcn alone): GCNConv(cached=True), dense features

All but pruned work on every node, and multiply with the weights before they smooth, which is the cheaper order. One thread.
Prints one line a measurement: DATASET NET WAY MILLISECONDS ACCURACY, the best of as many epochs as fit into the time (as
sfumato bench does), and the best validation accuracy, which shows that it learns.
Needs torch and numpy; pyg needs torch_geometric as well.
"""
import argparse
import functools
import json
import math
import time
import typing
import warnings

import numpy as np
import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore")

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
        chosen = np.concatenate([np.arange(self.indptr[r], self.indptr[r + 1]) for r in rows])
        indptr = np.concatenate([[0], np.cumsum(np.diff(self.indptr)[rows])])
        indices = self.indices[chosen]
        if cols is None:
            return Csr(indptr, indices, self.values[chosen], self.cols)
        return Csr(indptr, np.searchsorted(cols, indices), self.values[chosen], len(cols))

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


class Data:
    """Features, the smoothing matrices, labels and a split of 20 training nodes a class and 500 validation nodes."""

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
            self.train, self.val = tensors["split.train"].astype(np.int64), tensors["split.val"].astype(np.int64)
        else:
            shuffled = np.random.default_rng(0).permutation(np.flatnonzero(self.y >= 0))
            self.val = shuffled[:500]
            rest = shuffled[1500:]
            self.train = np.concatenate([rest[self.y[rest] == c][:20] for c in range(self.classes)])


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


# ---- as it is usually written ----------------------------------------------------------------------------------------


def plain(data, net, hidden, rate, device, how=MEAN):
    before, wide, between, labels = NETS[net]
    x, S, P = data.x.coo(device), data.S.coo(device), data.P.coo(device)
    y = torch.from_numpy(data.y).to(device)
    train, val = torch.from_numpy(data.train).to(device), torch.from_numpy(data.val).to(device)
    theta = [torch.nn.Parameter(t.to(device)) for t in weights(data, hidden, wide)]
    optimiser = torch.optim.Adam(theta, lr=how.lr, weight_decay=how.weight_decay)

    def smooth(M, H, times):
        for _ in range(times):
            H = torch.sparse.mm(M, H)
        return H

    def forward(training):
        dropped = F.dropout(x.values(), rate, training)
        X = torch.sparse_coo_tensor(x.indices(), dropped, x.shape, is_coalesced=True) if training else x
        H = smooth(S, torch.sparse.mm(X, theta[0]), before) + theta[1]
        if wide:
            H = F.dropout(F.relu(H), rate, training)
            H = smooth(S, H @ theta[2], between) + theta[3]
        if labels == 0:
            return F.log_softmax(H, 1)
        return torch.log(smooth(P, F.softmax(H, 1), labels))

    def epoch():
        optimiser.zero_grad()
        F.nll_loss(forward(True)[train], y[train], reduction=how.loss).backward()
        optimiser.step()
        with torch.no_grad():
            return float((forward(False)[val].argmax(1) == y[val]).float().mean())

    return epoch


# ---- the best that we could write ------------------------------------------------------------------------------------


class Bag:
    """A sparse matrix whose product is a sum of weighted rows of an embedding."""

    def __init__(self, indptr, indices, values):
        self.begins, self.indices, self.values = indptr[:-1], indices, values

    def __matmul__(self, H):
        return F.embedding_bag(self.indices, H, self.begins, mode="sum", per_sample_weights=self.values)


def bag(data, net, hidden, rate, device, how=MEAN):
    return tuned(data, net, hidden, rate, device, how, as_bag=True)


def tuned(data, net, hidden, rate, device, how=MEAN, as_bag=False):
    before, wide, between, labels = NETS[net]
    torch.set_grad_enabled(False)

    def csr(matrix, values=None):
        values = torch.from_numpy(matrix.values) if values is None else values
        if as_bag:
            return Bag(*matrix.tensors, values)
        return torch.sparse_csr_tensor(*matrix.tensors, values, (matrix.rows, matrix.cols))

    x = data.x
    x_turned, order = x.turned
    X, values = csr(x), torch.from_numpy(x.values)
    S, P, P_turned = csr(data.S), csr(data.P), csr(data.P.turned[0])  # S is its own transpose
    y = torch.from_numpy(data.y)
    train, val = torch.from_numpy(data.train), torch.from_numpy(data.val)
    target = F.one_hot(y[train], data.classes).float()
    theta = weights(data, hidden, wide)
    parameters = [torch.nn.Parameter(t) for t in theta]
    optimiser = torch.optim.Adam(parameters, lr=how.lr, weight_decay=how.weight_decay, fused=True)
    theta = [p.data for p in parameters]
    scale = 1 / (1 - rate)
    share = 1 / len(train) if how.loss == "mean" else 1.0

    def smooth(M, H, times):
        for _ in range(times):
            H = M @ H
        return H

    def output(Z):
        return smooth(P, torch.softmax(Z, 1), labels)

    def evaluate():
        H = smooth(S, X @ theta[0], before).add_(theta[1])
        if wide:
            H = smooth(S, H.relu_() @ theta[2], between).add_(theta[3])
        return float((output(H)[val].argmax(1) == y[val]).float().mean())

    def epoch():
        kept = values * (torch.rand(len(values)) >= rate) * scale
        H = smooth(S, csr(x, kept) @ theta[0], before).add_(theta[1])
        if wide:
            mask = (torch.rand_like(H) >= rate) * scale
            H = H.relu_().mul_(mask)
            Z = smooth(S, H @ theta[2], between).add_(theta[3])
        else:
            Z = H
        probabilities = torch.softmax(Z, 1)
        dZ = torch.zeros_like(Z)
        if labels == 0:
            dZ[train] = (probabilities[train] - target) * share
        else:
            Q = smooth(P, probabilities, labels)
            dZ[train] = -target / Q[train].clamp_min(1e-30) * share
            dZ = smooth(P_turned, dZ, labels)
            dZ = probabilities * (dZ - (probabilities * dZ).sum(1, keepdim=True))
        if wide:
            parameters[3].grad = dZ.sum(0)
            dZ = smooth(S, dZ, between)
            parameters[2].grad = H.T @ dZ
            dZ = (dZ @ theta[2].T).mul_(mask).mul_(H > 0)
        parameters[1].grad = dZ.sum(0)
        parameters[0].grad = csr(x_turned, kept.index_select(0, order)) @ smooth(S, dZ, before)
        optimiser.step()
        return evaluate()

    return epoch


class Random16:
    """Sixteen random bits a value, four values a number: comparing them with rate * 65536 is a dropout."""

    def __init__(self, seed):
        self.bits = np.random.SFC64(seed)

    def mask(self, shape, rate, scale):
        count = math.prod(shape)
        raw = self.bits.random_raw((count + 3) // 4).view(np.uint16)[:count].view(np.int16)
        threshold = round(rate * 65536) - 32768
        return torch.from_numpy(raw).ge(threshold).view(shape).mul(scale) if threshold < 32768 else torch.zeros(shape)


class Seen:
    """What a GCN needs for some nodes: `near`, the nodes that they see, `far`, those that these see, and the matrices between."""

    def __init__(self, data, nodes):
        self.near = data.S.seen(nodes)
        self.S_out = data.S.picked(nodes, self.near)
        self.far = data.S.seen(self.near)
        self.S_in = data.S.picked(self.near, self.far)
        self.x = data.x.picked(self.far)


def pruned(data, net, hidden, rate, device, how=MEAN):
    if net != "gcn":
        return None
    torch.set_grad_enabled(False)
    if not hasattr(data, "pruned"):
        data.pruned = Seen(data, data.train), Seen(data, data.val)
    train, val = data.pruned
    x, (x_turned, order) = train.x, train.x.turned
    values = torch.from_numpy(x.values)

    def bag_of(matrix):
        return Bag(*matrix.tensors, torch.from_numpy(matrix.values))

    S_in, S_in_back = bag_of(train.S_in), bag_of(train.S_in.turned[0])
    S_out, S_out_back = bag_of(train.S_out), bag_of(train.S_out.turned[0])
    S_val_out, S_val_in, X_val = bag_of(val.S_out), bag_of(val.S_in), bag_of(val.x)
    target = F.one_hot(torch.from_numpy(data.y[data.train]), data.classes).float()
    y_val = torch.from_numpy(data.y[data.val])
    parameters = [torch.nn.Parameter(t) for t in weights(data, hidden, True)]
    optimiser = torch.optim.Adam(parameters, lr=how.lr, weight_decay=how.weight_decay, fused=True)
    W0, b0, W1, b1 = (p.data for p in parameters)
    scale = 1 / (1 - rate)
    share = 1 / len(data.train) if how.loss == "mean" else 1.0
    random = Random16(int(torch.randint(1 << 62, ())))

    def epoch():
        kept = values * random.mask(values.shape, rate, scale)
        H = S_in @ (Bag(*x.tensors, kept) @ W0)
        H.add_(b0).relu_().mul_(random.mask(H.shape, rate, scale))
        dZ = torch.softmax((S_out @ (H @ W1)).add_(b1), 1).sub_(target).mul_(share)
        parameters[3].grad = dZ.sum(0)
        dZ = S_out_back @ dZ
        parameters[2].grad = H.T @ dZ
        dH = (dZ @ W1.T).mul_((H > 0) * scale)
        parameters[1].grad = dH.sum(0)
        parameters[0].grad = Bag(*x_turned.tensors, kept.index_select(0, order)) @ (S_in_back @ dH)
        optimiser.step()
        H = (S_val_in @ (X_val @ W0)).add_(b0).relu_()
        Z = (S_val_out @ (H @ W1)).add_(b1)
        return int((Z.argmax(1) == y_val).sum()) / len(y_val)

    return epoch


# ---- PyTorch Geometric, as in its examples ---------------------------------------------------------------------------


def pyg(data, net, hidden, rate, device, how=MEAN):
    if net != "gcn":
        return None
    from torch_geometric.nn import GCNConv

    class Gcn(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = GCNConv(data.x.cols, hidden, cached=True)
            self.second = GCNConv(hidden, data.classes, cached=True)

        def forward(self, x, edges):
            x = self.first(F.dropout(x, rate, self.training), edges).relu()
            return self.second(F.dropout(x, rate, self.training), edges)

    model = Gcn().to(device)
    x, edges = data.x.coo().to_dense().to(device), torch.from_numpy(data.edges).to(device)
    y = torch.from_numpy(data.y).to(device)
    train, val = torch.from_numpy(data.train).to(device), torch.from_numpy(data.val).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=how.lr, weight_decay=how.weight_decay)

    def epoch():
        model.train()
        optimiser.zero_grad()
        F.cross_entropy(model(x, edges)[train], y[train], reduction=how.loss).backward()
        optimiser.step()
        model.eval()
        with torch.no_grad():
            return float((model(x, edges)[val].argmax(1) == y[val]).float().mean())

    return epoch


def measure(epoch, seconds, device):
    # On the processor its own time is taken, so that what else the machine does counts little.
    clock = time.thread_time if device == "cpu" else time.perf_counter
    for _ in range(3):
        epoch()
    times, start, best = [], time.perf_counter(), 0.0
    while time.perf_counter() - start < seconds or len(times) < 5:
        begin = clock()
        best = max(best, epoch())
        times.append(1000 * (clock() - begin))
    return min(times), best


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ways", default="plain,tuned,bag,pyg")
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("datasets", nargs="+")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for path in options.datasets:
        name = path.rsplit("/", 1)[-1].removesuffix(".safetensors")
        data = Data(path)
        for net in options.nets.split(","):
            for way in options.ways.split(","):
                torch.set_grad_enabled(True)
                epoch = globals()[way](data, net, options.hidden, options.dropout, options.device)
                if epoch is not None:
                    ms, best = measure(epoch, options.seconds, options.device)
                    print(f"{name} {net} {way} {ms:.3f} {best:.3f}", flush=True)


if __name__ == "__main__":
    main()
