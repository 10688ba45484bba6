"""The base of the estimators: scikit-learn's interface without importing scikit-learn, which takes far longer than most
trainings. Where the program has imported it, its checks of X and y are used."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np

from ._arrays import as_array, floats, is_sparse
from .errors import ArgumentError

_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float32}


class Classifier:
    """Parameters, tags and checks as scikit-learn expects them."""

    _estimator_type = "classifier"  # scikit-learn before 1.6
    scale: str
    directed: bool
    n_jobs: Any
    device: str
    memory: Any = None
    random_state: Any
    has_graph_: bool
    n_features_in_: int

    @classmethod
    def _parameters(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters and their values."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Any:
        """Sets parameters by name."""
        for name, value in params.items():
            if name not in self._parameters():
                raise ArgumentError(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: "
                                    f"{self._parameters()}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = {name: value for name, value in self.get_params().items()
                   if not _same(value, defaults[name].default)}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    # ---- for scikit-learn --------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags
        return Tags(estimator_type="classifier", target_tags=TargetTags(required=True),
                    classifier_tags=ClassifierTags(), input_tags=InputTags(sparse=True))

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"requires_y": True}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # ---- checks ------------------------------------------------------------------------------------------------------

    def _validated(self, X: Any, y: Any, has_graph: bool) -> tuple[Any, np.ndarray]:
        """With a graph, y may have None and NaN, which scikit-learn refuses; it is checked later."""
        if "sklearn.utils.validation" not in sys.modules:
            X = _matrix(X)
            self.n_features_in_ = X.shape[1]
            return X, as_array(y, "y")
        if has_graph:
            return self._sklearn_checked(X, None, True)[0], np.asarray(y)
        from sklearn.utils.multiclass import check_classification_targets
        X, y = self._sklearn_checked(X, y, True)
        check_classification_targets(y)
        return X, y

    def _validated_again(self, X: Any) -> Any:
        if "sklearn.utils.validation" in sys.modules:
            return self._sklearn_checked(X, None, False)[0]
        X = _matrix(X)
        self._check_n_features(X)
        return X

    def _sklearn_checked(self, X: Any, y: Any, reset: bool) -> tuple[Any, Any]:
        try:
            from sklearn.utils.validation import validate_data
        except ImportError:  # before 1.6
            from sklearn.utils import check_array, check_X_y
            X, y = check_X_y(X, y, **_CHECKS) if y is not None else (check_array(X, **_CHECKS), None)
            if reset:
                self.n_features_in_ = X.shape[1]
            self._check_n_features(X)
            return X, y
        checked = validate_data(self, X, "no_validation" if y is None else y, reset=reset, **_CHECKS)
        return (checked, None) if y is None else checked

    def _check_n_features(self, X: Any) -> None:
        if X.shape[1] != self.n_features_in_:
            raise ArgumentError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                                f"{self.n_features_in_} features as input")

    def _check_fitted(self) -> None:
        if hasattr(self, "model_"):
            return
        message = f"this {type(self).__name__} instance is not fitted yet: call fit first"
        if "sklearn.exceptions" in sys.modules:
            raise sys.modules["sklearn.exceptions"].NotFittedError(message)
        raise ArgumentError(message)


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and repr(one) == repr(other))


def _matrix(X: Any) -> Any:
    if is_sparse(X):
        return X
    X = floats(X, "X")
    if X.ndim != 2:
        raise ArgumentError(f"X: expected a matrix, found the shape {X.shape}")
    return X
