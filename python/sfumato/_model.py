"""Models of the library: opened, saved, asked for predictions."""

from __future__ import annotations

import ctypes
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ._library import Handle, Size, check, created, decoded, encoded, fields_of, lib, options
from ._run import run
from .graph import Graph


class Model:
    """Trained weights with the network that they belong to. It never changes."""

    def __init__(self, handle: Handle, pointer: Any = None):
        self._handle = handle  # owns the model, or what the model is a part of
        self._pointer = handle.pointer if pointer is None else pointer

    @classmethod
    def open(cls, path: Any) -> Model:
        """Opens a model file, of this package or of the program."""
        return cls(created(lib.sfu_model_free, lib.sfu_model_open, encoded(path, "path")))

    def save(self, path: Any) -> None:
        """Writes the model file, which the program opens too. The same training gives the same bytes."""
        name = encoded(path, "path")
        run(lambda _task: check(lib.sfu_model_save(self._pointer, name)))

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
            path = Path(folder) / "model.safetensors"
            self.save(path)
            return _restored, (path.read_bytes(),)

    @property
    def net(self) -> str:
        """The composition, such as "smooth | dense 64 relu | smooth | softmax"."""
        return decoded(lib.sfu_net_text(lib.sfu_model_net(self._pointer)))

    @property
    def n_classes(self) -> int:
        return int(lib.sfu_model_classes(self._pointer))

    @property
    def n_features(self) -> int:
        return int(lib.sfu_model_features(self._pointer))

    @property
    def class_names(self) -> list[str]:
        """Names of the classes; their numbers if they have none."""
        names = [lib.sfu_model_class_name(self._pointer, i) for i in range(self.n_classes)]
        return [str(i) if name is None else decoded(name) for i, name in enumerate(names)]

    @property
    def scores(self) -> dict[str, Any]:
        """The outcome of the training: epochs, accuracies, losses, seconds, ..."""
        return fields_of(lib.sfu_model_scores(self._pointer).contents)

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """Copies of the weights, by name."""
        found: dict[str, np.ndarray] = {}
        while True:
            one = lib.sfu_model_parameter(self._pointer, len(found))
            if not one:
                return found
            tensor = one.contents
            size = (max(tensor.rows - 1, 0) * tensor.stride + tensor.cols) * 4
            flat = np.frombuffer(ctypes.string_at(tensor.values, size), np.float32)
            rows = [flat[i * tensor.stride:i * tensor.stride + tensor.cols] for i in range(tensor.rows)]
            found[decoded(tensor.name)] = np.array(rows, np.float32).reshape(tensor.rows, tensor.cols)

    def predict_proba(self, graph: Graph, *, raw: bool = False, threads: int = 0, device: str = "auto",
                      memory: Size = None) -> np.ndarray:
        """The probability of each class for every node, [nodes, classes]; calibrated unless `raw`. `memory`, such as
        "8G", limits the memory of the process; a larger graph is read from its file. The result is the same."""
        handle = graph.handle
        result = np.empty((graph.n_nodes, self.n_classes), np.float32)
        how = options("sfu_predict_options", raw=raw, threads=threads, device=device,
                      memory=memory)
        run(lambda _task: check(lib.sfu_predict_with(result.ctypes.data, None, handle.pointer, self._pointer,
                                                     ctypes.byref(how))))
        return result

    def predict(self, graph: Graph, *, threads: int = 0, device: str = "auto", memory: Size = None) -> np.ndarray:
        """The number of the most probable class for every node; `memory` as for predict_proba."""
        handle = graph.handle
        result = np.empty(graph.n_nodes, np.int32)
        how = options("sfu_predict_options", threads=threads, device=device, memory=memory)
        run(lambda _task: check(lib.sfu_predict_with(None, result.ctypes.data, handle.pointer, self._pointer,
                                                     ctypes.byref(how))))
        return result

    def embed(self, graph: Graph, *, threads: int = 0, device: str = "auto") -> np.ndarray:
        """The output of the last hidden layer for every node; it has no columns if there is no hidden layer."""
        handle = graph.handle
        width = int(lib.sfu_model_embedding_width(self._pointer))
        result = np.empty((graph.n_nodes, width), np.float32)
        if width:
            how = options("sfu_predict_options", threads=threads, device=device)
            run(lambda _task: check(lib.sfu_embed_with(result.ctypes.data, handle.pointer, self._pointer,
                                                       ctypes.byref(how))))
        return result

    def evaluate(self, graph: Graph, nodes: Any = None, *, device: str = "auto", memory: Size = None) -> dict[str, Any]:
        """Scores on labelled nodes of any graph: accuracy with its confidence interval, macro_f1, auc, ...; `memory` as
        for predict_proba."""
        from .graph import _part_nodes
        handle = graph.handle
        chosen = None if nodes is None else np.unique(_part_nodes(nodes, "nodes", graph.n_nodes))
        how = options("sfu_evaluate_options", nodes=chosen, node_count=None if chosen is None else len(chosen),
                      device=device, memory=memory)
        made, _ = run(lambda _task: created(lib.sfu_evaluation_free, lib.sfu_evaluate, handle.pointer, self._pointer,
                                            ctypes.byref(how)))
        return fields_of(lib.sfu_evaluation_scores(made.pointer).contents)

    def __repr__(self) -> str:
        return f"Model({self.net!r})"


def _restored(data: bytes) -> Model:
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(data)
        return Model.open(path)
