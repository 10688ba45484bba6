"""Comparisons: networks tuned and scored on graphs, label-set sizes and splits, with significance tests."""

from __future__ import annotations

import ctypes
import tempfile
from pathlib import Path
from typing import Any, Optional, Sequence, Union

from . import _abi
from ._html import table
from ._library import Handle, Size, check, created, decoded, encoded, fields_of, lib, listed, options, strings
from ._run import Task, interrupted, run
from .errors import ArgumentError, CancelledError, SfumatoError
from .graph import Graph, _file_name


def compare(graphs: Union[Graph, str, Sequence[Any]], nets: Optional[Sequence[str]] = None, *,
            splits: Optional[int] = None, trials: Optional[int] = None, sizes: Optional[Sequence[Any]] = None,
            space: Optional[str] = None, sampler: Optional[str] = None, seed: int = 0, n_jobs: Optional[int] = None,
            lpnn_trials: Optional[int] = None, folder: Any = None, device: str = "auto",
            share: Optional[str] = None, memory: Size = None) -> Comparison:
    """Tunes every network on every graph, size and split with the same protocol. The command `compare`.

    `graphs` are Graphs, names or paths of datasets; `nets` names or compositions (without them those of the paper);
    `sizes` of the label sets, "1" to "5" or "standard"; `splits` random splits (10 for significance), `trials` per
    study; `sampler` as in `tune`, by default "tpe-independent" for lpnn and "tpe" for all others. `folder` keeps the
    results: the same call continues them, and `report()` writes there. Without it they are in a temporary folder, which
    lives as long as the result. `device`, "auto", "cpu", "cuda" or "cuda:N", does not affect the results. With `share`, postgresql://..., machines that make the same call
    share its studies through this database, and all get all results. `memory`, such as "8G", limits the memory of the
    process: networks that do not fit are in `left_out`, the others have the same results. Ctrl-C keeps the finished
    studies."""
    graphs = [graphs] if isinstance(graphs, (Graph, str, Path)) else list(graphs)
    temporary = tempfile.TemporaryDirectory(prefix="sfumato-")
    names = _dataset_paths(graphs, Path(temporary.name))
    place = str(Path(temporary.name) / "results") if folder is None else str(folder)
    sizes = None if sizes is None else [str(size) for size in sizes]
    how = options("sfu_compare_options", datasets=strings(names, "graphs"), dataset_count=len(names), splits=splits,
                  nets=strings(nets, "nets"), net_count=None if nets is None else len(nets), trials=trials,
                  sizes=strings(sizes, "sizes"), size_count=None if sizes is None else len(sizes), space=space,
                  sampler=sampler, seed=seed, jobs=n_jobs, lpnn_trials=lpnn_trials, folder=place, device=device,
                  share=share, memory=memory)
    made, stopped = run(lambda task: _compare(task, how))
    if stopped:
        interrupted("the comparison has the finished studies")
    return Comparison(made, temporary, stopped)


def _dataset_paths(graphs: Sequence[Any], folder: Path) -> list[str]:
    """Names and paths as they are; graphs in files that are named after them."""
    paths: list[str] = []
    for graph in graphs:
        if not isinstance(graph, Graph):
            paths.append(str(graph))
            continue
        path = folder / f"{_file_name(graph.name)}.safetensors"
        if str(path) in paths:
            raise ArgumentError(f"graphs: two of them are named {graph.name!r}; pass name= when you make them")
        graph.save(path)
        paths.append(str(path))
    return paths


def _compare(task: Task, how: Any) -> Handle:
    def on_progress(_user: Any, at: Any) -> bool:
        now = at.contents
        return task.report("comparing", "trials", float(now.trials), float(now.all))
    callback = _abi.sfu_compare_fn(on_progress)
    how.on_progress = ctypes.cast(callback, ctypes.c_void_p).value
    try:
        return created(lib.sfu_results_free, lib.sfu_compare, ctypes.byref(how))
    except CancelledError as error:
        task.stop = False
        try:
            return created(lib.sfu_results_free, lib.sfu_results_open, how.folder)
        except SfumatoError:
            raise error from None  # no study was finished


def open_comparison(folder: Any) -> Comparison:
    """The results that a comparison, of this package or of the program, left in a folder."""
    return Comparison(created(lib.sfu_results_free, lib.sfu_results_open, encoded(folder, "folder")), None, False)


class Comparison:
    """What `compare` returns: one cell per graph, size and network, ranks and significance tests."""

    def __init__(self, handle: Handle, temporary: Any, stopped: bool):
        self._handle, self._temporary = handle, temporary
        self.interrupted = stopped

    @property
    def folder(self) -> str:
        return decoded(lib.sfu_results_folder(self._handle.pointer))

    @property
    def cells(self) -> list[dict[str, Any]]:
        """Mean test accuracy, standard deviation, confidence interval, rank and p-value of each network."""
        return [fields_of(one) for one in listed(lambda i: lib.sfu_results_cell(self._handle.pointer, i))]

    @property
    def entries(self) -> list[dict[str, Any]]:
        """One row per study: the best trial of a network on one split."""
        return [fields_of(one) for one in listed(lambda i: lib.sfu_results_entry(self._handle.pointer, i))]

    @property
    def left_out(self) -> list[dict[str, Any]]:
        """What the memory limit of this call left out, with the limit that it needs."""
        return [fields_of(one) for one in listed(lambda i: lib.sfu_results_left_out(self._handle.pointer, i))]

    @property
    def ranks(self) -> list[dict[str, Any]]:
        """The average rank of each network over the graphs."""
        return [fields_of(one) for one in listed(lambda i: lib.sfu_results_rank(self._handle.pointer, i))]

    @property
    def rank_pairs(self) -> list[dict[str, Any]]:
        """The difference of the average ranks of each pair of networks, with its bootstrap interval."""
        return [fields_of(one) for one in listed(lambda i: lib.sfu_results_rank_pair(self._handle.pointer, i))]

    @property
    def pairs(self) -> list[dict[str, Any]]:
        """Comparisons of two networks, split by split."""
        return [fields_of(one) for one in listed(lambda i: lib.sfu_results_pair(self._handle.pointer, i))]

    def table(self) -> Any:
        """The cells as a table of pandas; a list of dicts without pandas."""
        keys = ("dataset", "size", "net", "mean", "std", "ci_low", "ci_high", "rank", "p", "splits", "trials")
        rows = [{key: cell[key] for key in keys} for cell in self.cells if cell["measure"] == "test"]
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows, columns=keys)

    @property
    def text(self) -> str:
        """Tables, comparisons and advice in Markdown."""
        return decoded(lib.sfu_results_text(self._handle.pointer))

    def report(self) -> None:
        """Writes tables.md, tables.tex, results.csv, plots and report.html into the folder."""
        run(lambda _task: check(lib.sfu_results_report(self._handle.pointer)))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Comparison({len(self.entries)} studies in {self.folder!r})"

    def _repr_html_(self) -> str:
        rows = [(cell["dataset"], cell["size"], cell["net"], _accuracy(cell), cell["rank"], cell["p"])
                for cell in self.cells if cell["measure"] == "test"]
        return table(("dataset", "size", "network", "test accuracy, %", "rank", "p"), rows)


def _accuracy(cell: dict[str, Any]) -> str:
    spread = "" if cell["std"] != cell["std"] else f" ± {100 * cell['std']:.1f}"
    return f"{100 * cell['mean']:.1f}{spread}"
