"""The section gpu: ours on one core of the processor and on the GPU, the others on the GPU, in one machine."""
import math

import race_epochs
from race_book import Spread
from race_tools import run, spread_of_line

WHO = {
    "pyg": "PyG, GPU",
    "pyg-graph": "PyG, CUDA graph",
    "hand-graph": "PyTorch by hand, CUDA graph",
    "population": "PyTorch by hand, many at once",
}
OURS = "sfumato, GPU, many at once"
TRIALS = 500


def peers_of(tools, options, path, nets, seconds):
    """{(net, way): (what, note)} of one dataset: a Python of its own for each, so that what breaks there ends there."""
    population = 4 if options.quick else 128
    ran = tools.script("peer_gpu.py", "--device", options.device, "--nets", ",".join(nets), "--seconds", seconds,
                       "--population", population, path, timeout=300)  # fmt: skip
    found = {}
    for line in ran.output.splitlines():
        words = line.split()
        if len(words) > 3:
            found[words[1], words[2]] = spread_of_line(line), " ".join(words[8:])
    if ran.status != 0:
        for net in nets:
            for way in WHO:
                found.setdefault((net, way), ("failed: " + ran.why(), ""))
    return found


def ours_on_gpu(tools, options, path, nets):
    """{net: milliseconds per epoch and training} of our trainings on the GPU, many at once."""
    if not options.population:
        return {}
    trainings = 4 if options.quick else 1056
    ran = run([options.population, "--trainings", str(trainings), "--nets", ",".join(nets), path], tools.environment, timeout=300)
    if ran.status != 0:
        raise RuntimeError(ran.why())
    lines = (line.split() for line in ran.output.splitlines())
    return {words[1]: Spread(*(float(word) / 1000 for word in words[2:5])) for words in lines}


def compare_populations(book, fastest):
    """How many times as fast as the best population of PyTorch."""
    ratios = [fastest[name, net, WHO["population"]].median / ours.median for (name, net, who), ours in fastest.items()
              if who == OURS and (name, net, WHO["population"]) in fastest]  # fmt: skip
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        faster = sum(ratio > 1 for ratio in ratios)
        book.say(f"{OURS}: faster than {WHO['population']} in {faster} of {len(ratios)} cells, {mean:.2f} times in the geometric mean")


def race(book, tools, datasets, options):
    nets = options.nets or (["gcn", "sgcn"] if options.quick else race_epochs.NETS)
    seconds = options.seconds or 0.3
    book.say()
    book.say(f"== gpu: ms per epoch (training step and validation accuracy, hidden 64, dropout 0.5), device {options.device}; "
             "ours on one core of the processor and on the GPU")  # fmt: skip
    widths = [9, 10, 13] + [30] * (len(WHO) + 1)
    line = book.table(["dataset", "network", "sfumato", OURS, *WHO.values()], widths)
    failures, fastest = [], {}
    for name, path in datasets.items():
        peers = peers_of(tools, options, path, nets, seconds)
        on_gpu = ours_on_gpu(tools, options, path, nets)
        for net in nets:
            _, epoch, _ = tools.bench(path, net, 1)
            ours = book.add("gpu", name, net, "sfumato, 1 core", epoch, "ms")
            cells = [name, net, book.cell(ours), "-"]
            if net in on_gpu:
                fastest[name, net, OURS] = book.add("gpu", name, net, OURS, on_gpu[net], "ms", ours)
                cells[-1] = book.cell(fastest[name, net, OURS], ours)
            for way, who in WHO.items():
                what, note = peers.get((net, way), ("failed: not measured", ""))
                if isinstance(what, Spread):
                    row = book.add("gpu", name, net, who, what, "ms", ours)
                    fastest[name, net, who] = row
                    cells.append(book.cell(row, ours) + (" !" if "no graph" in note else ""))
                else:
                    cells.append("failed")
                    failures.append(f"{name} {net} {who}: {what}")
            fastest[name, net, "sfumato, 1 core"] = ours
            line(cells)
    if options.device == "cpu":
        book.say("!: no graph on this device")
    for failure in failures:
        book.say("  " + failure)
    compare_populations(book, fastest)
    study(book, tools, datasets, options, fastest)


def study(book, tools, datasets, options, fastest):
    """Trials per second: ours measured, the others as many as their epochs would let them train."""
    name, path = next(iter(datasets.items()))
    trials = 40 if options.quick else TRIALS
    setting = ["--space", "paper hidden={64}", "--loss", "sum"]
    _, ran = tools.ours_json("tune", path, "gcn", "--trials", trials, "--jobs", tools.cores, "--study", "memory", *setting,
                             *tools.split(path), "--device", "cpu", "--export", tools.folder + "/gpu.csv")  # fmt: skip
    epochs = race_epochs.mean_epochs(tools.folder + "/gpu.csv")
    book.say()
    book.say(f"{name} gcn, hidden 64, trials per second at {epochs:.1f} epochs per trial, the mean of a study of {trials} here:")

    def measured(who, ran, count, what):
        row = book.add("gpu study", name, "gcn", who, [count / ran.seconds] * 3, "trials/s")
        book.say(f"  {who:<34} {row.median:10.1f}  measured: {what}")
        return row

    ours = measured(f"sfumato, {tools.cores} cores", ran, trials, f"a study of {trials}, from start to scores")
    if options.population:
        many_studies(tools, options, path, setting, measured)
    for who in ["sfumato, 1 core", OURS, *WHO.values()]:
        row = fastest.get((name, "gcn", who))
        if row is not None:
            values = [1000 / (epochs * ms) for ms in (row.median, row.high, row.low)]
            implied = book.add("gpu study", name, "gcn", who, values, "trials/s", None if who.startswith("sfumato") else ours)
            book.say(f"  {who:<34} {implied.median:10.1f}  implied by its epochs: nothing for choosing, starting, stopping early")


def many_studies(tools, options, path, setting, measured):
    """One study on the GPU, and as many as fill it, all on disk."""
    trials, studies = (10, 2) if options.quick else (2000, 64)
    _, ran = tools.ours_json("tune", path, "gcn", "--trials", trials, "--study", tools.folder + "/gpu.db", *setting,
                             *tools.split(path), "--device", options.device)  # fmt: skip
    measured("sfumato, GPU, one study", ran, trials, f"a study of {trials} on disk, from start to scores, {ran.seconds:.1f} s")
    _, ran = tools.ours_json("compare", path, "--nets", "gcn", "--trials", trials, "--splits", studies, *setting,
                             "--device", options.device, "-o", tools.folder + "/many")  # fmt: skip
    measured(f"sfumato, GPU, {studies} studies", ran, studies * trials, f"{studies} random splits, on disk, {ran.seconds:.1f} s")
