"""Reset of estimators whose fit fails: no attributes of it or of an earlier fit remain."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])

PRIVATE_FITTED = ("_model", "_baseline", "_from_file", "_noted")
"""Attributes that a fit sets in addition to those with a trailing underscore."""


def whole(fit: Fit) -> Fit:
    """Decorate ``fit`` to leave the estimator fitted or unfitted, even if it is interrupted."""

    @functools.wraps(fit)
    def whole_fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        _reset(self)
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            if not self.__sklearn_is_fitted__():
                _reset(self)
            raise

    return cast(Fit, whole_fit)


def _reset(estimator: object) -> None:
    """Delete the attributes of a fit; parameters, callbacks and metadata requests stay."""
    for name in list(vars(estimator)):
        if name in PRIVATE_FITTED or (name.endswith("_") and not name.startswith("_")):
            delattr(estimator, name)
