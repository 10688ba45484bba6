"""The paper's networks in PyTorch Geometric, the way that its users write them.

Dense features, edge_index, autograd, torch.optim.Adam. GCNConv(cached=True) as in the example of GCN. What is smoothed before any
weights is smoothed once, as SGConv(cached=True) does; SGConv itself leaves no place for dropout between the two, so its
propagation stands before a Linear. Labels are smoothed by APPNP's propagation of the softmax without teleport, its edge weights
made once.
"""
import torch
import torch.nn.functional as F

from peer_data import MEAN, NETS, Training, share_right


def network(data, net, hidden, rate):
    """A module of features, edges, and edges for labels with their weights."""
    from torch_geometric.nn import APPNP, GCNConv

    before, wide, between, labels = NETS[net]

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            convolution = before == 1 and wide
            first, last = (data.x.cols, hidden), (hidden if wide else data.x.cols, data.classes)
            if wide:
                self.first = GCNConv(*first, cached=True) if convolution else torch.nn.Linear(*first)
            self.last = GCNConv(*last, cached=True) if between else torch.nn.Linear(*last)
            self.smooth_once = APPNP(before, alpha=0.0) if before and not convolution else None
            self.smooth_labels = APPNP(labels, alpha=0.0, normalize=False) if labels else None

        @staticmethod
        def layer(module, x, edges):
            return module(x) if isinstance(module, torch.nn.Linear) else module(x, edges)

        def forward(self, x, edges, label_edges, label_weights):
            x = F.dropout(x, rate, self.training)
            if wide:
                x = F.dropout(self.layer(self.first, x, edges).relu(), rate, self.training)
            x = self.layer(self.last, x, edges)
            if self.smooth_labels is None:
                return F.log_softmax(x, 1)
            return torch.log(self.smooth_labels(F.softmax(x, 1), label_edges, label_weights))

    return Network()


def stepper(data, net, hidden, rate, device, how=MEAN, **adam):
    """An epoch that leaves the number of right validation nodes on the device, the model, and its outputs for all nodes."""
    model = network(data, net, hidden, rate).to(device)
    x, edges = data.x.dense().to(device), torch.from_numpy(data.edges).to(device)
    P = data.P.coo(device)
    inputs = edges, P.indices().flip(0), P.values()
    y = torch.from_numpy(data.y).to(device)
    train, val = torch.from_numpy(data.train).to(device), torch.from_numpy(data.val).to(device)
    y_train, y_val = y[train], y[val]
    optimiser = torch.optim.Adam(model.parameters(), lr=how.lr, weight_decay=how.weight_decay, **adam)
    with torch.no_grad():
        x = x if model.smooth_once is None else model.smooth_once(x, edges)

    @torch.no_grad()
    def outputs():
        model.eval()
        return model(x, *inputs)

    def step():
        model.train()
        optimiser.zero_grad()
        F.nll_loss(model(x, *inputs).index_select(0, train), y_train, reduction=how.loss).backward()
        optimiser.step()
        return (outputs().index_select(0, val).argmax(1) == y_val).sum()

    return step, model, outputs


def pyg(data, net, hidden, rate, device, how=MEAN):
    step, model, outputs = stepper(data, net, hidden, rate, device, how)
    y, count = torch.from_numpy(data.y).to(device), len(data.val)
    return Training(
        lambda: int(step()) / count,
        [p.data for p in model.parameters()],
        lambda nodes: share_right(outputs()[nodes], y[nodes]),
    )
