"""Milliseconds an epoch of the paper's networks on a GPU: a training step (dropout, Adam) and the validation accuracy, which is
brought back to the host after every epoch, as early stopping needs it.

usage: peer_gpu.py [--ways pyg,pyg-graph,hand-graph,population] [--nets gcn,...] [--device cuda] [--hidden 64] [--seconds 1]
                   [--population 128] DATASET.safetensors...

  pyg         PyTorch Geometric as in its examples (peer_pyg.py), run as it stands
  pyg-graph   the same captured in a CUDA graph, an epoch a replay; Adam capturable and fused
  hand-graph  the best that we could write for one training: only the rows that are needed, features smoothed once, dense products,
              a backward by hand (peer_pruned.py), in a CUDA graph
  population  the same for many trainings side by side, each with its own learning rate, weight decay and dropout: batched products
              in a CUDA graph. The time is that of an epoch divided by how many trainings there are; what a study would lose with
              trainings that stop early is left out.

Products are float32, as torch computes them by default. On --device cpu there are no graphs, and the ways say so.
Prints one line a measurement: DATASET NET WAY MEDIAN LOW HIGH LEAST ACCURACY NOTE, as peer_epoch.py does, or DATASET NET WAY
failed: REASON, and goes on.
"""
import argparse
import itertools
import time
import warnings

import torch
import torch.nn.functional as F

import peer_pruned
import peer_pyg
from peer_data import MEAN, NETS, Data, name_of, quartiles, time_epochs, weights

warnings.filterwarnings("ignore")


def captured(step, device):
    """The step as a CUDA graph that is replayed, and a note."""
    if device == "cpu":
        return step, "no graph on this device"
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()

    def replay():
        graph.replay()
        return result

    return replay, "graph"


def counted(step, count):
    """An epoch that ends with its accuracy on the host."""
    return lambda: float(step().max()) / count


def pyg(data, net, options):
    step, _, _ = peer_pyg.stepper(data, net, options.hidden, options.dropout, options.device)
    return counted(step, len(data.val)), 1, ""


def pyg_graph(data, net, options):
    adam = {} if options.device == "cpu" else {"capturable": True, "fused": True}
    step, _, _ = peer_pyg.stepper(data, net, options.hidden, options.dropout, options.device, **adam)
    step, note = captured(step, options.device)
    return counted(step, len(data.val)), 1, note


# ---- by hand ---------------------------------------------------------------------------------------------------------


class Drop:
    """Dropout of one training, as torch has it."""

    def __init__(self, rate):
        self.rate, self.scale = rate, 1 / (1 - rate)

    def drop(self, values):
        return F.dropout(values, self.rate, True)


class DropEach:
    """Dropout of many, each at its own rate: [trainings, 1, 1]."""

    def __init__(self, rates):
        self.rates, self.scale = rates, 1 / (1 - rates)

    def drop(self, values):
        shape = len(self.rates), *values.shape[-2:]
        return torch.rand(shape, device=values.device).ge_(self.rates).mul_(self.scale).mul_(values)


class AdamEach:
    """Adam of many trainings, each with its own learning rate and weight decay: [trainings, 1, 1]."""

    def __init__(self, theta, lr, decay):
        self.theta, self.lr, self.decay = theta, lr, decay
        self.m, self.v = [torch.zeros_like(p) for p in theta], [torch.zeros_like(p) for p in theta]
        self.t = torch.zeros((), device=theta[0].device)

    def step(self, gradients):
        self.t.add_(1)
        rate = self.lr / (1 - torch.pow(0.9, self.t))
        correction = 1 - torch.pow(0.999, self.t)
        for p, g, m, v in zip(self.theta, gradients, self.m, self.v):
            g = torch.addcmul(g, p, self.decay.expand_as(p))
            m.lerp_(g, 0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            p.sub_((m * rate).div_((v / correction).sqrt_().add_(1e-8)))


class AdamOne:
    """torch's own, fused."""

    def __init__(self, theta, device):
        self.parameters = [torch.nn.Parameter(t) for t in theta]
        graph = {"capturable": True} if device != "cpu" else {}
        self.adam = torch.optim.Adam(self.parameters, lr=MEAN.lr, weight_decay=MEAN.weight_decay, fused=True, **graph)
        self.theta = [p.data for p in self.parameters]

    def step(self, gradients):
        for parameter, gradient in zip(self.parameters, gradients):
            parameter.grad = gradient
        self.adam.step()


def halves(data, net, device):
    return (peer_pruned.Half(data, net, nodes, peer_pruned.ALL_DENSE, device) for nodes in (data.train, data.val))


def by_hand(data, net, device, random, adam):
    training, validation = halves(data, net, device)

    def step():
        training.forward(adam.theta, random)
        adam.step(training.backward(adam.theta, 1 / len(data.train), random.scale))
        return validation.right(adam.theta)

    return captured(step, device)


def hand_graph(data, net, options):
    torch.set_grad_enabled(False)
    theta = [t.to(options.device) for t in weights(data, options.hidden, NETS[net][1])]
    step, note = by_hand(data, net, options.device, Drop(options.dropout), AdamOne(theta, options.device))
    return counted(step, len(data.val)), 1, note


def population(data, net, options):
    torch.set_grad_enabled(False)
    for count in itertools.takewhile(bool, (options.population >> i for i in itertools.count())):
        try:
            return start_population(data, net, options, count)
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
    raise MemoryError("not even one training fits")


def start_population(data, net, options, count):
    def each(low, high):
        return torch.empty(count, 1, 1).uniform_(low, high).to(options.device)

    many = [weights(data, options.hidden, NETS[net][1]) for _ in range(count)]
    theta = [torch.stack(same).view(count, -1, same[0].shape[-1]).to(options.device) for same in zip(*many)]
    adam = AdamEach(theta, each(0.005, 0.02), each(1e-4, 1e-3))
    step, note = by_hand(data, net, options.device, DropEach(each(0.3, 0.7)), adam)
    epoch = counted(step, len(data.val))
    epoch()  # whether memory suffices shows here
    return epoch, count, f"{count} trainings, {note}"


WAYS = {"pyg": pyg, "pyg-graph": pyg_graph, "hand-graph": hand_graph, "population": population}


def measure(way, data, net, options):
    """One line's worth: the times, the best accuracy, the note."""
    torch.set_grad_enabled(True)
    epoch, count, note = WAYS[way](data, net, options)
    times, best = time_epochs(epoch, options.seconds)
    return [t / count for t in times], best, note


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--population", type=int, default=128)
    parser.add_argument("--until", type=float, default=0, help="stop starting measurements after so many seconds")
    parser.add_argument("datasets", nargs="+")
    options = parser.parse_args()
    begin = time.perf_counter()
    torch.manual_seed(0)
    for path in options.datasets:
        data = Data(path)
        for net, way in itertools.product(options.nets.split(","), options.ways.split(",")):
            if options.until and time.perf_counter() - begin > options.until:
                print(name_of(path), net, way, "failed: no time left", flush=True)
                continue
            try:
                times, best, note = measure(way, data, net, options)
            except Exception as error:  # a GPU, its driver or its memory: what fails is said, and the others go on
                print(name_of(path), net, way, "failed:", str(error).split("\n")[0], flush=True)
            else:
                print(name_of(path), net, way, *(f"{t:.5f}" for t in quartiles(times)), f"{best:.3f}", note, flush=True)
            if options.device != "cpu":
                torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
