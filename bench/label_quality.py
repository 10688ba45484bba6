#!/usr/bin/env python3
"""How good `sfumato label` is: accuracy, calibration, coverage and choice, on nodes whose labels it has not seen.

    bench/label_quality.py [--sfumato build/sfumato] [--data DIR] [--budget 60s] [--seeds 10] [--jobs 1] [CASE...]

Cases: rivals, fraud and people (DIR/tables, with *_truth.csv), and citation, cora and citeseer (the built-in dataset and
DIR/planetoid) with one label in ten. Prints one line per run and the means per case. Python's standard library alone.
"""
import argparse, csv, json, os, random, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

CASES = ["rivals", "people", "fraud", "citation", "cora", "citeseer"]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def write_rows(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


# ---- input: options of `label`, and the true labels


def standardised(nodes, skip):
    """Numbers to zero mean and unit variance, with gaps at the mean; one column per value of a category."""
    header, body = nodes[0], nodes[1:]
    columns, names = [], []
    for c, name in enumerate(header):
        if c == 0 or name in skip:
            continue
        values = [row[c] for row in body]
        numbers = [float(v) if v.replace(".", "", 1).replace("-", "", 1).isdigit() else None for v in values]
        known = [v for v in numbers if v is not None]
        if 2 * len(known) > len(values):
            mean = sum(known) / len(known)
            spread = (sum((v - mean) ** 2 for v in known) / len(known)) ** 0.5 or 1
            columns.append([0 if v is None else (v - mean) / spread for v in numbers])
            names.append(name)
        elif len(set(values)) <= 20:
            for one in sorted(set(values)):
                columns.append([float(v == one) for v in values])
                names.append(f"{name}={one}")
    return [[header[0], *names]] + [[row[0], *(f"{c[i]:.6g}" for c in columns)] for i, row in enumerate(body)]


def table_case(case, options, folder):
    tables = os.path.join(options.data, "tables")
    label = {"rivals": "side", "people": "group", "fraud": "fraud"}[case]
    nodes = rows_of(f"{tables}/{case}_nodes.csv")
    at = nodes[0].index(label)
    truth = {row[0]: row[1] for row in rows_of(f"{tables}/{case}_truth.csv")[1:]}
    features = nodes if case == "rivals" else standardised(nodes, [label])
    if case == "rivals":
        features = [row[:at] for row in nodes]
    edges = rows_of(f"{tables}/{case}_edges.csv")
    if case == "fraud":
        edges = [[b, c, a] for a, b, c in edges]
    write_rows(f"{folder}/edges.csv", edges)
    write_rows(f"{folder}/nodes.csv", [[*f, n[at] if n[at] in truth.values() or n is nodes[0] else ""]
                                       for f, n in zip(features, nodes)])
    given = ["--edges", f"{folder}/edges.csv", "--nodes", f"{folder}/nodes.csv", "--label", label]
    if case != "rivals":
        given += ["--scale", "none"]
    if case == "fraud":
        given += ["--metric", "average-precision"]
    return given, truth


def exported_case(case, options, folder, seed):
    """One label in ten, drawn at random."""
    source = case
    if case != "citation":
        source = f"{folder}/{case}.safetensors"
        subprocess.run([options.sfumato, "data", "import", f"{options.data}/planetoid/ind.{case}", "-o", source, "-q"],
                       check=True, stdout=subprocess.DEVNULL)
    subprocess.run([options.sfumato, "data", "export", source, "-o", f"{folder}/x", "-q"], check=True,
                   stdout=subprocess.DEVNULL)
    nodes = rows_of(f"{folder}/x/nodes.csv")
    at = nodes[0].index("label")
    truth = {row[0]: row[at] for row in nodes[1:] if row[at]}
    kept = set(random.Random(seed).sample(sorted(truth), len(truth) // 10))
    write_rows(f"{folder}/labels.csv", [["node", "label"]] + [[n[0], n[at] if n[0] in kept else ""] for n in nodes[1:]])
    return ["--edges", f"{folder}/x/edges.csv", "--features", f"{folder}/x/features.csv", "--labels",
            f"{folder}/labels.csv"], truth


# ---- scores


def calibration_error(rows, bins=15):
    rows = sorted(rows)
    total = 0
    for b in range(bins):
        part = rows[b * len(rows) // bins:(b + 1) * len(rows) // bins]
        if part:
            total += abs(sum(p for p, _ in part) - sum(r for _, r in part))
    return total / len(rows)


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


def run(case, seed, options):
    with tempfile.TemporaryDirectory() as folder:
        given, truth = (table_case(case, options, folder) if case in CASES[:3] else
                        exported_case(case, options, folder, seed))
        command = [options.sfumato, "label", *given, "-o", f"{folder}/out.csv", "--budget", options.budget, "--json",
                   "--seed", str(seed), "--quiet", "--jobs", str(options.jobs), *options.options.split()]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        report = json.loads(done.stdout)
        with open(f"{folder}/out.csv", newline="") as file:
            rows = [r for r in csv.DictReader(file) if r["node"] in truth]
    sure = [(float(r["probability"]), r["label"] == truth[r["node"]]) for r in rows]
    accuracy = sum(r for _, r in sure) / len(sure)
    found = {"accuracy": accuracy, "estimate": report["accuracy"],
             "inside": float(report["ci_low"] <= accuracy <= report["ci_high"]),
             "width": report["ci_high"] - report["ci_low"], "ece": calibration_error(sure),
             "steps": report["steps"], "seconds": report["seconds"]}
    if "set" in rows[0]:
        found["coverage"] = sum(truth[r["node"]] in r["set"].split("|") for r in rows) / len(rows)
        found["set size"] = sum(len(r["set"].split("|")) for r in rows) / len(rows)
    if case == "fraud":
        found["ap"] = average_precision([(float(r["yes"]), truth[r["node"]] == "yes") for r in rows])
        found["ap estimate"] = report.get("score", 0)
    return case, seed, report["net"], found


def line(case, what, found, net=""):
    print(f"{case:9} {what:>5} {net:10}" + "".join(f"  {k} {v:.3f}" for k, v in found.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--sfumato", default="build/sfumato")
    parser.add_argument("--data", default="shared/data")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=0, help="of each run")
    parser.add_argument("--runs", type=int, default=1, help="at the same time")
    parser.add_argument("--options", default="", help="further options of label")
    options = parser.parse_args()
    with ThreadPoolExecutor(options.runs) as pool:
        for case in options.cases:
            results = list(pool.map(lambda seed: run(case, seed, options), range(options.seeds)))
            for _, seed, net, found in results:
                line(case, seed, found, net)
            means = {k: sum(f[k] for *_, f in results) / len(results) for k in results[0][3]}
            line(case, "mean", means)


if __name__ == "__main__":
    main()
