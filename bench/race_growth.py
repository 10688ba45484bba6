"""The section growth: nanoseconds an edge on graphs from 10^4 edges on, ten edges a node, all cores.

Two things are measured: an epoch, for which ours computes only what the training and validation nodes can see, and the prediction
of every node, for which nobody can leave anything out. Where one of the others does not get through, within the memory or the
time that it is given, the table says so, and larger graphs are not tried.
"""
import os

from race_book import Book, Spread
from race_epochs import WHO
from race_tools import memory_available, spread_of_line

GIB = 1 << 30
MEMORY_MOST = 24 * GIB
SECONDS_MOST = 60
WAYS = ["plain", "bag", "pyg"]
WHAT = ["epoch", "predict"]


def sizes(most):
    size = 10**4
    while size < most:
        yield size
        size *= 10
    yield most


def race(book, tools, datasets, options):
    memory = min(MEMORY_MOST, int(0.85 * memory_available()))
    ways = WAYS[:1] if options.quick else WAYS
    book.say()
    book.say(f"== growth: ns an edge on {tools.cores} cores, ten edges a node, 1433 features, 7 classes; the others have "
             f"{memory / GIB:.0f} GiB and {SECONDS_MOST} s for reading and measuring")  # fmt: skip
    heads = [f"{who}, {what}" for what in WHAT for who in ["sfumato", *(WHO[way] for way in ways)]]
    line = book.table(["edges", "network", *heads], [11, 10] + [25] * len(heads))
    stopped, notes = {}, []
    for edges in sizes(options.edges):
        path = os.path.join(tools.folder, f"edges-{edges}.safetensors")
        made = tools.ours("data", "make", "--nodes", edges // 10, "--degree", 20, "-o", path, "--quiet")
        if made.status != 0:
            raise RuntimeError(made.why())
        tools.keep_split(path, f"edges-{edges}")
        for net in options.nets or ["sgcn", "gcn"]:
            ours = ours_of(book, tools, path, edges, net)
            peers = {}
            for way in ways:
                peers[way] = peer(tools, path, net, way, memory, options, stopped)
                if isinstance(peers[way], str) and (net, way) not in stopped:
                    stopped[net, way] = f"from {edges:.0e} on".replace("e+0", "e")
                    notes.append(f"{WHO[way]}, {net}: stops at {edges} edges: {peers[way]}")
            line([edges, net, *cells_of(book, edges, net, ours, peers)])
        os.remove(path)
    for note in notes:
        book.say("  " + note)


def per_edge(milliseconds, edges):
    return Spread(*(1e6 * value / edges for value in milliseconds))


def ours_of(book, tools, path, edges, net):
    _, epoch, predict = tools.bench(path, net, tools.cores)
    return {what: book.add("growth", str(edges), net, f"sfumato, {what}", per_edge(value, edges), "ns an edge")
            for what, value in zip(WHAT, (epoch, predict))}  # fmt: skip


def peer(tools, path, net, way, memory, options, stopped):
    """Milliseconds of the two, or why not."""
    if (net, way) in stopped:
        return stopped[net, way]
    ran = tools.script("peer_epoch.py", "--ways", way, "--nets", net, "--threads", tools.cores, "--predict", "--least", 2,
                       "--seconds", options.seconds or 1, path, timeout=SECONDS_MOST, data_bytes=memory)  # fmt: skip
    lines = [spread_of_line(text) for text in ran.output.splitlines()]
    reasons = [text for text in lines if isinstance(text, str)]
    if reasons:
        return reasons[0]
    if ran.status != 0 or len(lines) < 2:
        return "out of memory" if ran.status in (-9, 137) else ran.why()
    return dict(zip(WHAT, lines))


def cells_of(book: Book, edges, net, ours, peers):
    for what in WHAT:
        yield book.cell(ours[what])
        for way, found in peers.items():
            if isinstance(found, str):
                yield "stops"
                continue
            row = book.add("growth", str(edges), net, f"{WHO[way]}, {what}", per_edge(found[what], edges), "ns an edge", ours[what])
            yield book.cell(row, ours[what])
