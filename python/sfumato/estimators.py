"""Estimators: GraphClassifier trains one network, Labeler chooses one. Both follow the rules of scikit-learn, and
`fit(X, y)` without a graph works as for any other estimator.

`y` has the classes, of any type. With a graph, -1 (None or NaN if the classes are not integers) means no label."""

from __future__ import annotations

import ctypes
import tempfile
from pathlib import Path
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _abi
from ._arrays import as_array, is_missing
from ._base import Classifier
from ._library import Handle, Size, check, choice, created, decoded, encoded, fields_of, lib, listed, options, whole
from ._model import Model
from ._run import Task, interrupted, run
from .errors import ArgumentError
from .graph import Graph, Split, split_nodes, split_of
from .plan import parsed

METRICS = ("accuracy", "macro-f1", "balanced-accuracy", "auc", "average-precision")
_SKLEARN_METRICS = {"f1_macro": "macro-f1", "macro_f1": "macro-f1", "balanced_accuracy": "balanced-accuracy",
                    "roc_auc": "auc", "roc_auc_ovr": "auc", "average_precision": "average-precision"}
LOSSES = ("mean", "sum")
KEEPS = ("best", "last")


def metric_number(name: str) -> int:
    """The number of a metric by our name, "macro-f1", or scikit-learn's, "f1_macro"."""
    return choice(METRICS, _SKLEARN_METRICS.get(name, name) if isinstance(name, str) else name, "metric")


