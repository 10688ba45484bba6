"""Graphs: nodes with features and labels, from many kinds of data."""

from __future__ import annotations

import ctypes
import html
import math
import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _abi
from ._arrays import as_array, csr_parts, floats, integers, is_missing, is_sparse, view
from ._library import (Handle, check, choice, created, decoded, described, encoded, fields_of, lib, listed, options, put,
                       strings, taken)
from ._run import Task, run
from .errors import ArgumentError, NotFoundError

SCALES = ("unit", "sum", "none", "auto", "quantile")
DUPLICATES = ("max", "sum", "first")
HEADERS = ("auto", "yes", "no")
LABEL_TYPES = ("auto", "class")
PARTS = ("train", "val", "test")

Split = Union[None, str, Sequence[Any], Mapping[str, Any]]


class Graph:
    """A graph with features and labels of its nodes. It never changes.

    Make one with `from_pandas`, `from_scipy`, `from_edges`, `from_networkx`, `from_pyg`, `from_files`, `load` or
    `make`."""

    def __init__(self, handle: Handle):
        if not isinstance(handle, Handle):
            raise TypeError("a Graph is made by Graph.from_pandas, from_scipy, from_networkx, from_files or load")
        self._handle: Optional[Handle] = handle
        self._info: Optional[dict[str, Any]] = None

    # ---- making ------------------------------------------------------------------------------------------------------

    @classmethod
    def from_scipy(cls, adjacency: Any, features: Any = None, labels: Any = None, **settings: Any) -> Graph:
        """From an adjacency matrix (sparse, or a square array) with the weight of the edge from i to j at (i, j).

        `features` is a matrix, dense or sparse, with one row per node (without it nodes have one-hot features);
        `labels` one class per node, from 0 on, -1: no label. Names of classes come with `class_names`.

        Settings: `name`; `directed` (False: each edge counts in both directions), `keep_loops`, `duplicates` ("max",
        "sum", "first"), `largest` (only the largest component), `scale` of the feature vectors ("auto" and "unit":
        length 1, "sum", "none"), `knn` (without a graph: connect each node to that many nearest), `class_names`,
        `node_names`, `feature_names`, `columns` (a dict of one number per node), `split` (the standard split:
        {"train": nodes, "val": nodes, "test": nodes}), `threads`."""
        rows = _rows_of_square(adjacency)
        if not is_sparse(adjacency):
            import scipy.sparse
            adjacency = scipy.sparse.csr_array(floats(adjacency, "adjacency"))
        indptr, indices, weights = csr_parts(adjacency, "adjacency")
        if weights is not None and (weights == 1).all():
            weights = None
        edges = {"edge_indptr": indptr, "edge_to": indices, "edge_weight": weights}
        return cls._from_arrays(rows, edges, features, labels, **settings)

    @classmethod
    def from_edges(cls, source: Any, target: Any, features: Any = None, labels: Any = None, *,
                   nodes: Optional[int] = None, weights: Any = None, **settings: Any) -> Graph:
        """From two arrays of node numbers. `nodes` is their number; without it the features, the labels or the largest
        number decide. The settings are those of `from_scipy`."""
        one, other = integers(source, "source"), integers(target, "target")
        if one.ndim != 1 or one.shape != other.shape:
            raise ArgumentError(f"source and target: expected two lists of one length, found the shapes {one.shape} "
                                f"and {other.shape}")
        if nodes is None:
            given = features if features is not None else labels
            largest = max((int(ends.max()) + 1 for ends in (one, other) if len(ends)), default=0)
            nodes = given.shape[0] if hasattr(given, "shape") else len(given) if given is not None else largest
        edges = {"edge_from": one, "edge_to": other,
                 "edge_weight": None if weights is None else floats(weights, "weights", one.shape)}
        return cls._from_arrays(nodes, edges, features, labels, **settings)

    @classmethod
    def _from_arrays(cls, nodes: int, edges: dict[str, Any], features: Any, labels: Any, *, name: str = "graph",
                     directed: bool = False, keep_loops: bool = False, duplicates: str = "max", largest: bool = False,
                     scale: str = "auto", knn: int = 0, threads: int = 0, classes: Optional[int] = None,
                     class_names: Optional[Sequence[str]] = None, node_names: Optional[Sequence[str]] = None,
                     feature_names: Optional[Sequence[str]] = None, columns: Optional[Mapping[str, Any]] = None,
                     split: Optional[Mapping[str, Any]] = None) -> Graph:
        arrays = options("sfu_arrays", nodes=nodes, edges=len(edges["edge_to"]), **edges)
        _put_features(arrays, nodes, features)
        if labels is not None:
            put(arrays, labels=integers(labels, "labels", (nodes,)))
        _put_names(arrays, nodes, classes, class_names, node_names, feature_names)
        _put_columns(arrays, nodes, columns or {})
        _put_split(arrays, split or {})
        how = options("sfu_import_options", name=name, directed=directed, keep_loops=keep_loops, largest=largest,
                      duplicates=choice(DUPLICATES, duplicates, "duplicates"), scale=choice(SCALES, scale, "scale"),
                      knn=knn, threads=threads)
        return cls._made(lib.sfu_dataset_from_arrays, ctypes.byref(arrays), ctypes.byref(how), keep=(arrays, how))

    @classmethod
    def _made(cls, make: Callable[..., int], *arguments: Any, keep: Any = ()) -> Graph:
        """A graph from a function of the library, and checked, so that its arrays can be read."""
        def work(_task: Task) -> Handle:
            handle = created(lib.sfu_dataset_free, make, *arguments)
            check(lib.sfu_dataset_check(handle.pointer))
            return handle
        made, _ = run(work)
        del keep  # what the arguments point to, until here
        return cls(made)

    @classmethod
    def from_pandas(cls, edges: Any = None, nodes: Any = None, label: Optional[str] = None, *,
                    id: Optional[str] = None, like: Any = None, **settings: Any) -> Graph:
        """From tables of pandas: `edges` with two columns of node names and optionally a weight, `nodes` with one row
        per node, columns of any type, and the column `label`, empty (None, NaN, "") if it is unknown.

        The node names are the column `id` of `nodes`, or its index if that has a name or is not 0, 1, 2, ..., else its
        first column. `like` is a Graph, a fitted estimator or a file: columns are transformed as there. The settings
        are those of `from_files`: `source_column`, `target_column`, `weight_column`, `numeric`, `categorical`, `text`,
        `ignore`, `directed`, `scale`, `knn`, ... Nodes are in the order of the rows; those that only an edge names
        follow. The result is that of the same tables in CSV files."""
        with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
            if edges is not None:
                settings["edges"] = _write_csv(edges, Path(folder) / "edges.csv", "edges", index=False)
            if nodes is not None:
                settings["nodes"] = _write_csv(nodes, Path(folder) / "nodes.csv", "nodes",
                                               index=id is None and _index_names_nodes(nodes))
            return cls.from_files(label=label, id=id, like=like, header="yes", name=settings.pop("name", "graph"),
                                  **settings)

    @classmethod
    def from_files(cls, source: Any = None, *, like: Any = None, **settings: Any) -> Graph:
        """From files in any format that `sfumato data import` reads. `source` is a file or folder; or `edges`, `nodes`
        with `label`, `features`, `labels`, `columns` and `split` are CSV files.

        Settings: `name`, `format`, `class_names`, `header` ("auto", "yes", "no"), `strict`, `directed`, `keep_loops`,
        `largest`, `duplicates`, `scale` ("auto", "unit", "sum", "none", "quantile"), `knn`, `threads`, `memory` ("8G"),
        `source_column`, `target_column`, `weight_column`, `id`, `numeric`, `categorical`, `text`, `ignore`, `missing`
        (lists of columns), `decimal` ("." or ","), `label_type` ("auto", "class"), `feature_names` (a file), `like`
        (a Graph, a fitted estimator or a file: columns are transformed as there)."""
        known = {field[0] for field in _abi.sfu_import_options._fields_} - {"size", "progress", "progress_user", "like",
                                                                            "class_name_count"}
        for name in settings:
            if name not in known:
                raise TypeError(f"from_files() has no setting {name!r}; it has {', '.join(sorted(known))}")
        how = options("sfu_import_options", **_import_fields(source=source, **settings))
        with _as_file(like) as path:
            put(how, like=path)
            return cls._made(lib.sfu_dataset_import, ctypes.byref(how), keep=how)

    @classmethod
    def from_networkx(cls, graph: Any, features: Union[None, str, Sequence[str]] = None, label: Optional[str] = None, *,
                      weight: Optional[str] = "weight", **settings: Any) -> Graph:
        """From a graph of networkx. `features` is the name of a node attribute that holds a vector, or a list of names
        of attributes that hold numbers; `label` the name of the attribute with the class (missing or None: no label);
        `weight` the edge attribute with the weight, if edges have it. Node names become text. The settings are those
        of `from_scipy`."""
        nodes = list(graph.nodes)
        number = {node: i for i, node in enumerate(nodes)}
        ends = list(graph.edges(data=weight, default=None)) if weight else [(*e, None) for e in graph.edges()]
        source = np.fromiter((number[edge[0]] for edge in ends), np.int32, len(ends))
        target = np.fromiter((number[edge[1]] for edge in ends), np.int32, len(ends))
        weights = None
        if any(edge[2] is not None for edge in ends):
            weights = np.array([1 if edge[2] is None else edge[2] for edge in ends], np.float32)
        x = None
        if features is not None:
            keys = [features] if isinstance(features, str) else list(features)
            x = np.array([np.hstack([_attribute(graph, node, key) for key in keys]) for node in nodes], np.float32)
        y, names = (None, None) if label is None else _coded([graph.nodes[node].get(label) for node in nodes])
        settings.setdefault("directed", graph.is_directed())
        return cls.from_edges(source, target, x, y, nodes=len(nodes), weights=weights, class_names=names,
                              node_names=[str(node) for node in nodes], **settings)

    @classmethod
    def from_pyg(cls, data: Any, **settings: Any) -> Graph:
        """From a `Data` of PyTorch Geometric: edge_index, x, y, and the masks as standard split. edge_weight, or
        edge_attr with one number per edge, are weights. The settings are those of `from_scipy`."""
        ends = integers(data.edge_index, "edge_index")
        weights = getattr(data, "edge_weight", None)
        attributes = getattr(data, "edge_attr", None)
        if weights is None and attributes is not None and as_array(attributes, "edge_attr").size == ends.shape[1]:
            weights = as_array(attributes, "edge_attr").reshape(-1)
        masks = {part: _first_mask(data, part) for part in PARTS}
        split = {part: np.flatnonzero(mask) for part, mask in masks.items() if mask is not None}
        y = None if getattr(data, "y", None) is None else as_array(data.y, "y").reshape(-1)
        settings.setdefault("directed", bool(data.is_directed()))
        x = getattr(data, "x", None)
        return cls.from_edges(ends[0], ends[1], None if x is None else _dense_or_csr(x), y, nodes=int(data.num_nodes),
                              weights=weights, split=split if len(split) == 3 else None, **settings)

    @classmethod
    def load(cls, name_or_path: Any) -> Graph:
        """Opens a dataset file by its path, or a dataset by its name; a public one ("cora") is downloaded first."""
        name = encoded(name_or_path, "load")
        try:
            return cls._made(lib.sfu_dataset_open, name)
        except NotFoundError:
            if decoded(name) not in datasets():
                raise
        path = ctypes.c_void_p()
        how = options("sfu_get_options")
        run(lambda _task: check(lib.sfu_dataset_get(ctypes.byref(path), name, ctypes.byref(how))))
        return cls._made(lib.sfu_dataset_open, encoded(taken(path)))

    @classmethod
    def make(cls, **settings: Any) -> Graph:
        """A synthetic citation graph: `nodes`, `classes`, `vocabulary`, `degree`, `power`, `homophily`, `words`,
        `noise`, `seed`, `name`, `memory` ("8G"). Without settings it is the dataset "citation"."""
        known = {field[0] for field in _abi.sfu_make_options._fields_} - {"size", "progress", "progress_user"}
        for name in settings:
            if name not in known:
                raise TypeError(f"make() has no setting {name!r}; it has {', '.join(sorted(known))}")
        how = options("sfu_make_options", **settings)
        return cls._made(lib.sfu_dataset_make, ctypes.byref(how), keep=how)

    # ---- ownership ---------------------------------------------------------------------------------------------------

    @property
    def handle(self) -> Handle:
        """The dataset of the library. For the package itself."""
        if self._handle is None:
            raise ArgumentError("this graph is closed")
        return self._handle

    def close(self) -> None:
        """Gives the memory back, as soon as no array of this graph is in use. Later calls are errors."""
        self._handle = None

    def save(self, path: Any) -> None:
        """Writes the dataset file, which the program and `Graph.load` open."""
        handle, name = self.handle, encoded(path, "path")
        run(lambda _task: check(lib.sfu_dataset_save(handle.pointer, name)))

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
            path = Path(folder) / "graph.safetensors"
            self.save(path)
            return _restored, (path.read_bytes(), self.name)

    # ---- contents ----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return decoded(lib.sfu_dataset_name(self.handle.pointer))

    @property
    def n_nodes(self) -> int:
        return int(lib.sfu_dataset_nodes(self.handle.pointer))

    @property
    def n_features(self) -> int:
        return int(lib.sfu_dataset_features(self.handle.pointer))

    @property
    def n_classes(self) -> int:
        return int(lib.sfu_dataset_classes(self.handle.pointer))

    @property
    def n_edges(self) -> int:
        """Undirected edges count once."""
        return int(self.info["edges"])

    def __len__(self) -> int:
        return self.n_nodes

    @property
    def adjacency(self) -> Any:
        """The adjacency matrix, a scipy CSR array over the memory of the graph."""
        return self._csr(lib.sfu_dataset_graph(self.handle.pointer))

    @property
    def features(self) -> Any:
        """The features as the graph stores them: a read-only numpy array, or a scipy CSR array."""
        sparse = lib.sfu_dataset_sparse(self.handle.pointer)
        if sparse.rows > 0:
            return self._csr(sparse)
        dense = lib.sfu_dataset_dense(self.handle.pointer)
        return view(dense, (self.n_nodes, self.n_features), np.float32, self.handle)

    def _csr(self, csr: Any) -> Any:
        import scipy.sparse
        owner = self.handle
        indptr = view(csr.indptr, (csr.rows + 1,), np.int64, owner)
        count = int(indptr[-1])
        if count < 2**31:  # scipy would copy the indices to the type of indptr
            indptr = indptr.astype(np.int32)
        indices = view(csr.indices, (count,), np.int32, owner)
        values = view(csr.values, (count,), np.float32, owner) if csr.values else np.ones(count, np.float32)
        matrix = scipy.sparse.csr_array((values, indices, indptr), shape=(csr.rows, csr.cols), copy=False)
        matrix.has_sorted_indices = True
        return matrix

    @property
    def labels(self) -> Optional[np.ndarray]:
        """The class of each node, -1: no label. None if no node has one."""
        pointer = lib.sfu_dataset_labels(self.handle.pointer)
        return view(pointer, (self.n_nodes,), np.int32, self.handle) if pointer else None

    @property
    def class_names(self) -> Optional[list[str]]:
        return self._names(lib.sfu_dataset_class_name, self.n_classes)

    @property
    def feature_names(self) -> Optional[list[str]]:
        return self._names(lib.sfu_dataset_feature_name, self.n_features)

    def _names(self, item: Callable[..., Optional[bytes]], count: int) -> Optional[list[str]]:
        handle = self.handle
        if count == 0 or item(handle.pointer, 0) is None:
            return None
        return [decoded(item(handle.pointer, i)) for i in range(count)]

    @property
    def node_names(self) -> Optional[list[str]]:
        """None if nodes have no names and are called by their numbers."""
        handle, size = self.handle, ctypes.c_size_t()

        def name(node: int) -> Optional[str]:
            text = lib.sfu_dataset_node_name(handle.pointer, node, ctypes.byref(size))
            return ctypes.string_at(text, size.value).decode("utf-8", "surrogateescape") if text else None
        return None if name(0) is None else [name(node) or "" for node in range(self.n_nodes)]

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Node columns: one number per node, by name."""
        handle = self.handle
        names = listed(lambda i: lib.sfu_dataset_column_name(handle.pointer, i))
        return {name: view(lib.sfu_dataset_column(handle.pointer, name.encode()), (self.n_nodes,), np.float32, handle)
                for name in names}

    @property
    def standard_splits(self) -> int:
        """How many standard splits the dataset has."""
        return int(lib.sfu_dataset_standard_splits(self.handle.pointer))

    def split(self, protocol: Optional[str] = None, size: Union[None, int, str] = None) -> dict[str, np.ndarray]:
        """The nodes for training, validation and test: {"train": ..., "val": ..., "test": ...}.

        `protocol` is "standard", "standard:3", "random:SEED", "cv:FOLDS:FOLD:SEED" or "file:CSV"; `size` 1 (20 labels
        per class) to 5 (all), or a number of training nodes."""
        return split_nodes(split_of(self, protocol, size))

    @property
    def digest(self) -> str:
        """SHA-256 of the data, as the program prints it."""
        handle = self.handle
        text = ctypes.create_string_buffer(65)
        run(lambda _task: check(lib.sfu_dataset_digest(text, handle.pointer)))
        return text.value.decode()

    @property
    def info(self) -> dict[str, Any]:
        """Statistics: nodes, edges, classes, homophily, degrees, components, ..."""
        handle = self.handle
        if self._info is None:
            found = ctypes.POINTER(_abi.sfu_info)()
            run(lambda _task: check(lib.sfu_dataset_info(ctypes.byref(found), handle.pointer)))
            self._info = fields_of(found.contents)
        return self._info

    @property
    def warnings(self) -> list[str]:
        """What is suspicious about the data, one sentence each."""
        return self._sentences(lib.sfu_dataset_warning)

    @property
    def notes(self) -> list[str]:
        """What the import did with columns and labels, one sentence each."""
        return self._sentences(lib.sfu_dataset_import_note)

    def _sentences(self, item: Callable[..., int]) -> list[str]:
        handle, text = self.handle, ctypes.create_string_buffer(4096)
        found: list[str] = []
        while True:
            status = item(text, len(text), handle.pointer, len(found))
            if status == _abi.SFU_ERR_NOT_FOUND:
                return found
            check(status)
            found.append(decoded(text.value))

    @property
    def class_counts(self) -> np.ndarray:
        """The number of nodes of each class."""
        counts = np.zeros(self.n_classes, np.int32)
        check(lib.sfu_dataset_class_counts(counts.ctypes.data, self.handle.pointer))
        return counts

    # ---- conversions -------------------------------------------------------------------------------------------------

    def with_labels(self, labels: Any, class_names: Optional[Sequence[str]] = None) -> Graph:
        """The same nodes, edges and features with other labels; without a standard split."""
        names = class_names if class_names is not None else self.class_names
        return Graph.from_scipy(self.adjacency, self.features, labels, name=self.name, directed=self.info["directed"],
                                keep_loops=True, scale="none", classes=None if names else max(self.n_classes, 0),
                                class_names=names, node_names=self.node_names, feature_names=self.feature_names,
                                columns=self.columns)

    def noise(self, *, remove: float = 0.0, rewire: float = 0.0, seed: int = 0, name: Optional[str] = None) -> Graph:
        """A copy with a share of the edges removed or rewired, as the command `data noise`. With the same seed, the
        edges of a larger share contain those of a smaller one."""
        how = options("sfu_noise_options", remove=remove, rewire=rewire, seed=seed, name=name)
        return Graph._made(lib.sfu_dataset_noise, self.handle.pointer, ctypes.byref(how), keep=(self.handle, how))

    def to_networkx(self) -> Any:
        """A networkx graph whose nodes have the attribute `label`."""
        import networkx
        kind = networkx.DiGraph if self.info["directed"] else networkx.Graph
        made = networkx.from_scipy_sparse_array(self.adjacency, create_using=kind)
        names, classes, labels = self.node_names, self.class_names, self.labels
        for node, label in enumerate(labels if labels is not None else ()):
            if label >= 0:
                made.nodes[node]["label"] = classes[label] if classes else int(label)
        return networkx.relabel_nodes(made, dict(enumerate(names))) if names else made

    def to_pyg(self) -> Any:
        """A `Data` of PyTorch Geometric, with copies of the arrays and the masks of the standard split."""
        import torch
        from torch_geometric.data import Data
        matrix = self.adjacency.tocoo()
        x = self.features
        data = Data(x=torch.from_numpy(np.array(x.toarray() if is_sparse(x) else x)),
                    edge_index=torch.from_numpy(np.vstack([matrix.row, matrix.col]).astype(np.int64)))
        if self.info["weighted"]:
            data.edge_weight = torch.from_numpy(np.array(matrix.data))
        if self.labels is not None:
            data.y = torch.from_numpy(self.labels.astype(np.int64))
        for part, nodes in (self.split("standard") if self.standard_splits else {}).items():
            mask = torch.zeros(self.n_nodes, dtype=torch.bool)
            mask[torch.from_numpy(nodes.astype(np.int64))] = True
            data[f"{part}_mask"] = mask
        return data

    # ---- display -----------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self._handle is None:
            return "Graph(closed)"
        return (f"Graph({self.name!r}, {self.n_nodes} nodes, {self.n_edges} edges, {self.n_features} features, "
                f"{self.n_classes} classes)")

    def _repr_html_(self) -> str:
        if self._handle is None:
            return "<p>Graph (closed)</p>"
        info = self.info
        homophily = info["homophily"]
        rows = {
            "nodes": f"{info['nodes']:,} ({info['unlabelled']:,} without a label)",
            "edges": f"{info['edges']:,} {'directed' if info['directed'] else 'undirected'}"
                     f"{', weighted' if info['weighted'] else ''}; mean degree {info['mean_degree']:.1f}",
            "features": f"{info['features']:,} ({info['feature_nonzeros']:,} non-zeros)",
            "classes": f"{info['classes']:,}",
            "homophily": "unknown" if math.isnan(homophily) else f"{homophily:.2f}",
            "components": f"{info['components']:,}, the largest with {info['largest_component']:,} nodes",
        }
        facts = "".join(f"<tr><th style='text-align:left'>{key}</th><td style='text-align:left'>{value}</td></tr>"
                        for key, value in rows.items())
        warned = "".join(f"<li>{html.escape(line)}</li>" for line in self.warnings)
        return (f"<b>{html.escape(self.name)}</b><table>{facts}</table>"
                + (f"<p>Warnings</p><ul>{warned}</ul>" if warned else ""))


# ---- arrays of a new graph -------------------------------------------------------------------------------------------

def _rows_of_square(matrix: Any) -> int:
    shape = matrix.shape if hasattr(matrix, "shape") else as_array(matrix, "adjacency").shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ArgumentError(f"adjacency: expected a square matrix, found the shape {tuple(shape)}")
    return int(shape[0])


def _put_features(arrays: Any, nodes: int, features: Any) -> None:
    if features is None:
        return
    shape = features.shape if hasattr(features, "shape") else as_array(features, "features").shape
    if len(shape) != 2 or shape[0] != nodes:
        raise ArgumentError(f"features: expected a matrix with one row for each of the {nodes} nodes, found the shape "
                            f"{tuple(shape)}")
    if is_sparse(features):
        indptr, indices, values = csr_parts(features, "features")
        put(arrays, features=int(shape[1]), indptr=indptr, indices=indices, values=values)
    else:
        put(arrays, features=int(shape[1]), dense=floats(features, "features"))


def _put_names(arrays: Any, nodes: int, classes: Optional[int], class_names: Optional[Sequence[str]],
               node_names: Optional[Sequence[str]], feature_names: Optional[Sequence[str]]) -> None:
    if class_names is not None:
        classes = len(class_names)
    if node_names is not None and len(node_names) != nodes:
        raise ArgumentError(f"node_names: expected {nodes}, found {len(node_names)}")
    if feature_names is not None and len(feature_names) != arrays.features:
        raise ArgumentError(f"feature_names: expected {arrays.features}, found {len(feature_names)}")
    put(arrays, classes=classes, class_names=strings(class_names, "class_names") if class_names else None,
        node_names=strings(node_names, "node_names"), feature_names=strings(feature_names, "feature_names"))


def _put_columns(arrays: Any, nodes: int, columns: Mapping[str, Any]) -> None:
    if not columns:
        return
    values = [floats(column, f"column {name}", (nodes,)) for name, column in columns.items()]
    pointers = (ctypes.c_void_p * len(values))(*(column.ctypes.data for column in values))
    put(arrays, column_count=len(values), column_names=strings(columns, "columns"), columns=pointers)
    arrays._keep.append(values)


def _put_split(arrays: Any, split: Mapping[str, Any]) -> None:
    for name in split:
        part = choice(PARTS, name, "split")
        nodes = integers(split[name], f"split {name}")
        arrays.standard[part] = nodes.ctypes.data
        arrays.standard_count[part] = len(nodes)
        arrays._keep.append(nodes)


# ---- splits ----------------------------------------------------------------------------------------------------------

def split_of(graph: Graph, split: Split, size: Union[None, int, str] = None) -> Handle:
    """A split of the library from a protocol, or from nodes: a dict, or a sequence of two or three lists."""
    handle = graph.handle
    if split is None or isinstance(split, str):
        return created(lib.sfu_split_free, lib.sfu_split_new, handle.pointer, encoded(split, "split"),
                       None if size is None else str(size).encode(), keep=(handle,))
    parts = dict(zip(PARTS, split)) if not isinstance(split, Mapping) else dict(split)
    if not set(parts) <= set(PARTS) or "train" not in parts:
        raise ArgumentError(f"split: expected train, val and test, found {', '.join(map(str, parts))}")
    nodes = [_part_nodes(parts.get(part), part, graph.n_nodes) for part in PARTS]
    pointers = (ctypes.c_void_p * 3)(*(part.ctypes.data for part in nodes))
    counts = np.array([len(part) for part in nodes], np.int32)
    return created(lib.sfu_split_free, lib.sfu_split_from_nodes, handle.pointer, ctypes.addressof(pointers),
                   counts.ctypes.data, keep=(handle,))


def _part_nodes(nodes: Any, part: str, count: int) -> np.ndarray:
    """Node numbers from a list of them or from a mask."""
    if nodes is None:
        return np.zeros(0, np.int32)
    array = as_array(nodes, f"split {part}")
    if array.dtype.kind == "b":
        if array.shape != (count,):
            raise ArgumentError(f"split {part}: expected a mask of {count} nodes, found the shape {array.shape}")
        array = np.flatnonzero(array)
    if array.ndim != 1:
        raise ArgumentError(f"split {part}: expected a list of nodes, found the shape {array.shape}")
    return integers(array, f"split {part}")


def split_nodes(split: Handle) -> dict[str, np.ndarray]:
    count = ctypes.c_int32()
    parts = {}
    for i, part in enumerate(PARTS):
        pointer = lib.sfu_split_part(split.pointer, i, ctypes.byref(count))
        parts[part] = view(pointer, (count.value,), np.int32, split)
    return parts


# ---- files -----------------------------------------------------------------------------------------------------------

def _import_fields(class_names: Optional[Sequence[str]] = None, header: str = "auto", duplicates: str = "max",
                   scale: str = "auto", label_type: str = "auto", decimal: str = ".", **fields: Any) -> dict[str, Any]:
    for name in ("numeric", "categorical", "text", "ignore", "missing"):
        if not isinstance(fields.get(name), (str, type(None))):
            fields[name] = ",".join(str(item) for item in fields[name])
    if decimal not in (".", ","):
        raise ArgumentError(f"decimal: expected '.' or ',', found {decimal!r:.60}")
    fields.update(header=choice(HEADERS, header, "header"), duplicates=choice(DUPLICATES, duplicates, "duplicates"),
                  scale=choice(SCALES, scale, "scale"), label_type=choice(LABEL_TYPES, label_type, "label_type"),
                  decimal=decimal.encode())
    if class_names is not None:
        fields.update(class_names=strings(class_names, "class_names"), class_name_count=len(class_names))
    return fields


def _write_csv(table: Any, path: Path, what: str, index: bool) -> str:
    if not hasattr(table, "to_csv") or not hasattr(table, "columns"):
        raise ArgumentError(f"{what}: expected a DataFrame, found {type(table).__name__}")
    table.to_csv(path, index=index)
    return str(path)


def _index_names_nodes(nodes: Any) -> bool:
    """Whether the index holds node names: it has a name, or is not 0, 1, 2, ..."""
    index = getattr(nodes, "index", None)
    return index is not None and (index.name is not None or type(index).__name__ != "RangeIndex")


class _as_file:
    """A dataset or model as a path, for as long as the block runs."""

    def __init__(self, what: Any):
        self.what = what
        self.folder: Optional[tempfile.TemporaryDirectory[str]] = None

    def __enter__(self) -> Optional[str]:
        if self.what is None or isinstance(self.what, (str, bytes, os.PathLike)):
            return None if self.what is None else os.fsdecode(self.what)
        if not hasattr(self.what, "save"):
            raise ArgumentError(f"expected a Graph, a fitted estimator or a path, found {type(self.what).__name__}")
        self.folder = tempfile.TemporaryDirectory(prefix="sfumato-")
        name = self.what.name if isinstance(self.what, Graph) else "model"
        path = Path(self.folder.name) / f"{_file_name(name)}.safetensors"
        self.what.save(path)
        return str(path)

    def __exit__(self, *_error: Any) -> None:
        if self.folder is not None:
            self.folder.cleanup()


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "+-_." else "_" for c in name).lstrip(".") or "graph"


def _restored(data: bytes, name: str) -> Graph:
    """Undoes __reduce__."""
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
        path = Path(folder) / f"{_file_name(name)}.safetensors"
        path.write_bytes(data)
        return Graph.load(path)


# ---- networkx, torch_geometric ---------------------------------------------------------------------------------------

def _attribute(graph: Any, node: Any, key: str) -> np.ndarray:
    try:
        return np.atleast_1d(np.asarray(graph.nodes[node][key], np.float32))
    except KeyError:
        raise ArgumentError(f"node {node!r} has no attribute {key!r}") from None
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"attribute {key!r} of node {node!r}: expected numbers ({error})") from None


def _coded(values: Sequence[Any]) -> tuple[np.ndarray, list[str]]:
    """Classes as numbers, and their names in order; None and NaN: no label."""
    missing = [is_missing(value) for value in values]
    kept = {value for value, gone in zip(values, missing) if not gone}
    try:
        order = sorted(kept)
    except TypeError:
        order = sorted(kept, key=str)
    number = {value: i for i, value in enumerate(order)}
    return (np.array([-1 if gone else number[value] for value, gone in zip(values, missing)], np.int32),
            [str(value) for value in order])


def _first_mask(data: Any, part: str) -> Optional[np.ndarray]:
    mask = getattr(data, f"{part}_mask", None)
    if mask is None:
        return None
    array = as_array(mask, f"{part}_mask").astype(bool)
    return array if array.ndim == 1 else array[:, 0]


def _dense_or_csr(x: Any) -> Any:
    """A dense array, or a scipy matrix from a sparse tensor."""
    if getattr(x, "is_sparse", False) or "sparse" in str(getattr(x, "layout", "")):
        import scipy.sparse
        coo = x.to_sparse_coo().coalesce()
        row, col = coo.indices().numpy()
        return scipy.sparse.csr_array((coo.values().numpy(), (row, col)), shape=tuple(x.shape))
    return as_array(x, "x")


def datasets() -> dict[str, str]:
    """The public datasets that `Graph.load` downloads, with a description."""
    return described(lib.sfu_get_name)
