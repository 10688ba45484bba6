#!/usr/bin/env python3
"""How good `sfumato label` is, on nodes whose labels it has not seen.

    bench/label_quality.py [--sfumato build/sfumato] [--data DIR] [--budget steps:9] [--draws 20] [--runs 2] [CASE...]

A graph (the built-in `citation` or files in DIR) keeps the labels of a tenth of its nodes and of at least ten nodes per
class, drawn at random. A made table (people, fraud and rivals in DIR/tables) comes with its labels hidden; there a draw
is only another seed. `--candidates` also trains every candidate by itself, to see how far the choice is from the best
of them. Prints one line per case; `--each` one per run. Python's standard library alone.

    accuracy     of the unlabelled nodes, and what label expects it to be
    in interval  runs whose 95 % confidence interval contains the accuracy
    ECE          expected calibration error of the predicted labels, 15 bins of equal size, all draws together
    coverage     unlabelled nodes whose set of labels at 90 % contains the true one
    lost         the accuracy of the best candidate minus that of the chosen one
    AP           average precision of the rare class, instead of the accuracy (fraud)
"""
import argparse, csv, json, os, random, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

# options of `data import`; {} is the folder of the data
SOURCES = {"citation": "", "cora": "{}/planetoid/ind.cora", "citeseer": "{}/planetoid/ind.citeseer",
           "pubmed": "{}/planetoid/ind.pubmed",
           "acm": "{}/acm/ACM3025.mat --edges PAP --features feature --labels label",
           "dblp": "--edges {0}/dblp/apa.npz --features {0}/dblp/a_feat.npz --labels {0}/dblp/labels.npy",
           "tolokers": "{}/heterophilous/tolokers.npz", "minesweeper": "{}/heterophilous/minesweeper.npz",
           "squirrel": "{}/heterophilous/squirrel_filtered.npz", "wisconsin": "{}/heterophilous/wisconsin.npz"}
TABLES = {"people": "group", "fraud": "fraud", "rivals": "side"}
NETS = ["sgcn", "linear", "mlp", "linear+lp", "sgcn+lp", "fp+mlp", "gcn", "mlp+lp", "gcn+lp"]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


# ---- input: options of `label`, and the true labels


def export(case, options, folder):
    """Writes the graph as CSV files, once per case."""
    source = "citation"
    if SOURCES[case]:
        source = f"{folder}/{case}.safetensors"
        call(options.sfumato, "data", "import", *SOURCES[case].format(options.data).split(), "-o", source)
    call(options.sfumato, "data", "export", source, "-o", f"{folder}/{case}")


