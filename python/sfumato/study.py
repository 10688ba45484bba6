"""Studies: the search for the hyperparameters with the best validation score."""

from __future__ import annotations

import ctypes
import tempfile
from pathlib import Path
from typing import Any, Optional, Sequence, Union

from . import _abi
from ._html import history, table
from ._library import Handle, Size, check, choice, created, decoded, encoded, fields_of, lib, listed, options, strings
from ._model import Model
from ._run import Task, interrupted, run
from .errors import ArgumentError, CancelledError, UnsupportedError
from .estimators import LOSSES, METRICS, GraphClassifier, metric_number
from .graph import Graph, Split, split_of

STATES = ("running", "complete", "pruned", "failed", "waiting")


def tune(graph: Graph, net: str = "gcn", *, space: Optional[str] = None, trials: Optional[int] = None,
         split: Split = None, size: Union[None, int, str] = None, sampler: str = "tpe", metric: str = "accuracy",
         seed: int = 0, n_jobs: Optional[int] = None, wave: Optional[int] = None, enqueue: Sequence[str] = (),
         study: Any = None, study_name: Optional[str] = None, epochs: Optional[int] = None,
         patience: Optional[int] = None, loss: Optional[str] = None, balanced: bool = False, hidden: int = 64,
         k: int = 2, device: str = "auto", memory: Size = None) -> Study:
    """Tunes a network: a name, a composition with $names for searched values, or "any". The command `tune`.

    `space` is "paper" (the default), "practical", or ranges such as "practical k=[1..4] h={16,64}"; `trials` the number
    of trainings in total; `enqueue` points to start with, such as "lr=0.01 dropout=0.5". `study` is a file, or the URL
    of a database, where the study is kept, continued by the same call and shared by processes; without it the study is
    in a temporary file, which lives as long as the result. `device`, "auto", "cpu", "cuda" or "cuda:N", does not affect
    the results, nor does `memory`, such as "8G", the most memory of the process: a larger graph is read from its file,
    for a network that smooths before its first weights. Ctrl-C keeps the finished trials."""
    if not isinstance(graph, Graph):
        raise ArgumentError(f"expected a Graph, found {type(graph).__name__}")
    data, nodes = graph.handle, split_of(graph, split, size)
    folder = None
    if study is None:
        folder = tempfile.TemporaryDirectory(prefix="sfumato-")
        study = str(Path(folder.name) / "study.db")
    train = options("sfu_train_options", metric=metric_number(metric), balanced=balanced, epochs=epochs,
                    device=device, memory=memory, patience=patience,
                    loss=None if loss is None else choice(LOSSES, loss, "loss"))
    how = options("sfu_tune_options", space=space, trials=trials, sampler=sampler, seed=seed, jobs=n_jobs, wave=wave,
                  study=study, study_name=study_name, train=train, loss_is_set=loss is not None,
                  enqueue=strings(enqueue, "enqueue") if enqueue else None, enqueue_count=len(enqueue))
    of_net = options("sfu_net_options", hidden=hidden, k=k)

    def work(task: Task) -> Handle:
        return _tune(task, how, data.pointer, encoded(net, "net"), ctypes.byref(of_net), nodes.pointer)
    made, stopped = run(work)
    found = Study(made, (data, nodes), folder, study, metric, stopped)
    if stopped:
        interrupted("the study has the finished trials")
    return found


def _tune(task: Task, how: Any, *arguments: Any) -> Handle:
    finished = 0

    def on_progress(_user: Any, at: Any) -> bool:
        nonlocal finished
        now = at.contents
        finished = now.done
        return task.report("tuning", "trials", now.done, now.total)
    callback = _abi.sfu_tune_fn(on_progress)
    how.on_progress = ctypes.cast(callback, ctypes.c_void_p).value
    try:
        return created(lib.sfu_study_free, lib.sfu_tune, *arguments, ctypes.byref(how))
    except CancelledError:
        if finished == 0:
            raise
    # The finished trials are in the file: open them as a study of that many.
    how.trials, how.on_progress, task.stop = finished, None, False
    return created(lib.sfu_study_free, lib.sfu_tune, *arguments, ctypes.byref(how))