class _GraphEstimator(Classifier):
    """What both estimators share: graphs from arrays, and predictions."""

    model_: Model
    classes_: np.ndarray
    n_features_in_: int

    def _graph(self, X: Any, y: Any, graph: Any) -> Graph:
        """The graph to fit, and sets classes_, n_features_in_ and has_graph_."""
        if isinstance(X, Graph):
            made = X if y is None else X.with_labels(*self._numbered(y, len(X), True))
            self._take_classes(made)
            self.n_features_in_ = made.n_features
            self.has_graph_ = True
            return made
        if y is None:
            raise ArgumentError("requires y to be passed, but the target y is None")
        X, y = self._validated(X, y, graph is not None)
        self.has_graph_ = graph is not None
        numbers, names = self._numbered(y, X.shape[0], self.has_graph_)
        return self._assembled(X, graph, numbers, names)

    def _numbered(self, y: Any, count: int, may_miss: bool) -> tuple[np.ndarray, Optional[list[str]]]:
        """Labels as numbers, -1 for none, and names of the classes; sets classes_."""
        y = as_array(y, "y")
        if y.shape != (count,):
            raise ArgumentError(f"y: expected one label for each of the {count} nodes, found the shape {y.shape}")
        missing = _missing(y) if may_miss else np.zeros(count, bool)
        if missing.all():
            raise ArgumentError("y: no node has a label")
        try:
            self.classes_, codes = np.unique(y[~missing], return_inverse=True)
        except TypeError as error:
            raise ArgumentError(f"y: expected labels of one type ({error})") from None
        numbers = np.full(count, -1, np.int32)
        numbers[~missing] = codes
        return numbers, self._class_names()

    def _class_names(self) -> Optional[list[str]]:
        """None for the classes 0, 1, 2, ..., which are called by their numbers."""
        names = [str(name) for name in self.classes_]
        numbered = names == [str(i) for i in range(len(names))]
        return None if numbered or not all(names) else names

    def _take_classes(self, graph: Graph) -> None:
        names = graph.class_names
        self.classes_ = np.array(names) if names else np.arange(graph.n_classes)

    def _assembled(self, X: Any, graph: Any, numbers: Optional[np.ndarray], names: Optional[list[str]]) -> Graph:
        settings: dict[str, Any] = {"scale": self.scale, "directed": self.directed}
        if numbers is not None:
            settings.update(class_names=names) if names else settings.update(classes=len(self.classes_))
        if graph is None:
            none = np.zeros(0, np.int32)
            return Graph.from_edges(none, none, X, numbers, nodes=X.shape[0], **settings)
        shape = getattr(graph, "shape", None)
        if shape is None or len(shape) != 2 or shape != (X.shape[0], X.shape[0]):
            raise ArgumentError(f"graph: expected an adjacency matrix of {X.shape[0]} x {X.shape[0]} nodes, found "
                                f"{type(graph).__name__}{'' if shape is None else f' of the shape {tuple(shape)}'}")
        return Graph.from_scipy(graph, X, numbers, **settings)

    def _graph_to_predict(self, X: Any, graph: Any) -> Graph:
        self._check_fitted()
        if isinstance(X, Graph):
            return X
        X = self._validated_again(X)
        if self.has_graph_ and graph is None:
            raise ArgumentError("this estimator was fitted with a graph: pass graph=, the adjacency matrix")
        return self._assembled(X, graph, None, None)

    def predict(self, X: Any, graph: Any = None) -> np.ndarray:
        """The most probable class of every node of a Graph, or of the rows of X with the adjacency matrix `graph`."""
        data = self._graph_to_predict(X, graph)
        return self.classes_[self.model_.predict(data, threads=self._threads(), device=self.device,
                                                 memory=self.memory)]

    def predict_proba(self, X: Any, graph: Any = None) -> np.ndarray:
        """The calibrated probability of each class, [nodes, classes], in the order of classes_."""
        data = self._graph_to_predict(X, graph)
        return self.model_.predict_proba(data, threads=self._threads(), device=self.device, memory=self.memory)

    def predict_frame(self, X: Any, graph: Any = None) -> Any:
        """The predictions as a table of pandas: the name of each node as index, label, probability, and one column per
        class. The same as the file that `sfumato predict` writes."""
        import pandas
        data = self._graph_to_predict(X, graph)
        chances = self.model_.predict_proba(data, threads=self._threads(), device=self.device, memory=self.memory)
        best = chances.argmax(axis=1)
        index = pandas.Index(data.node_names or range(len(data)), name="node")
        found = pandas.DataFrame({"label": self.classes_[best], "probability": chances.max(axis=1)}, index)
        return pandas.concat([found, pandas.DataFrame(chances, index, self.classes_)], axis=1)

    def embed(self, X: Any, graph: Any = None) -> np.ndarray:
        """The output of the last hidden layer."""
        data = self._graph_to_predict(X, graph)
        return self.model_.embed(data, threads=self._threads(), device=self.device)

    def score(self, X: Any, y: Any = None, graph: Any = None, sample_weight: Any = None) -> float:
        """The accuracy on the nodes with a label. Without y: on the labelled nodes of the Graph X."""
        if y is None:
            self._check_fitted()
            if not isinstance(X, Graph):
                raise ArgumentError("score: expected y, or a Graph with labels")
            return float(self.model_.evaluate(X, device=self.device, memory=self.memory)["accuracy"])
        found, y = self.predict(X, graph), as_array(y, "y")
        if found.shape != y.shape:
            raise ArgumentError(f"y: expected one label for each of the {len(found)} nodes, found the shape {y.shape}")
        known = ~_missing(y) if graph is not None or isinstance(X, Graph) else np.ones(len(y), bool)
        weights = None if sample_weight is None else as_array(sample_weight, "sample_weight")[known]
        return float(np.average(found[known] == y[known], weights=weights))

    def save(self, path: Any) -> None:
        """Writes the model file, which the program and `Model.open` open."""
        self._check_fitted()
        self.model_.save(path)

    def _threads(self) -> int:
        return 0 if self.n_jobs is None or self.n_jobs == -1 else whole(self.n_jobs, "n_jobs", 0, 1024)

    def _seed(self) -> int:
        state = self.random_state
        if state is None:
            return 0
        if hasattr(state, "randint"):
            return int(state.randint(0, 2**31 - 1))
        return whole(state, "random_state", 0, 2**64 - 1)


def _missing(y: np.ndarray) -> np.ndarray:
    """Nodes without a label: -1 among integers, NaN among floats, None and NaN among objects."""
    if y.dtype.kind in "iu":
        return y == -1
    if y.dtype.kind == "f":
        return np.isnan(y) | (y == -1)
    if y.dtype.kind == "O":
        return np.array([is_missing(one) for one in y], bool)
    return np.zeros(y.shape, bool)


