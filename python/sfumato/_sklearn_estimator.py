"""The base of the estimators with scikit-learn: its classes and its checks of X and y."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6
    validate_data = None

_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float32}


class SklearnClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Checks of X and y."""

    def _validated(self, X: Any, y: Any, has_graph: bool) -> tuple[Any, np.ndarray]:
        """With a graph, y may have None and NaN, which scikit-learn refuses, and is checked later."""
        if has_graph:
            return self._one(X, reset=True), np.asarray(y)
        if validate_data is not None:
            X, y = validate_data(self, X, y, **_CHECKS)
        else:
            self._check_feature_names(X, reset=True)
            X, y = check_X_y(X, y, **_CHECKS)
            self._check_n_features(X, reset=True)
        check_classification_targets(y)
        return X, y

    def _validated_again(self, X: Any) -> Any:
        return self._one(X, reset=False)

    def _one(self, X: Any, reset: bool) -> Any:
        if validate_data is not None:
            return validate_data(self, X, reset=reset, **_CHECKS)
        self._check_feature_names(X, reset=reset)
        X = check_array(X, **_CHECKS)
        self._check_n_features(X, reset=reset)
        return X

    def _check_fitted(self) -> None:
        check_is_fitted(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _more_tags(self) -> dict[str, Any]:  # before 1.6
        return {"requires_y": True}
