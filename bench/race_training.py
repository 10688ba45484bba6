"""The section training: one training with early stopping, from the start of the process to the scores; each side with the threads
that it takes by itself."""
import functools
import typing

from race_book import short, spread
from race_epochs import WHO
from race_tools import Ran

REPEATS, ENOUGH_SECONDS = 3, 10
WAYS = ["plain", "bag", "pruned", "pyg"]
QUICK_WAYS = ["pyg"]


class Trained(typing.NamedTuple):
    ran: Ran
    epochs: int
    test: float
    imports: float  # seconds, of Python


def ours_once(tools, path, net, seed):
    told, ran = tools.ours_json("train", path, net, "--seed", seed, *tools.split(path))
    return Trained(ran, told["epochs"], told["test_accuracy"], 0.0)


def peer_once(tools, path, net, seed, way):
    ran = tools.script("peer_train.py", "--way", way, "--net", net, "--seed", seed, path, timeout=300)
    if ran.status != 0:
        raise RuntimeError(ran.why())
    words = ran.output.split()
    return Trained(ran, int(words[0]), float(words[2]), float(words[3]))


@functools.cache
def trainings(tools, path, net, way=None, quick=False):
    """Several, with seeds in a row; of ours without a way. Fewer where they take long."""
    done = []
    while len(done) < (1 if quick else REPEATS) and sum(each.ran.seconds for each in done) < ENOUGH_SECONDS:
        seed = len(done)
        done.append(ours_once(tools, path, net, seed) if way is None else peer_once(tools, path, net, seed, way))
    return done


def race(book, tools, datasets, options):
    book.say()
    book.say("== training: seconds from the start of the process to the scores (500 epochs at most, patience 25, hidden 64, dropout 0.5),")
    book.say("   seeds in a row, so that epochs differ; without imports: less what Python takes to import torch and the rest")
    line = book.table(["dataset", "network", "who", "seconds", "without imports", "epochs", "test"], [9, 10, 18, 20, 20, 7, 7])
    for name, path in datasets.items():
        for net in options.nets or ["gcn"]:
            done = trainings(tools, path, net, None, options.quick)
            ours = book.add("training", name, net, "sfumato", spread([each.ran.seconds for each in done]), "s")
            line([name, net, "sfumato", book.cell(ours), "", *outcome(done)])
            for way in QUICK_WAYS if options.quick else WAYS:
                peer(book, tools, line, ours, (name, path, net, way), options)


def outcome(done):
    return short(spread([each.epochs for each in done]).median), f"{spread([each.test for each in done]).median:.3f}"


def peer(book, tools, line, ours, where, options):
    name, path, net, way = where
    try:
        done = trainings(tools, path, net, way, options.quick)
    except RuntimeError as error:
        book.say(f"{name:<9} {net:<10} {WHO[way]}: {error}")
        return
    whole = book.add("training", name, net, WHO[way], spread([each.ran.seconds for each in done]), "s", ours)
    rest = spread([each.ran.seconds - each.imports for each in done])
    rest = book.add("training", name, net, WHO[way] + ", without imports", rest, "s", ours)
    line(["", "", WHO[way], book.cell(whole, ours), book.cell(rest, ours), *outcome(done)])
