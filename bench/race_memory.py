"""The section memory: peak memory of a training and of a study, the time to start, and what is installed."""
import json
import os
import re
import shutil
import subprocess

import race_study
import race_training
from race_book import short, spread
from race_epochs import WHO

MIB = 1048576


def race(book, tools, datasets, options):
    book.say()
    book.say("== memory: the peak of a process, MiB")
    line = book.table(["what", "who", "MiB"], [34, 30, 20])
    training(book, tools, line, datasets, options)
    study(book, tools, line, datasets, options)
    book.say()
    book.say("== start: seconds")
    start(book, tools, options)
    book.say()
    book.say("== size: MiB installed; the C library and Python itself are not counted")
    size(book, tools)


def training(book, tools, line, datasets, options):
    for name in [name for name in datasets if name in ("cora", "pubmed")] or list(datasets)[:1]:
        for net in options.nets[:1] or ["gcn"]:
            done = race_training.trainings(tools, datasets[name], net, None, options.quick)
            ours = book.add("memory", name, net, "sfumato", spread([each.ran.mib for each in done]), "MiB")
            line([f"training, {name} {net}", "sfumato", book.cell(ours)])
            for way in race_training.QUICK_WAYS if options.quick else race_training.WAYS:
                try:
                    done = race_training.trainings(tools, datasets[name], net, way, options.quick)
                except RuntimeError as error:
                    book.say(f"{WHO[way]}: {error}")
                    continue
                row = book.add("memory", name, net, WHO[way], spread([each.ran.mib for each in done]), "MiB", ours)
                line(["", WHO[way], book.cell(row, ours)])


def study(book, tools, line, datasets, options):
    """A worker of ours is a thread: the process divided by how many there are. The others' is a process."""
    name, path = next(iter(datasets.items()))
    ran = race_study.first_study(tools, path, options.trials, 0)
    who = f"sfumato, {tools.cores} jobs, a job"
    ours = book.add("memory of a study", name, "gcn", who, [ran.mib / tools.cores] * 3, "MiB")
    line([f"study of {options.trials}, {name} gcn", who, book.cell(ours)])
    for way, search in [("pruned", "none")] if options.quick else [("pyg", "memory"), ("pruned", "none")]:
        who = WHO[way] + (", Optuna" if search != "none" else ", given") + ", a process"
        if search != "none" and not tools.has("optuna"):
            book.say(f"{who}: not here: no optuna")
            continue
        ran = tools.script("peer_tune.py", "--way", way, "--search", search, "--trials", 1 if options.quick else 4, path,
                           os.path.join(tools.folder, "trials.csv"), timeout=300)  # fmt: skip
        if ran.status != 0:
            book.say(f"{who}: {ran.why()}")
            continue
        row = book.add("memory of a study", name, "gcn", who, [ran.mib] * 3, "MiB", ours)
        line(["", who, book.cell(row, ours)])


def start(book, tools, options):
    few = 1 if options.quick else 5
    line = book.table(["what", "", "seconds"], [34, 0, 20])
    ours = book.add("start", "", "", "sfumato --help", spread([tools.ours("--help").seconds for _ in range(21)]), "s")
    line([ours.who, "", f"{ours.median:.4f}"])
    for module in ("torch", "torch_geometric", "optuna", "sknetwork"):
        if not tools.has(module):  # which has also brought its files into memory
            line([f"import {module}", "", "not here"])
            continue
        seconds = [tools.import_once(module).seconds for _ in range(few)]
        row = book.add("start", "", "", f"import {module}", spread(seconds), "s", ours)
        line([row.who, "", book.cell(row, ours)])


def libraries(program):
    """The shared libraries that it needs, the C library apart."""
    try:
        told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    except OSError:
        return []
    paths = re.findall(r"=> (/\S+)", told)
    return [path for path in paths if not re.match(r"(libc|libm|libpthread|libdl|librt)\.so", os.path.basename(path))]


def size(book, tools):
    line = book.table(["what", "", "MiB"], [50, 0, 20])
    stripped = os.path.join(tools.folder, "stripped")
    shutil.copy(tools.program, stripped)
    subprocess.run(["strip", stripped], check=False, stderr=subprocess.DEVNULL) if shutil.which("strip") else None
    needs = libraries(tools.program)
    program, shared = os.path.getsize(stripped) / MIB, sum(os.path.getsize(os.path.realpath(path)) for path in needs) / MIB
    ours = book.add("size", "", "", "sfumato and its shared libraries", [program + shared] * 3, "MiB")
    line([f"{ours.who}: {program:.2f} and {shared:.2f}", "", short(ours.median)])
    ran = tools.script("race_versions.py")
    for name, bytes_ in json.loads(ran.output or "{}").items():
        who = ("torch_geometric, torch" if name == "torch_geometric" else name) + " and what is needed"
        row = book.add("size", "", "", who, [bytes_["all"] / MIB] * 3, "MiB", ours)
        line([who, "", book.cell(row, ours)])
        if bytes_["gpu"]:
            row = book.add("size", "", "", who + ", GPU left out", [(bytes_["all"] - bytes_["gpu"]) / MIB] * 3, "MiB", ours)
            line([row.who, "", book.cell(row, ours)])
