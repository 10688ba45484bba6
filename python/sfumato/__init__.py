"""Sfumato: semi-supervised node classification on graphs.

    import sfumato
    g = sfumato.Graph.from_pandas(edges, nodes, label="topic")
    m = sfumato.Labeler(budget="60s").fit(g)
    m.predict(g), m.estimate_
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._abi import VERSION as __version__

if TYPE_CHECKING:
    from ._model import Model
    from ._run import show_progress
    from .errors import (ArgumentError, CancelledError, DeviceError, DivergedError, FileError, FormatError,
                         InterruptedWarning, NotFoundError, OutOfMemoryError, SfumatoError, UnsupportedError)
    from .comparison import Comparison, compare, open_comparison
    from .estimators import GraphClassifier, Labeler, cross_val_score
    from .graph import Graph, datasets
    from .plan import Plan, draw, explain, nets
    from .study import Study, tune

# Modules are imported when they are first used: importing the package takes a millisecond.
_HOMES = {
    "Model": "_model", "show_progress": "_run",
    "GraphClassifier": "estimators", "Labeler": "estimators", "cross_val_score": "estimators",
    "Graph": "graph", "datasets": "graph",
    "Comparison": "comparison", "compare": "comparison", "open_comparison": "comparison",
    "Plan": "plan", "draw": "plan", "explain": "plan", "nets": "plan", "Study": "study", "tune": "study",
    **{name: "errors" for name in (
        "ArgumentError", "CancelledError", "DeviceError", "DivergedError", "FileError", "FormatError",
        "InterruptedWarning", "NotFoundError", "OutOfMemoryError", "SfumatoError", "UnsupportedError")},
}
__all__ = ["__version__", "load", *_HOMES]


def load(name_or_path: Any) -> Graph:
    """Opens a dataset by its path or name; a public one ("cora") is downloaded first. The same as Graph.load."""
    found: Graph = __getattr__("Graph").load(name_or_path)
    return found


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    value = getattr(importlib.import_module("." + _HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
