"""Milliseconds an epoch of the paper's networks in PyTorch: a training step (dropout, Adam) and the validation accuracy.

usage: peer_epoch.py [--ways plain,tuned,bag,pruned,pyg] [--nets gcn,...] [--threads 1] [--device cpu] [--hidden 64]
                     [--seconds 4] DATASET.safetensors...

  plain   as it is usually written: sparse COO features and graph, autograd, torch.optim.Adam
  tuned   CSR products (MKL's where torch has it), a backward by hand with the transposes kept, dropout on the non-zeros alone,
          fused Adam
  bag     the same with every sparse product as an embedding_bag, which no one writes, but which is faster where there is no MKL
  pruned  the best that we could write (peer_pruned.py): done by hand what our planner does
  pyg     PyTorch Geometric as in its examples (peer_pyg.py), dense features, all that is constant cached

All but pruned and pyg multiply with the weights before they smooth, which is the cheaper order; all but pruned work on every node.
Prints one line a measurement: DATASET NET WAY MEDIAN LOW HIGH LEAST ACCURACY: milliseconds of as many epochs as fit into the
time, median, quartiles and least, by the clock on the wall, and the best validation accuracy, which shows that it learns.
--least says how many epochs at least; --predict measures the prediction of all nodes as well; with --ask it reads what to
measure from its input, a line each: NET WAY THREADS SECONDS. Needs torch and numpy; pyg needs torch_geometric as well.
"""
import argparse
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F

import peer_pruned
import peer_pyg
from peer_data import MEAN, NETS, Bag, Data, Training, name_of, quartiles, share_right, time_epochs, weights

warnings.filterwarnings("ignore")


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
        return score(val)

    @torch.no_grad()
    def score(nodes):
        return share_right(forward(False)[nodes], y[nodes])

    return Training(epoch, theta, score)


# ---- the best that we could write ------------------------------------------------------------------------------------


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
        return output(H)

    def score(nodes):
        return share_right(evaluate()[nodes], y[nodes])

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
        return score(val)

    return Training(epoch, theta, score)


WAYS = {"plain": plain, "tuned": tuned, "bag": bag, "pruned": peer_pruned.pruned, "pyg": peer_pyg.pyg}


def start(way, data, net, hidden, rate, device="cpu", how=MEAN):
    """A training, set up and ready for its first epoch."""
    torch.set_grad_enabled(True)
    return WAYS[way](data, net, hidden, rate, device, how)


def report(data, name, net, way, options):
    """Measures, and prints the line; what one cannot do is no reason to leave out the others."""
    try:
        training = start(way, data, net, options.hidden, options.dropout, options.device)
        times, best = time_epochs(training, options.seconds, options.least)
        print(name, net, way, *(f"{t:.4f}" for t in quartiles(times)), f"{best:.3f}", flush=True)
        if options.predict:
            everyone = np.arange(len(data.y))
            times, best = time_epochs(lambda: training.score(everyone), options.seconds, options.least)
            print(name, net, way + ":predict", *(f"{t:.4f}" for t in quartiles(times)), f"{best:.3f}", flush=True)
    except Exception as error:
        print(name, net, way, "failed:", str(error).split("\n")[0], flush=True)


def answer(data, name, options):
    for line in sys.stdin:
        net, way, threads, seconds = line.split()
        torch.set_num_threads(int(threads))
        options.seconds = float(seconds)
        report(data, name, net, way, options)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ways", default="plain,tuned,bag,pruned,pyg")
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--least", type=int, default=5)
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--ask", action="store_true")
    parser.add_argument("datasets", nargs="+")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    for path in options.datasets:
        data = Data(path)
        if options.ask:
            answer(data, name_of(path), options)
            continue
        for net in options.nets.split(","):
            for way in options.ways.split(","):
                report(data, name_of(path), net, way, options)


if __name__ == "__main__":
    main()
