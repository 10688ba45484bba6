#!/usr/bin/env python3
"""Imports a table of nodes with sfumato and with pandas and scikit-learn, and compares features and times.

usage: tables.py [--sfumato PROGRAM] [--megabytes N] [--folder F] [--file CSV --id COLUMN] [--tolerance X]

Both read the same CSV file: numbers and dates are standardised (or transformed to quantiles) after missing cells are set
to the median, with an indicator; categories become one feature per level, truth values 0 and 1. Prints the largest
relative difference and the times, and fails if the difference is above the tolerance. Needs numpy, pandas, scikit-learn
and safetensors.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd
from safetensors import safe_open
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, QuantileTransformer, StandardScaler

MISSING = ["", "NA", "N/A", "nan", "NULL", "None", "?"]


def write_table(path, megabytes, seed=1):
    """Numbers of different scales, some of them missing, categories, a truth value and a date."""
    g = np.random.default_rng(seed)
    block, written, first = 100_000, 0, 0
    with open(path, "w") as f:
        f.write("node,income,age,height,balance,score,clicks,visits,city,plan,active,joined\n")
        while written < megabytes * 1_000_000:
            n = block if megabytes >= 10 else 2000
            cities = np.array(["Porto", "Lima", "Oslo", "Kyiv", "Accra", "Hanoi", "Quito", "Turin"])
            days = np.datetime64("2015-01-01") + g.integers(0, 3000, n)
            frame = pd.DataFrame({
                "node": np.arange(first, first + n),
                "income": np.where(g.random(n) < .05, "", np.round(np.exp(g.normal(10, .5, n)), 2).astype(str)),
                "age": np.where(g.random(n) < .03, "NA", g.integers(18, 95, n).astype(str)),
                "height": np.round(g.normal(1.7, .1, n), 3), "balance": np.round(g.normal(0, 1e5, n), 2),
                "score": np.round(g.random(n), 6), "clicks": g.poisson(3, n), "visits": g.integers(0, 1_000_000, n),
                "city": cities[g.integers(0, 8, n)], "plan": np.array(["free", "basic", "pro", ""])[g.integers(0, 4, n)],
                "active": g.random(n) < .4, "joined": days.astype(str)})
            frame.to_csv(f, header=False, index=False)
            written, first = f.tell(), first + n
    return path


def transform_of(dataset):
    with safe_open(dataset, "np") as f:
        return json.loads(f.metadata()["transform"])


def features_of(dataset):
    with safe_open(dataset, "np") as f:
        names = json.loads(f.metadata()["feature_names"])
        if "x" in f.keys():
            return f.get_tensor("x"), names
        from scipy.sparse import csr_matrix
        indptr, indices = f.get_tensor("x.indptr"), f.get_tensor("x.indices")
        return csr_matrix((f.get_tensor("x.value"), indices, indptr), (len(indptr) - 1, len(names))), names


def import_table(program, table, dataset, scale, identifier):
    start = time.time()
    command = [program, "data", "import", "--nodes", table, "--scale", scale, "-o", dataset, "--quiet", "--force"]
    subprocess.run(command + (["--id", identifier] if identifier else []), check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.time() - start


def with_indicator(numbers, missing):
    union = [make_pipeline(SimpleImputer(strategy="median"), numbers)]
    return make_union(*union, MissingIndicator(features="all")) if missing else union[0]


def days_of(frame):
    return frame.apply(lambda column: (pd.to_datetime(column) - pd.Timestamp("1970-01-01")) / pd.Timedelta("1D"))


def sklearn_features(table, columns, scale):
    """The types are those that sfumato detected: scikit-learn has to be told them."""
    start = time.time()
    of = {c["name"]: c for c in columns}
    words = {n for n, c in of.items() if c["type"] in ("category", "date", "boolean")}
    frame = pd.read_csv(table, keep_default_na=False, na_values=MISSING, usecols=list(of),
                        dtype={n: str for n in words})
    frame = frame[list(of)]
    parts = []
    for name, column in of.items():
        numbers = StandardScaler() if scale == "auto" else QuantileTransformer(subsample=None)
        if column["type"] == "number":
            parts.append((name, with_indicator(numbers, column["indicator"]), [name]))
        elif column["type"] == "date":
            parts.append((name, make_pipeline(FunctionTransformer(days_of), with_indicator(numbers, column["indicator"])),
                          [name]))
        elif column["type"] == "boolean":
            truth = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "0": 0.0, "1": 1.0}
            parts.append((name, make_pipeline(FunctionTransformer(lambda x, t=truth: x.apply(lambda s: s.map(t))),
                                              with_indicator(FunctionTransformer(), column["indicator"])), [name]))
        elif column["type"] == "category":
            parts.append((name, OneHotEncoder(dtype=np.float32), [name]))
    features = ColumnTransformer(parts).fit_transform(frame)
    return features, time.time() - start


def difference(ours, theirs):
    """The largest |a - b| / max(1, |b|), by blocks of rows."""
    worst, step = 0.0, 100_000
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    for i in range(0, ours.shape[0], step):
        a, b = ours[i:i + step], theirs[i:i + step]
        a = a.toarray() if hasattr(a, "toarray") else a
        b = b.toarray() if hasattr(b, "toarray") else b
        worst = max(worst, float(np.max(np.abs(a - b) / np.maximum(1, np.abs(b)), initial=0)))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sfumato", default="sfumato")
    parser.add_argument("--megabytes", type=float, default=1)
    parser.add_argument("--folder")
    parser.add_argument("--file")
    parser.add_argument("--id")
    parser.add_argument("--scale", choices=["auto", "quantile"], action="append")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        table = options.file or write_table(os.path.join(folder, "nodes.csv"), options.megabytes)
        size = os.path.getsize(table) / 1e6
        print("scale,megabytes,sfumato_seconds,sklearn_seconds,ratio,difference")
        for scale in options.scale or ["auto", "quantile"]:
            dataset = os.path.join(folder, "table.safetensors")
            seconds = import_table(options.sfumato, table, dataset, scale, options.id)
            columns = [c for c in transform_of(dataset)["columns"] if c["type"] not in ("identifier", "empty")]
            theirs, other = sklearn_features(table, columns, scale)
            worst = difference(features_of(dataset)[0], theirs)
            failed = failed or not worst <= options.tolerance
            print(f"{scale},{size:.0f},{seconds:.2f},{other:.2f},{other / seconds:.1f},{worst:.1e}", flush=True)
    sys.exit("the features differ" if failed else 0)


if __name__ == "__main__":
    main()
