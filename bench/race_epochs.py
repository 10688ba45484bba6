"""The section epochs: milliseconds an epoch of the seven networks, on one core and on all."""
import csv

from race_book import Spread
from race_tools import Peers, spread_of_line

NETS = ["gcn", "sgcn", "fp+mlp", "sgcn+lp", "gcn+lp", "linear+lp", "mlp+lp"]
WHO = {"plain": "PyTorch, plain", "tuned": "PyTorch, tuned", "bag": "PyTorch, bag", "pruned": "PyTorch, pruned", "pyg": "PyG"}
SKNET = "scikit-network"
SECONDS = 1


def mean_epochs(path):
    """Of the trials of an exported study."""
    with open(path, newline="") as file:
        epochs = [int(row["epochs"]) for row in csv.DictReader(file) if row["state"] == "COMPLETE"]
    return sum(epochs) / len(epochs)


def race(book, tools, datasets, options):
    nets = options.nets or (["gcn", "sgcn"] if options.quick else NETS)
    book.say()
    book.say("== epochs: ms per epoch (training step and validation accuracy, hidden 64, dropout 0.5), one core")
    line = book.table(["dataset", "network", "floor", "sfumato", "x floor", *WHO.values(), SKNET], [9, 10, 7, 13, 7] + [17] * 6)
    wide, failures = [], []
    for name, path in datasets.items():
        peers = Peers(tools, path)
        sknet = sknet_of(tools, path, options.seconds or SECONDS) if "gcn" in nets else None
        for net in nets:
            one(book, tools, line, wide, failures, peers, sknet if net == "gcn" else None, (name, path, net), options)
        peers.close()
    for failure in failures:
        book.say("  " + failure)
    if tools.cores > 1:
        book.say()
        book.say(f"== epochs: the same on {tools.cores} cores; the best PyTorch is what was best on one core")
        line = book.table(["dataset", "network", "sfumato", "gain", "best PyTorch", "PyG"], [9, 10, 13, 7, 17, 17])
        for cells in wide:
            line(cells)


def sknet_of(tools, path, seconds):
    if not tools.has("sknetwork"):
        return "not here"
    ran = tools.script("peer_sknet.py", "--seconds", seconds, path)
    return spread_of_line(ran.output) if ran.status == 0 else "failed: " + ran.why()


def one(book, tools, line, wide, failures, peers, sknet, where, options):
    """One dataset and network: a line on one core, and one of `wide` on all."""
    name, path, net = where
    floor, epoch, _ = tools.bench(path, net, 1)
    book.add("epochs", name, net, "floor, 1 core", [floor] * 3, "ms")
    ours = book.add("epochs", name, net, "sfumato, 1 core", epoch, "ms")
    cells, rows = [name, net, f"{floor:.3f}", book.cell(ours), f"{ours.median / floor:.2f}"], {}

    def take(who, what, against):
        """A cell, of a measurement or of what is said instead."""
        if isinstance(what, Spread):
            rows[who] = book.add("epochs", name, net, who, what, "ms", against)
            return book.cell(rows[who], against)
        if what and what.startswith("failed"):
            failures.append(f"{name} {net} {who}: {what}")
            return "failed"
        return what or "-"

    for way, who in WHO.items():
        cells.append(take(f"{who}, 1 core", peers.ask(net, way, 1, options.seconds or SECONDS), ours))
    cells.append(take(f"{SKNET}, 1 core", sknet, ours))
    line(cells)
    if tools.cores > 1:
        _, epoch, _ = tools.bench(path, net, tools.cores)
        all_cores = book.add("epochs", name, net, "sfumato, all cores", epoch, "ms")
        best = min((way for way in WHO if way != "pyg" and f"{WHO[way]}, 1 core" in rows),
                   key=lambda way: rows[f"{WHO[way]}, 1 core"].median, default="plain")  # fmt: skip
        theirs = []
        for way in (best, "pyg"):
            found = peers.ask(net, way, tools.cores, options.seconds or SECONDS)
            theirs.append(take(f"{WHO[way]}, all cores", found, all_cores))
        wide.append([name, net, book.cell(all_cores), f"{ours.median / all_cores.median:.2f}", *theirs])
