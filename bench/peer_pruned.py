"""The paper's networks in PyTorch, done by hand what our planner does: only the rows that the training or the validation nodes
can see, smoothing of features folded into them where that is faster, a backward by hand, sparse products as an embedding_bag,
sixteen random bits a value of dropout, fused Adam.

The same code trains a population side by side, on a GPU for instance: all matrices dense then, and every weight with a leading
axis (peer_gpu.py).
"""
import math
import time
import typing

import numpy as np
import torch
import torch.nn.functional as F

from peer_data import MEAN, NETS, Bag, Training, share_right, weights


class Form(typing.NamedTuple):
    """How a half of an epoch is computed; none changes what."""

    folded: bool  # features smoothed once, or again and again
    dense_features: bool
    dense_smoothing: bool = False


FORMS = [Form(True, False), Form(True, True), Form(False, False)]  # those that a processor tries
ALL_DENSE = Form(True, True, True)


class Random16:
    """Dropout with sixteen random bits a value, four values a number, compared with rate * 65536."""

    def __init__(self, seed, rate):
        self.bits, self.threshold, self.scale = np.random.SFC64(seed), round(rate * 65536) - 32768, 1 / (1 - rate)

    def drop(self, values):
        count = math.prod(values.shape)
        raw = self.bits.random_raw((count + 3) // 4).view(np.uint16)[:count].view(np.int16)
        if self.threshold >= 32768:
            return torch.zeros_like(values)
        return torch.from_numpy(raw).ge(self.threshold).view(values.shape).mul(self.scale).mul_(values)


# ---- products, there and back ----------------------------------------------------------------------------------------


class SparseProduct:
    def __init__(self, matrix):
        self.there, self.way_back = (Bag(*m.tensors, torch.from_numpy(m.values)) for m in (matrix, matrix.turned[0]))

    def __call__(self, H):
        return self.there @ H

    def back(self, dH):
        return self.way_back @ dH


class DenseProduct:
    def __init__(self, matrix, device):
        self.matrix = matrix.dense().to(device)

    def __call__(self, H):
        return self.matrix @ H

    def back(self, dH):
        return self.matrix.T @ dH


class SparseFeatures:
    def __init__(self, matrix):
        self.matrix, (self.turned, self.order) = matrix, matrix.turned
        self.values = torch.from_numpy(matrix.values)

    def __call__(self, W, random):
        self.kept = self.values if random is None else random.drop(self.values)
        return Bag(*self.matrix.tensors, self.kept) @ W

    def back(self, dH):
        return Bag(*self.turned.tensors, self.kept.index_select(0, self.order)) @ dH


class DenseFeatures:
    def __init__(self, matrix, device):
        self.matrix = matrix.dense().to(device)

    def __call__(self, W, random):
        self.kept = self.matrix if random is None else random.drop(self.matrix)
        return self.kept @ W

    def back(self, dH):
        return self.kept.mT @ dH


# ---- half of an epoch ------------------------------------------------------------------------------------------------


class Half:
    """What a network computes for some nodes, and its gradients."""

    def __init__(self, data, net, nodes, form, device="cpu"):
        before, self.wide, between, labels = NETS[net]
        rows = nodes

        def products(matrix, times):
            nonlocal rows
            made = []
            for _ in range(times):
                near = matrix.seen(rows)
                part = matrix.picked(rows, near)
                made.insert(0, DenseProduct(part, device) if form.dense_smoothing else SparseProduct(part))
                rows = near
            return made

        self.labels = products(data.P, labels)
        self.between = products(data.S, between)
        self.before = [] if form.folded else products(data.S, before)
        x = data.folded[before if form.folded else 0].picked(rows)
        self.features = DenseFeatures(x, device) if form.dense_features else SparseFeatures(x)
        self.y = torch.from_numpy(data.y[nodes]).to(device)
        self.target = F.one_hot(self.y, data.classes).float()

    def forward(self, theta, random=None):
        Z = self.features(theta[0], random)
        for product in self.before:
            Z = product(Z)
        Z = Z.add_(theta[1])
        if self.wide:
            self.H = Z.relu_() if random is None else random.drop(Z.relu_())
            Z = self.H @ theta[2]
            for product in self.between:
                Z = product(Z)
            Z = Z.add_(theta[3])
        self.Q = self.P = torch.softmax(Z, -1)
        for product in self.labels:
            self.Q = product(self.Q)
        return self.Q

    def backward(self, theta, share, scale):
        """The gradients of `share` times the sum of the cross-entropies, after a forward with dropout, which scales by `scale`."""
        if not self.labels:
            dZ = (self.P - self.target) * share
        else:
            dZ = -self.target / self.Q.clamp_min(1e-30) * share
            for product in reversed(self.labels):
                dZ = product.back(dZ)
            dZ = self.P * (dZ - (self.P * dZ).sum(-1, keepdim=True))
        gradients = []
        if self.wide:
            gradients = [None, self.bias_of(dZ, theta[3])]
            for product in reversed(self.between):
                dZ = product.back(dZ)
            gradients[0] = self.H.mT @ dZ
            dZ = (dZ @ theta[2].mT).mul_((self.H > 0) * scale)
        bias = self.bias_of(dZ, theta[1])
        for product in reversed(self.before):
            dZ = product.back(dZ)
        return [self.features.back(dZ), bias, *gradients]

    @staticmethod
    def bias_of(dZ, bias):
        return dZ.sum(-2).view(bias.shape)

    def right(self, theta):
        """How many of the nodes come out right: of each training, where there are many."""
        return (self.forward(theta).argmax(-1) == self.y).sum(-1)


def fastest(halves, run):
    """Of several ways to do the same, the one that is fastest here."""

    def seconds(half):
        run(half)
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            run(half)
            times.append(time.perf_counter() - begin)
        return min(times)

    return min(halves, key=seconds)


def halves_of(data, net, theta, random):
    """Training and validation, each in the form that is fastest; found once a dataset, network and width."""
    kept = data.__dict__.setdefault("halves", {})
    key = net, theta[0].shape
    if key not in kept:

        def step(half):
            half.forward(theta, random)
            half.backward(theta, 1.0, random.scale)

        training = fastest([Half(data, net, data.train, form) for form in FORMS], step)
        validation = fastest([Half(data, net, data.val, form) for form in FORMS], lambda half: half.right(theta))
        kept[key] = training, validation
    return kept[key]


def pruned(data, net, hidden, rate, device, how=MEAN):
    if device != "cpu":
        raise ValueError("pruned runs on the processor; peer_gpu.py has it for a GPU")
    torch.set_grad_enabled(False)
    parameters = [torch.nn.Parameter(t) for t in weights(data, hidden, NETS[net][1])]
    optimiser = torch.optim.Adam(parameters, lr=how.lr, weight_decay=how.weight_decay, fused=True)
    theta = [p.data for p in parameters]
    share = 1 / len(data.train) if how.loss == "mean" else 1.0
    random = Random16(int(torch.randint(1 << 62, ())), rate)
    training, validation = halves_of(data, net, theta, random)

    def epoch():
        training.forward(theta, random)
        for parameter, gradient in zip(parameters, training.backward(theta, share, random.scale)):
            parameter.grad = gradient
        optimiser.step()
        return int(validation.right(theta)) / len(data.val)

    def score(nodes):
        half = Half(data, net, nodes, FORMS[0])
        return share_right(half.forward(theta), half.y)

    return Training(epoch, theta, score)