class GraphClassifier(_GraphEstimator):
    """Trains one network.

    Parameters: `net`, a name ("gcn", "sgcn", "fp+mlp", "sgcn+lp", "gcn+lp", "linear+lp", "mlp+lp", "mlp", "linear",
    "lpnn") or a composition ("smooth^2 | dense 32 tanh | softmax"); `hidden` and `k`, the width and the number of
    smoothings of a named network; `lr`, `weight_decay`, `dropout`, `loss` ("mean", "sum"), `balanced` (weight classes
    inversely to their number of labels), `metric` of early stopping, `epochs`, `patience` (0: no early stopping),
    `keep` ("best", "last"); `validation_fraction` of the labels for early stopping (0: none, all labels train);
    `scale` of the rows of X ("none", "unit", "sum"), `directed` edges, `n_jobs` threads (None: one per core),
    `device` ("auto", "cpu", "cuda", "cuda:N"), `memory`, the most memory of the process, such as "8G" (a larger graph
    is read from its file, for a network that smooths before its first weights), `random_state`. The same parameters and
    data give the same bytes, for any number of threads, on any device and with any memory.

    After fit: `classes_`, `model_` (a Model), `scores_` (a dict), `history_` (a dict of arrays, one entry per epoch),
    `split_` (the nodes for training, validation and test), `interrupted_`."""

    def __init__(self, net: str = "gcn", *, hidden: int = 64, k: int = 2, lr: float = 0.01, weight_decay: float = 5e-4,
                 dropout: float = 0.5, loss: str = "mean", balanced: bool = False, metric: str = "accuracy",
                 epochs: int = 500, patience: int = 25, keep: str = "best", validation_fraction: float = 0.2,
                 scale: str = "none", directed: bool = False, n_jobs: Optional[int] = None, device: str = "auto",
                 memory: Size = None, random_state: Any = 0):
        self.net = net
        self.hidden = hidden
        self.k = k
        self.lr = lr
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.loss = loss
        self.balanced = balanced
        self.metric = metric
        self.epochs = epochs
        self.patience = patience
        self.keep = keep
        self.validation_fraction = validation_fraction
        self.scale = scale
        self.directed = directed
        self.n_jobs = n_jobs
        self.device = device
        self.memory = memory
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, graph: Any = None, *, split: Split = None,
            size: Union[None, int, str] = None) -> GraphClassifier:
        """Trains on a Graph, or on the rows of X with labels y and the adjacency matrix `graph`.

        `split` has the nodes for training, validation and test: a protocol ("standard", "random:0", "cv:5:0:0"), a
        dict, or a sequence of node numbers or masks; `size` is that of the protocol. Without it all labels are used,
        and `validation_fraction` of them decides when to stop."""
        data = self._graph(X, y, graph)
        seed = self._seed()
        nodes = split_of(data, split, size) if split is not None else self._own_split(data, seed)
        net = parsed(self.net, self.hidden, self.k)
        made, stopped = run(lambda task: self._train(task, data.handle, net, nodes, seed))
        self.model_ = Model(made)
        self.scores_ = self.model_.scores
        self.split_ = split_nodes(nodes)
        self.interrupted_ = stopped
        if stopped:
            interrupted("the model has the best weights so far")
        return self

    def _train(self, task: Task, data: Handle, net: Handle, nodes: Handle, seed: int) -> Handle:
        curve: list[tuple[float, float, float]] = []

        def on_epoch(_user: Any, at: Any) -> bool:
            epoch = at.contents
            curve.append((epoch.train_loss, epoch.val_loss, epoch.val_accuracy))
            return task.report("training", "epochs", epoch.epoch, self.epochs)
        how = options("sfu_train_options", lr=self.lr, weight_decay=self.weight_decay, dropout=self.dropout,
                      loss=choice(LOSSES, self.loss, "loss"), balanced=self.balanced, epochs=self.epochs,
                      patience=self.patience, keep=choice(KEEPS, self.keep, "keep"), seed=seed,
                      threads=self._threads(), device=self.device, memory=self.memory,
                      metric=metric_number(self.metric),
                      on_epoch=_abi.sfu_epoch_fn(on_epoch))
        made = created(lib.sfu_model_free, lib.sfu_train, data.pointer, net.pointer, nodes.pointer, ctypes.byref(how))
        columns = np.array(curve, np.float64).reshape(-1, 3).T
        self.history_ = dict(zip(("train_loss", "val_loss", "val_accuracy"), columns))
        return made

    def _own_split(self, data: Graph, seed: int) -> Handle:
        """All labels: a part for validation, dealt class by class as by the protocol "cv", the others for training."""
        fraction = float(self.validation_fraction)
        if not 0 <= fraction <= 0.5:
            raise ArgumentError(f"validation_fraction: expected a number from 0 to 0.5, found {fraction}")
        labels = data.labels if data.labels is not None else np.full(len(data), -1, np.int32)
        labelled = np.flatnonzero(labels >= 0)
        folds = max(3, round(1 / fraction)) if fraction > 0 else 0
        if folds == 0 or len(labelled) < max(10, folds):
            return split_of(data, {"train": labelled})
        val = data.split(f"cv:{folds}:0:{seed % 2**63}")["val"]
        train = np.setdiff1d(labelled, val)
        alone = np.setdiff1d(labels[val], labels[train])  # classes that would never be trained
        moved = np.array([val[labels[val] == one][0] for one in alone], np.int32)
        return split_of(data, {"train": np.concatenate([train, moved]), "val": np.setdiff1d(val, moved)})


