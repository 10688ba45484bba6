"""The base of the estimators without scikit-learn: parameters and checks."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ._arrays import as_array, floats, is_sparse
from .errors import ArgumentError


class PlainClassifier:
    """get_params and set_params as in scikit-learn, and checks of X and y."""

    scale: str
    directed: bool
    n_jobs: Any
    random_state: Any
    has_graph_: bool
    n_features_in_: int

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters and their values."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Any:
        """Sets parameters by name."""
        for name, value in params.items():
            if name not in self._parameters():
                raise ArgumentError(f"{type(self).__name__} has no parameter {name!r}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    def _validated(self, X: Any, y: Any, has_graph: bool) -> tuple[Any, np.ndarray]:
        X = _matrix(X)
        self.n_features_in_ = X.shape[1]
        return X, as_array(y, "y")

    def _validated_again(self, X: Any) -> Any:
        X = _matrix(X)
        if X.shape[1] != self.n_features_in_:
            raise ArgumentError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                                f"{self.n_features_in_} features as input")
        return X

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise ArgumentError(f"this {type(self).__name__} is not fitted yet: call fit first")


def _matrix(X: Any) -> Any:
    if is_sparse(X):
        return X
    X = floats(X, "X")
    if X.ndim != 2:
        raise ArgumentError(f"X: expected a matrix, found the shape {X.shape}")
    return X
