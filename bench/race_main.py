"""Sfumato beside what people use, in one run: time, memory and size, side by side.

usage: bench/race [OPTION]... [DATASET...]

DATASET is a name or the path of a container; by default the five public ones. Names are looked up in the folders of
$SFUMATO_DATA, in data/ and in the cache folder, where `sfumato data get cora citeseer pubmed acm dblp` puts them.

  --only SECTIONS    which of epochs,training,study,memory,growth; gpu is another one, for a machine that has one (default: those five)
  --datasets NAMES   the same as naming them, with commas
  --nets NETS        which networks, with commas (default: all seven for epochs and gpu, gcn for the others)
  --seconds X        how long each epoch is measured over and over (default: 1; 0.3 for gpu)
  --edges N          the largest graph of growth, 10^4 to 10^8 edges (default: 10000000)
  --trials N         of our study (default: 2000)
  --program FILE     our program (default: $SFUMATO, or build/sfumato)
  --python FILE      a Python with torch, torch_geometric, optuna and scikit-network (default: that of $SFUMATO_VENV, or of a virtual
                     environment that is made in the cache folder); what it does not have is left out, and that is said
  --device NAME      where gpu runs (default: cuda)
  --population FILE  build/bench/population, which adds a column to gpu: our trainings on the GPU, many at once
  --quick            everything small, to see that it works: the figures mean nothing
  --out FOLDER       write race.txt, what is printed, and race.csv, one row a measurement
  --help             print this

Example: the epochs of three networks on Cora, in two minutes:
  bench/race --only epochs --nets gcn,sgcn,mlp+lp cora

docs/reference/race.md says what is measured, and what each of the others does and does not do.
"""
import os
import sys
import tempfile
import typing

from race_book import Book, complain
from race_tools import Tools, describe

NETS = ["gcn", "sgcn", "fp+mlp", "sgcn+lp", "gcn+lp", "linear+lp", "mlp+lp"]
DATASETS = ["cora", "citeseer", "pubmed", "acm", "dblp"]
SECTIONS = ["epochs", "training", "study", "memory", "growth"]
EDGES_LEAST, EDGES_MOST = 10**4, 10**8


class Options(typing.NamedTuple):
    sections: list
    datasets: list  # names and paths, as given
    nets: list  # empty: each section's own
    seconds: float  # 0: each section's own
    edges: int
    trials: int
    program: str
    python: str
    device: str
    population: str  # empty: no such column
    quick: bool
    out: str


def listed(text, known, what):
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in known:
            complain(f"unknown {what} \"{name}\": one of {', '.join(known)}")
    return names or complain(f"--{what}s is empty")


def number(text, name, least, most, kind=int):
    try:
        value = kind(float(text))
    except (ValueError, OverflowError):
        complain(f'--{name}: "{text}" is not a number')
    if not least <= value <= most:
        complain(f"--{name}: {text} is not between {least} and {most}")
    return value


def read_arguments(arguments):
    given, names = {}, []
    values = {"only", "datasets", "nets", "seconds", "edges", "trials", "program", "python", "device", "population", "out"}
    at = iter(arguments)
    for argument in at:
        name, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("-"):
            names.append(argument)
        elif argument in ("--quick", "--check"):
            given[name] = True
        elif name in values:
            given[name] = value if equals else next(at, None)
            if not given[name]:
                complain(f"--{name} needs a value")
        else:
            complain(f"unknown option {argument}; bench/race --help lists them")
    names += [name for name in given.get("datasets", "").split(",") if name]
    quick = "quick" in given
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    venv = os.environ.get("SFUMATO_VENV", "")
    return Options(
        sections=listed(given["only"], SECTIONS + ["gpu"], "section") if "only" in given else SECTIONS,
        datasets=names,
        nets=listed(given["nets"], NETS, "net") if "nets" in given else [],
        seconds=number(given["seconds"], "seconds", 0.01, 600, float) if "seconds" in given else 0.05 if quick else 0,
        edges=number(given.get("edges", EDGES_LEAST if quick else 10**7), "edges", EDGES_LEAST, EDGES_MOST),
        trials=number(given.get("trials", 40 if quick else 2000), "trials", 10, 10**6),
        program=given.get("program") or os.environ.get("SFUMATO") or os.path.join(here, "build", "sfumato"),
        python=given.get("python") or (os.path.join(venv, "bin", "python3") if venv else ""),
        device=given.get("device", "cuda"),
        population=given.get("population", ""),
        quick=quick,
        out=given.get("out"),
    )


def find(name):
    """The file of a dataset, None where it is not there."""
    if os.path.isfile(name):
        return name
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folders = [*os.environ.get("SFUMATO_DATA", "").split(":"), "data", os.path.join(cache, "sfumato")]
    paths = (os.path.join(folder, name + ".safetensors") for folder in folders if folder)
    return next((path for path in paths if os.path.isfile(path)), None)


def find_all(options, tools):
    """Name and path of each dataset."""
    if options.quick and not options.datasets:
        path = os.path.join(tools.folder, "small.safetensors")
        tools.ours("data", "make", "-o", path, "--nodes", 2000, "--vocabulary", 60, "--quiet")
        return {"small": path}
    found = {name: find(name) for name in options.datasets or DATASETS}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        complain(f"no dataset {', '.join(missing)} here: sfumato data get {' '.join(missing)}")
    return {os.path.basename(path).removesuffix(".safetensors"): os.path.abspath(path) for path in found.values()}


def check(options):
    """What can be wrong is said before anything is fetched or measured."""
    if not os.access(options.program, os.X_OK):
        complain(f"{options.program}: no such program; make builds it, --program names another")
    if options.python and not os.access(options.python, os.X_OK):
        complain(f"{options.python}: no such program; --python or $SFUMATO_VENV names a Python")
    if not options.quick or options.datasets:
        find_all(options, None)


def main():
    if {"--help", "-h"} & set(sys.argv[1:]):
        print(__doc__.strip())
        return
    options = read_arguments(sys.argv[1:])
    check(options)
    if "--check" in sys.argv[1:]:
        return
    if not options.python:
        complain("no Python: bench/race makes an environment for it, --python names another")
    with tempfile.TemporaryDirectory(prefix="race-") as folder:
        tools = Tools(os.path.abspath(options.program), os.path.abspath(options.python), folder)
        datasets = find_all(options, tools)
        for name, path in datasets.items():
            tools.keep_split(path, name)
        book = Book(options.out)
        for line in describe(tools):
            book.say(line)
        book.say("x: how many times as long as sfumato, or as much; *: better than sfumato. "
                 "±: half of the distance between the quartiles.")  # fmt: skip
        for section in options.sections:
            try:
                __import__("race_" + section).race(book, tools, datasets, options)
            except RuntimeError as error:  # one that cannot be run is no reason to leave out the others
                book.say(f"{section}: failed: {error}")
        book.end()


if __name__ == "__main__":
    main()