class Labeler(_GraphEstimator):
    """Labels all nodes from a few labels: chooses a network by cross-validation, tunes it within a budget, calibrates
    its probabilities, and estimates its accuracy on labels that none of these steps has seen. The command `label`.

    Parameters: `budget`, a time ("60s", "2m", "1h", or seconds) or a number of steps ("steps:20", which gives the same
    bytes on every machine); `nets`, the candidates ("sgcn,mlp,gcn" or a list; None: all nine); `metric`; `balanced`;
    `coverage` of label sets, such as 0.9; `scale`, `directed`, `n_jobs`, `device`, `memory` and `random_state` as for
    GraphClassifier. With `share`, postgresql://..., machines that make the same call share its trainings through this
    database, and all get the same result; it requires a number of steps.

    After fit: `estimate_` (a dict: accuracy, low, high, ...), `net_` and `params_`, `candidates_` (a list of dicts),
    `confusion_` (rows: true class), `calibration_`, `probabilities_` of the nodes that were fitted, `labels_` (their
    most probable classes), `classes_`, `model_`, `interrupted_`."""

    def __init__(self, budget: Union[str, float] = "60s", *, nets: Union[None, str, Sequence[str]] = None,
                 metric: str = "accuracy", balanced: bool = False, coverage: float = 0.0, scale: str = "none",
                 directed: bool = False, n_jobs: Optional[int] = None, device: str = "auto",
                 memory: Size = None, share: Optional[str] = None, random_state: Any = 0):
        self.budget = budget
        self.nets = nets
        self.metric = metric
        self.balanced = balanced
        self.coverage = coverage
        self.scale = scale
        self.directed = directed
        self.n_jobs = n_jobs
        self.device = device
        self.memory = memory
        self.share = share
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, graph: Any = None) -> Labeler:
        """Fits a Graph, or the rows of X with labels y and the adjacency matrix `graph`. At least four labels of two
        classes are needed. Ctrl-C ends the search and keeps the best result so far."""
        data = self._graph(X, y, graph)
        if len(self.classes_) < 2:
            raise ArgumentError(f"expected labels of at least 2 classes, found {len(self.classes_)} class")
        seconds, steps = parse_budget(self.budget)
        nets = ",".join(map(str, self.nets)) if isinstance(self.nets, (list, tuple)) else self.nets
        how = options("sfu_label_options", seconds=seconds, steps=steps, seed=self._seed(), jobs=self._threads(),
                      device=self.device, nets=encoded(nets, "nets"), metric=metric_number(self.metric),
                      balanced=self.balanced, coverage=self.coverage, share=self.share,
                      memory=self.memory)
        made, stopped = run(lambda task: _label(task, data.handle, how))
        self._take(made, data)
        self.interrupted_ = stopped
        if stopped:
            interrupted("the results are those of the best model so far")
        return self

    def _take(self, made: Handle, data: Graph) -> None:
        pointer, count = made.pointer, len(self.classes_)
        self._labelling: Optional[tuple[Handle, Graph]] = (made, data)
        self._page: Optional[bytes] = None
        self.model_ = Model(made, lib.sfu_labelling_model(pointer))
        self.estimate_ = fields_of(lib.sfu_labelling_summary(pointer).contents)
        self.estimate_["metric"] = METRICS[self.estimate_["metric"]]
        self.net_, self.params_ = self.estimate_["net"], self.estimate_["params"]
        self.candidates_ = [fields_of(one) for one in listed(lambda i: lib.sfu_labelling_candidate(pointer, i))]
        self.calibration_ = [fields_of(one) for one in listed(lambda i: lib.sfu_labelling_calibration(pointer, i))]
        self.confusion_ = np.array([[lib.sfu_labelling_confusion(pointer, truth, guess) for guess in range(count)]
                                    for truth in range(count)], np.int32)
        size = len(data) * count
        flat = (ctypes.c_float * size).from_address(lib.sfu_labelling_probabilities(pointer))
        self.probabilities_ = np.array(flat, np.float32).reshape(len(data), count)
        self.labels_ = self.classes_[self.probabilities_.argmax(axis=1)]

    def predict_sets(self, X: Any, graph: Any = None) -> list[list[Any]]:
        """The label sets: each contains the true label with the probability `coverage`."""
        if not self.coverage:
            raise ArgumentError("label sets need a coverage: Labeler(coverage=0.9)")
        found = self.predict_proba(X, graph)
        inside = found >= self.estimate_["set_threshold"]
        inside[np.arange(len(found)), found.argmax(axis=1)] = True
        return [list(self.classes_[row]) for row in inside]

    def ask(self, count: int = 10) -> np.ndarray:
        """The unlabelled nodes of the fitted graph whose labels would help most, the best first."""
        made, data = self._fitted_labelling("ask")
        nodes = np.zeros(whole(count, "count", 1, 10**6), np.int32)
        found = ctypes.c_int32(len(nodes))

        def work(_task: Task) -> None:
            check(lib.sfu_labelling_ask(nodes.ctypes.data, ctypes.byref(found), made.pointer, data.handle.pointer))
        run(work)
        return nodes[:found.value].copy()

    def report(self, path: Any = "report.html") -> None:
        """Writes a page about the labelling: the estimate, confusion matrix, calibration, candidates, ..."""
        self._check_fitted()
        if self._labelling is None:
            with open(path, "wb") as file:
                file.write(self._page or b"")
            return
        self._write_page(path)

    def _write_page(self, path: Any) -> None:
        made, data = self._fitted_labelling("report")
        name = encoded(path, "path")
        run(lambda _task: check(lib.sfu_labelling_page(name, made.pointer, data.handle.pointer, None, 0)))

    def _fitted_labelling(self, what: str) -> tuple[Handle, Graph]:
        self._check_fitted()
        if self._labelling is None:
            raise ArgumentError(f"{what}: not available after unpickling; fit again")
        return self._labelling

    def __getstate__(self) -> dict[str, Any]:
        """The labelling itself is left out; its page is kept."""
        state = super().__getstate__()
        if state.get("_labelling") is not None:
            with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
                path = Path(folder) / "page.html"
                self._write_page(path)
                state["_page"] = path.read_bytes()
            state["_labelling"] = None
        return state

    def _repr_html_(self) -> str:
        from ._html import labelling
        return labelling(self) if hasattr(self, "estimate_") else f"<pre>{self!r}</pre>"


