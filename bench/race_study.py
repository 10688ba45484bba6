"""The section study: trials a second of tuning GCN in the paper's space.

Ours is the whole program: reading, planning, all trials with TPE, each stored in a SQLite file, the winner scored; run before and
after the others. They run a sample, of which peer_tune.py says what is left out in their favour:

  optuna      Optuna's TPE half-way through such a study (the trials that it finds there are ours), as users run it
  given       the very configurations of our study, an even sample, for which choosing and storing cost nothing

As early stopping is a matter of luck in a small sample, "x alike" is for as many epochs of each hidden width as ours had, and "x CPU"
that in seconds of the processor, search and storage left out for them.
"""
import functools
import os

from race_book import spread, times
from race_epochs import WHO, mean_epochs

NET = "gcn"

# Trials of a sample, at least. How many epochs trainings of a study take differs by 0.33 to 0.46 of the mean (three studies), so that
# the mean of 24 of them is off by 7 to 9 %, of 120 by 3 to 4. One process with all cores is so much slower that a few will do.
FEW, MANY, MORE = 8, 120, 240


def study_once(tools, path, trials, number):
    """A whole study of ours; its trials are left in a table."""
    place = os.path.join(tools.folder, f"study{number}.db")
    ran = tools.ours("tune", path, NET, "--trials", trials, "--jobs", tools.cores, "--study", place,
                     "--space", "paper", *tools.split(path), "--export", os.path.join(tools.folder, "trials.csv"), "--quiet")  # fmt: skip
    if ran.status != 0:
        raise RuntimeError(ran.why())
    return ran


first_study = functools.cache(study_once)


def peers_of(tools, quick):
    """Way, search, processes, threads, trials."""
    cores = tools.cores
    if quick:
        yield from [("pyg", "memory", 1, cores, 1)]
        return
    many, more = max(MANY, 2 * cores), max(MORE, 4 * cores)
    yield from [("pyg", "sqlite", cores, 1, many), ("pyg", "sqlite", 1, cores, FEW), ("pyg", "memory", 1, cores, FEW),
                ("pyg", "none", cores, 1, many)]  # fmt: skip
    for way in ("tuned", "bag", "pruned"):
        yield way, "none", cores, 1, more


def race(book, tools, datasets, options):
    name, path = next(iter(datasets.items()))
    trials = options.trials
    runs = [first_study(tools, path, trials, 0)]
    results = []
    for way, search, jobs, threads, sample in peers_of(tools, options.quick):
        who = f"{WHO[way]}, " + ("given" if search == "none" else f"Optuna ({search})")
        who += f", {threads} threads" if jobs == 1 else f", {jobs} processes"
        if search != "none" and not tools.has("optuna"):
            results.append((who, "not here: no optuna"))
            continue
        ran = tools.script("peer_tune.py", "--way", way, "--search", search, "--jobs", jobs, "--threads", threads,
                           "--trials", sample, path, os.path.join(tools.folder, "trials.csv"), timeout=600)  # fmt: skip
        results.append((who, ran.output.split()[2:] if ran.status == 0 else "failed: " + ran.why()))
    if not options.quick:
        runs.append(study_once(tools, path, trials, 1))
    show(book, tools, name, trials, runs, results)


def show(book, tools, name, trials, runs, results):
    epochs = mean_epochs(os.path.join(tools.folder, "trials.csv"))
    book.say()
    book.say(f"== study: trials a second of a study of {trials}, {NET} on {name}, the paper's space; the others run a sample")
    line = book.table(["", "", "trials/s", "ms/trial", "epochs", "x", "x alike", "x CPU"], [46, 0, 10, 9, 7, 9, 9, 9])
    ours = book.add("study", name, NET, f"sfumato, {tools.cores} jobs", spread([trials / run.seconds for run in runs]), "trials/s")
    line([f"{ours.who}, TPE, SQLite", "", f"{ours.median:.2f}", f"{1000 / ours.median:.1f}", f"{epochs:.1f}", "", "", ""])
    seconds = sum(run.seconds for run in runs) / len(runs)
    cpu = sum(run.cpu for run in runs) / len(runs)
    for who, what in results:
        if isinstance(what, str):
            book.say(f"{who}: {what}")
            continue
        jobs, _, sample, ran_epochs, busy, searching, alike, alike_cpu = map(float, what)
        rate = sample * jobs / busy
        row = book.add("study", name, NET, who, [rate] * 3, "trials/s", ours)
        # Outside trainings it takes as long a trial as it took here.
        alike = (alike + searching / sample * trials) / jobs / seconds
        line([who, "", f"{rate:.3f}", f"{1000 / rate:.1f}", f"{ran_epochs / sample:.1f}", times(book.ratio(row, ours)),
              times(alike), times(alike_cpu / cpu)])  # fmt: skip
