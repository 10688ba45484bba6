"""Holds the networks that are written by hand to those of autograd: the gradients without dropout, in every form, and the outputs.

usage: peer_check.py DATASET.safetensors     a small one; prints nothing where all is well
"""
import sys

import torch

import peer_pruned
from peer_data import NETS, Data, weights


class NoDrop:
    scale = 1.0

    @staticmethod
    def drop(values):
        return values.clone()


def autograd(data, net, theta, nodes):
    """Outputs and gradients of the sum of the cross-entropies, everything dense, every node, in double."""
    before, wide, between, labels = NETS[net]
    theta = [t.double().requires_grad_() for t in theta]
    H, S, P = (matrix.dense().double() for matrix in (data.x, data.S, data.P))
    H = torch.linalg.matrix_power(S, before) @ H @ theta[0] + theta[1]
    if wide:
        H = torch.linalg.matrix_power(S, between) @ (H.relu() @ theta[2]) + theta[3]
    Q = (torch.linalg.matrix_power(P, labels) @ torch.softmax(H, 1))[nodes]
    target = torch.from_numpy(data.y[nodes])
    return Q.detach(), torch.autograd.grad(-Q.gather(1, target[:, None]).log().sum(), theta)


def compare(what, ours, theirs):
    error = ((ours.double() - theirs).abs().max() / theirs.abs().max().clamp_min(1e-12)).item()
    if not error < 1e-4:
        sys.exit(f"{what}: {error:.2g} away from autograd")


def main():
    data = Data(sys.argv[1])
    torch.manual_seed(0)
    for net in NETS:
        theta = weights(data, 8, NETS[net][1])
        outputs, gradients = autograd(data, net, theta, data.train)
        for form in [*peer_pruned.FORMS, peer_pruned.ALL_DENSE]:
            half = peer_pruned.Half(data, net, data.train, form)
            many = [torch.stack([t, 2 * t]).view(2, -1, t.shape[-1]) for t in theta]  # of two side by side, the first
            for who, these in [("one", theta)] + ([("many", many)] if form.dense_smoothing else []):
                first = (lambda t: t[0]) if who == "many" else (lambda t: t)
                compare(f"{net} {form} {who}: outputs", first(half.forward(these, NoDrop)), outputs)
                found = half.backward(these, 1.0, 1.0)
                for place, (g, wanted) in enumerate(zip(found, gradients)):
                    compare(f"{net} {form} {who}: gradient {place}", first(g).view(wanted.shape), wanted)


if __name__ == "__main__":
    main()