def _label(task: Task, data: Handle, how: Any) -> Handle:
    def on_progress(_user: Any, at: Any) -> bool:
        now = at.contents
        if now.budget > 0:
            return task.report(f"labelling, {decoded(now.net)}", "s", min(now.seconds, now.budget), now.budget)
        return task.report(f"labelling, {decoded(now.net)}", "steps", now.step, now.steps)
    callback = _abi.sfu_label_fn(on_progress)
    how.on_progress = ctypes.cast(callback, ctypes.c_void_p).value
    return created(lib.sfu_labelling_free, lib.sfu_label, data.pointer, ctypes.byref(how), keep=(data,))


_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def parse_budget(budget: Union[str, float]) -> tuple[float, int]:
    """Seconds and steps of a budget such as "60s", "2m", 90 or "steps:20"."""
    text = str(budget).strip()
    try:
        if text.startswith("steps:"):
            steps = int(text[6:])
            if 1 <= steps <= 1000000:
                return 60.0, steps
        else:
            number = text.rstrip("smhin")
            seconds = float(number) * _UNITS[text[len(number):]]
            if 0 < seconds <= 1e8:
                return seconds, 0
    except (KeyError, ValueError):
        pass
    raise ArgumentError(f"budget: expected a time such as '60s', '2m' or '1h', or 'steps:20', found {budget!r:.60}")


def cross_val_score(estimator: Any, graph: Graph, *, cv: int = 5, metric: str = "accuracy",
                    random_state: int = 0) -> np.ndarray:
    """The scores of an estimator on `cv` folds of the labelled nodes of a graph. Each fold is fitted on the whole graph
    with the labels of its test nodes hidden; the graph is never cut."""
    if not isinstance(graph, Graph):
        raise ArgumentError(f"expected a Graph, found {type(graph).__name__}")
    key = {"accuracy": "accuracy", "macro-f1": "macro_f1", "balanced-accuracy": "balanced_accuracy", "auc": "auc",
           "average-precision": "average_precision"}[METRICS[metric_number(metric)]]
    folds = whole(cv, "cv", 3, 10000)
    scores: list[float] = []
    for fold in range(folds):
        split = graph.split(f"cv:{folds}:{fold}:{whole(random_state, 'random_state', 0, 2**63 - 1)}")
        fitted = _copy(estimator)
        if isinstance(fitted, GraphClassifier):
            fitted.fit(graph, split=split)
        else:
            labels = np.array(graph.labels)
            labels[split["test"]] = -1
            fitted.fit(graph.with_labels(labels))
        scores.append(float(fitted.model_.evaluate(graph, split["test"])[key]))
    return np.array(scores)


def _copy(estimator: Any) -> Any:
    """An unfitted copy, as sklearn.base.clone makes it."""
    return type(estimator)(**estimator.get_params(deep=False))