def draw(nodes, at, seed):
    """The nodes that keep their labels."""
    chance = random.Random(seed)
    labelled = [row for row in nodes if row[at]]
    chance.shuffle(labelled)
    kept = {row[0] for row in labelled[:len(labelled) // 10]}
    for name in {row[at] for row in labelled}:
        own = [row[0] for row in labelled if row[at] == name]
        kept.update(own[:10] if sum(node in kept for node in own) < 10 else [])
    return kept


def graph_case(case, folder, here, seed):
    nodes = rows_of(f"{folder}/{case}/nodes.csv")
    at = nodes[0].index("label")
    truth = {row[0]: row[at] for row in nodes[1:] if row[at]}
    kept = draw(nodes[1:], at, seed)
    with open(f"{here}/labels.csv", "w", newline="") as file:
        csv.writer(file).writerows([["node", "label"]] + [[n[0], n[at] if n[0] in kept else ""] for n in nodes[1:]])
    return ["--edges", f"{folder}/{case}/edges.csv", "--features", f"{folder}/{case}/features.csv", "--labels",
            f"{here}/labels.csv", "--scale", "none", "--label-type", "class"], truth


def table_case(case, options):
    path = os.path.join(options.data, "tables", case)
    truth = {row[0]: row[1] for row in rows_of(f"{path}_truth.csv")[1:]}
    given = ["--edges", f"{path}_edges.csv", "--nodes", f"{path}_nodes.csv", "--label", TABLES[case]]
    return given + (["--metric", "average-precision"] if case == "fraud" else []), truth


# ---- scores


def calibration_error(rows, bins=15):
    rows = sorted(rows)
    parts = [rows[b * len(rows) // bins:(b + 1) * len(rows) // bins] for b in range(bins)]
    return sum(abs(sum(p for p, _ in part) - sum(right for _, right in part)) for part in parts) / len(rows)


def average_precision(scored):
    """Nodes with equal probabilities count as one step."""
    steps = {}
    for p, positive in scored:
        step = steps.setdefault(p, [0, 0])
        step[0] += 1
        step[1] += positive
    seen = found = area = 0
    for p in sorted(steps, reverse=True):
        seen += steps[p][0]
        found += steps[p][1]
        area += steps[p][1] * found / seen
    return area / found


def label(given, options, here, seed, budget, *more):
    """The report, and the rows of the unlabelled nodes."""
    text = call(options.sfumato, "label", *given, "-o", f"{here}/out.csv", "--budget", budget, "--json", "--forget",
                "--seed", str(seed), "--quiet", "--jobs", str(options.jobs), *more)
    with open(f"{here}/out.csv", newline="") as file:
        return json.loads(text), list(csv.DictReader(file))


def accuracy_of(rows, truth):
    return sum(row["label"] == truth[row["node"]] for row in rows if row["node"] in truth) / len(rows)


def lost(given, options, here, seed, truth, accuracy):
    best = accuracy
    for net in NETS:
        rows = label(given, options, here, seed, "steps:1", "--nets", net)[1]
        best = max(best, accuracy_of(rows, truth))
    return best - accuracy


def run(case, folder, seed, options):
    with tempfile.TemporaryDirectory() as here:
        given, truth = table_case(case, options) if case in TABLES else graph_case(case, folder, here, seed)
        report, rows = label(given, options, here, seed, options.budget, "--coverage", "0.9")
        rows = [row for row in rows if row["node"] in truth]
        accuracy = accuracy_of(rows, truth)
        found = {"accuracy": accuracy, "expected": report["accuracy"],
                 "in interval": float(report["ci_low"] <= accuracy <= report["ci_high"]),
                 "coverage": sum(truth[row["node"]] in row["set"].split("|") for row in rows) / len(rows),
                 "labels per set": sum(len(row["set"].split("|")) for row in rows) / len(rows)}
        if options.candidates and case != "fraud":
            found["lost"] = lost(given, options, here, seed, truth, accuracy)
    if case == "fraud":
        found["AP"] = average_precision([(float(row["yes"]), truth[row["node"]] == "yes") for row in rows])
    found["seconds"] = report["seconds"]
    sure = [(float(row["probability"]), row["label"] == truth[row["node"]]) for row in rows]
    return seed, report["net"], found, sure


def line(case, found, what=""):
    print(f"{case:11} {what:12}" + "".join(f"  {key} {value:.3f}" for key, value in found.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=" ".join([*SOURCES, *TABLES]))
    parser.add_argument("--sfumato", default="build/sfumato")
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--budget", default="steps:9")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first draw")
    parser.add_argument("--jobs", type=int, default=1, help="threads of each run")
    parser.add_argument("--runs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--candidates", action="store_true")
    parser.add_argument("--each", action="store_true")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.draws)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.runs) as pool:
        for case in options.cases or [*SOURCES, *TABLES]:
            if case in SOURCES:
                export(case, options, folder)
            results = list(pool.map(lambda seed: run(case, folder, seed, options), seeds))
            for seed, net, found, _ in results if options.each else []:
                line(case, found, f"{seed} {net}")
            means = {key: sum(found[key] for _, _, found, _ in results) / len(results) for key in results[0][2]}
            means["ECE"] = calibration_error([pair for *_, sure in results for pair in sure])
            line(case, means)


if __name__ == "__main__":
    main()
