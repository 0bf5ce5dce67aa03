"""A fit is whole or nothing: one that fails leaves no fitted attribute, of itself or of the fit before it."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])

OF_THE_MODEL = ("_model", "_baseline", "_from_file", "_noted")
"""What a fit sets beside attributes whose names end in an underscore."""


def whole(fit: Fit) -> Fit:
    """``fit``, which begins with an unfitted estimator and ends with a fitted or an unfitted one, interrupts included."""

    @functools.wraps(fit)
    def whole_fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        _forget(self)
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            if not self.__sklearn_is_fitted__():
                _forget(self)
            raise

    return cast(Fit, whole_fit)


def _forget(estimator: Any) -> None:
    """Drop what a fit sets; parameters, callbacks and requests for metadata stay."""
    for name in list(vars(estimator)):
        if name in OF_THE_MODEL or (name.endswith("_") and not name.startswith("_")):
            delattr(estimator, name)
