"""Tuning GCN in PyTorch: what a trial costs, with the configurations of our own study or with Optuna looking for them.

usage: peer_tune.py --way WAY --trials N [--jobs J] [--threads T] [--search none|memory|sqlite] DATASET.safetensors TRIALS.csv

TRIALS.csv is what `sfumato tune --export` writes. The ways are those of peer_epoch.py. A trial is one training: the loss a sum,
Adam with L2 weight decay, at most 500 epochs, at most 25 of them without a better validation accuracy.

  --search none      the very configurations of our study, N of them: each hidden width as often as there, evenly over the study.
                     Choosing and storing cost nothing.
  --search memory    Optuna's TPE in a study that already has the first half of our trials, as it is half-way through: the mean
  --search sqlite    cost of choosing. In memory, or in a SQLite file that all processes share.

J processes with T threads each take trials as they come. Starting them, reading the data and a first epoch are not counted, nor
is the time at the end in which one of them has no trial left. Prints one line:

  WAY SEARCH J T TRIALS EPOCHS BUSY SEARCHING ALIKE ALIKE_CPU

BUSY: seconds of all processes together, SEARCHING: those of them outside trainings, ALIKE: seconds that the processes together
would take for all trainings of TRIALS.csv with as many epochs as there, from the time of an epoch of each hidden width, and
ALIKE_CPU the same in seconds of the processor, on which it counts little what else the machine does.
Needs what peer_epoch.py needs, and optuna for a search.
"""
import argparse
import collections
import csv
import multiprocessing
import os
import tempfile
import time
import warnings

import torch

import peer_epoch
from peer_data import Data, How, train_until

WIDTHS = [8, 16, 32, 64, 128]

Ran = collections.namedtuple("Ran", "hidden epochs seconds cpu accuracy")


def read_trials(path):
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if row["state"] == "COMPLETE"]


def settings(row):
    return {**{name: float(row[name]) for name in ("lr", "dropout", "weight_decay")}, "hidden": int(row["hidden"])}


def spread(rows, count):
    """As many of the rows, each width as often as it is there, evenly over the study."""
    ordered = sorted(rows, key=lambda row: (int(row["hidden"]), int(row["number"])))
    chosen = [ordered[int((i + 0.5) * len(ordered) / count)] for i in range(count)]
    return sorted(chosen, key=lambda row: -int(row["hidden"]))  # the long ones first, so that all end together


def train(way, data, lr, dropout, weight_decay, hidden):
    """One training, as a study runs it."""
    begin, begin_cpu = time.perf_counter(), time.process_time()
    epoch = peer_epoch.start(way, data, "gcn", hidden, dropout, how=How(lr, weight_decay, "sum"))
    ran, best = train_until(epoch)
    return Ran(hidden, ran, time.perf_counter() - begin, time.process_time() - begin_cpu, best)


# ---- who says what is trained next -----------------------------------------------------------------------------------


def take_given(work, run):
    """The configurations of a list, whoever comes first."""
    while True:
        with work.next.get_lock():
            i = work.next.value
            work.next.value += 1
        if i >= len(work.given):
            return
        run(**work.given[i])


def with_optuna(work, run):
    """Optuna's loop, until all processes together have had their trials."""
    study = work.study()

    def objective(trial):
        with work.next.get_lock():
            work.next.value += 1
            if work.next.value >= work.trials:
                study.stop()
        return run(
            lr=trial.suggest_float("lr", 0, 1),
            dropout=trial.suggest_float("dropout", 0, 1),
            weight_decay=trial.suggest_float("weight_decay", 0, 1),
            hidden=trial.suggest_categorical("hidden", WIDTHS),
        ).accuracy

    if work.next.value < work.trials:
        study.optimize(objective)


class Given:
    take = staticmethod(take_given)

    def __init__(self, options, rows):
        self.given = [settings(row) for row in spread(rows, options.trials)]


class Optuna:
    take = staticmethod(with_optuna)

    def __init__(self, options, rows):
        self.trials = options.trials
        self.rows = rows[: len(rows) // 2]
        self.url = None
        if options.search == "sqlite":
            self.folder = tempfile.TemporaryDirectory()
            self.url = "sqlite:///" + os.path.join(self.folder.name, "study.db")
            self.fill()

    def study(self):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        if self.url is None:
            return self.fill()
        sampler = optuna.samplers.TPESampler()
        return optuna.load_study(study_name="peer", storage=self.url, sampler=sampler)

    def fill(self):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(study_name="peer", storage=self.url, direction="maximize")
        unit = optuna.distributions.FloatDistribution(0, 1)
        ranges = {"lr": unit, "dropout": unit, "weight_decay": unit}
        ranges["hidden"] = optuna.distributions.CategoricalDistribution(WIDTHS)
        study.add_trials(
            optuna.trial.create_trial(params=settings(row), distributions=ranges, value=float(row["val_accuracy"]))
            for row in self.rows
        )
        return study

    def __getstate__(self):  # what a process is given
        return {name: value for name, value in self.__dict__.items() if name != "folder"}


# ---- processes -------------------------------------------------------------------------------------------------------


def work_on(work, options, next_, ready, results):
    warnings.filterwarnings("ignore")
    torch.set_num_threads(options.threads)
    torch.manual_seed(os.getpid())
    work.next = next_
    data = Data(options.dataset)
    for hidden in WIDTHS:  # caches, and what libraries do the first time
        peer_epoch.start(options.way, data, "gcn", hidden, 0.5)()
    done = []

    def run(**configuration):
        done.append(train(options.way, data, **configuration))
        return done[-1]

    ready.wait()
    begin = time.perf_counter()
    work.take(work, run)
    results.put((time.perf_counter() - begin, done))


def alike(done, rows, clock):
    """Seconds for all the trainings of `rows`, from those of an epoch of each width (of all, where a width did not come up)."""
    seconds, epochs = collections.Counter(), collections.Counter()
    for ran in done:
        for width in (ran.hidden, None):
            seconds[width] += getattr(ran, clock)
            epochs[width] += ran.epochs
    wanted = collections.Counter()
    for row in rows:
        wanted[int(row["hidden"])] += int(row["epochs"])
    known = {width: width if epochs[width] else None for width in wanted}
    return sum(count * seconds[known[width]] / epochs[known[width]] for width, count in wanted.items())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--way", default="pyg")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--search", default="none", choices=["none", "memory", "sqlite"])
    parser.add_argument("dataset")
    parser.add_argument("study")
    options = parser.parse_args()
    rows = read_trials(options.study)
    work = (Given if options.search == "none" else Optuna)(options, rows)
    spawn = multiprocessing.get_context("spawn")
    next_, ready, results = spawn.Value("i", 0), spawn.Barrier(options.jobs), spawn.Queue()
    processes = [spawn.Process(target=work_on, args=(work, options, next_, ready, results)) for _ in range(options.jobs)]
    for process in processes:
        process.start()
    ended = [results.get() for _ in processes]
    for process in processes:
        process.join()
    busy, done = sum(seconds for seconds, _ in ended), [ran for _, list_ in ended for ran in list_]
    training = sum(ran.seconds for ran in done)
    print(options.way, options.search, options.jobs, options.threads, len(done), sum(ran.epochs for ran in done),
          f"{busy:.3f} {busy - training:.3f} {alike(done, rows, 'seconds'):.2f} {alike(done, rows, 'cpu'):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