class Study:
    """What `tune` returns: the trials, the best of them and its model."""

    def __init__(self, handle: Handle, keep: Any, folder: Any, location: Any, metric: str, stopped: bool):
        self._handle, self._keep, self._folder, self._given = handle, keep, folder, str(location)
        self.metric = METRICS[metric_number(metric)]
        self.interrupted = stopped

    @property
    def name(self) -> str:
        return decoded(lib.sfu_study_name(self._handle.pointer))

    @property
    def location(self) -> Optional[str]:
        """The file or URL; None if the file is temporary."""
        return None if self._folder is not None else self._given

    @property
    def space(self) -> str:
        return decoded(lib.sfu_study_space(self._handle.pointer))

    def __len__(self) -> int:
        return int(lib.sfu_study_trials(self._handle.pointer))

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters of the space."""
        return listed(lambda i: lib.sfu_study_parameter(self._handle.pointer, i))

    @property
    def importances(self) -> dict[str, float]:
        """The importance of each parameter; they sum to 1."""
        return {name: float(lib.sfu_study_importance(self._handle.pointer, i))
                for i, name in enumerate(self.parameters)}

    def _trial(self, one: Any) -> dict[str, Any]:
        trial = fields_of(one.contents)
        trial["state"] = STATES[trial["state"]]
        trial["params"] = {name: value for i, name in enumerate(self.parameters)
                           if (value := self._value(trial["number"], i)) is not None}
        return trial

    def _value(self, number: int, i: int) -> Any:
        text = lib.sfu_study_value(self._handle.pointer, number, i)
        value = lib.sfu_study_value_number(self._handle.pointer, number, i)
        if text is None or value != value:
            return None if text is None else decoded(text)
        return int(value) if text.lstrip(b"-").isdigit() else float(value)

    @property
    def trials(self) -> list[dict[str, Any]]:
        """All trials: number, state, val_score, val_accuracy, val_loss, epochs, seed, params, ..."""
        return [self._trial(lib.sfu_study_trial(self._handle.pointer, i)) for i in range(len(self))]

    @property
    def ranking(self) -> list[dict[str, Any]]:
        """The complete trials, the best first."""
        ranked: list[dict[str, Any]] = []
        while True:
            one = lib.sfu_study_ranked(self._handle.pointer, len(ranked))
            if not one:
                return ranked
            ranked.append(self._trial(one))

    @property
    def best(self) -> dict[str, Any]:
        """The best trial, with the scores of its model on the test nodes."""
        one = lib.sfu_study_ranked(self._handle.pointer, 0)
        if not one:
            raise ArgumentError("no trial is complete")
        scores = self.model.scores
        return {**self._trial(one), **{key: scores[key] for key in ("test_accuracy", "test_macro_f1", "test_score")},
                "net": self.model.net}

    @property
    def model(self) -> Model:
        """The model of the best trial."""
        pointer = lib.sfu_study_model(self._handle.pointer)
        if not pointer:
            raise ArgumentError("no trial is complete")
        return Model(self._handle, pointer)

    def estimator(self) -> GraphClassifier:
        """An unfitted GraphClassifier with the settings of the best trial."""
        winner = options("sfu_train_options")
        lib.sfu_study_winner_options(ctypes.byref(winner), self._handle.pointer)
        return GraphClassifier(self.model.net, lr=winner.lr, weight_decay=winner.weight_decay, dropout=winner.dropout,
                               loss=LOSSES[winner.loss], balanced=winner.balanced, metric=METRICS[winner.metric],
                               epochs=winner.epochs, patience=winner.patience, random_state=int(winner.seed))

    def trials_dataframe(self) -> Any:
        """The trials as a table of pandas, one column per parameter."""
        import pandas
        flat = [{**{key: value for key, value in trial.items() if key != "params"},
                 **{f"params_{name}": value for name, value in trial["params"].items()}} for trial in self.trials]
        return pandas.DataFrame(flat)

    def optuna(self) -> Any:
        """The study, opened with Optuna."""
        import optuna
        place = lib.sfu_study_location(self._handle.pointer)
        if place is None:
            raise UnsupportedError("the study is in memory, where Optuna cannot open it")
        url = decoded(place)
        return optuna.load_study(study_name=self.name, storage=url if "://" in url else f"sqlite:///{url}")

    def export(self, path: Any) -> None:
        """Writes the trials as CSV."""
        how = options("sfu_csv_options")
        check(lib.sfu_study_export(self._handle.pointer, encoded(path, "path"), ctypes.byref(how)))

    def plot(self, path: Any) -> None:
        """Plots the history with gnuplot into an SVG file."""
        check(lib.sfu_study_plot(self._handle.pointer, encoded(path, "path")))

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {len(self)} trials)"

    def _repr_html_(self) -> str:
        best = self.ranking[:10]
        rows = [(one["number"], one["val_score"], one["val_loss"], one["epochs"],
                 *(one["params"].get(name) for name in self.parameters)) for one in best]
        return (f"<b>{len(self)} trials</b>"
                + table(("trial", self.metric, "loss", "epochs", *self.parameters), rows)
                + history([one["val_score"] for one in self.trials], self.metric))
