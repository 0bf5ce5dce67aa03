"""Fallbacks of a fit with their messages, and the reset of an estimator whose fit fails."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, cast

from odefs.detectors import Detector
from odefs.engines.select import on_device, why_not_on_device
from odefs.exceptions import Fallback
from odefs.selection.alternation import LearnedWeights
from odefs.selection.candidates import FEWEST, Candidates


def off_device(engine: str, used: Any, detector: Detector) -> list[Fallback]:
    """A requested device was not used; ``used`` is the engine that holds the table."""
    reason = why_not_on_device(used.X, detector) if on_device(engine) else None
    if reason is None:
        return []
    return [Fallback("off_device", f"engine={engine!r} was not used: {reason}.")]


def few_rows(detector: Detector, n_rows: int) -> list[Fallback]:
    """The table has fewer rows than the settings of the detector require."""
    message = detector.shortage(n_rows)
    return [] if message is None else [Fallback("few_rows", message)]


def few_candidates(candidates: Candidates, n_known: int = 0) -> list[Fallback]:
    """Too few rows score above the Cantelli threshold."""
    if candidates.n_above >= FEWEST:
        return []
    who = (
        f"the {candidates.rows.size} rows"
        if not n_known
        else f"{n_known} known outliers and the rows"
    )
    found = "1 row exceeds" if candidates.n_above == 1 else f"{candidates.n_above} rows exceed"
    message = (
        f"{found} the candidate threshold, fewer than {FEWEST}: "
        f"{who} with the highest scores on all columns serve as candidates."
    )
    return [Fallback("few_candidates", message)]


def no_relevant_column(reason: str) -> list[Fallback]:
    """A competing method found no criterion to select columns."""
    return [Fallback("nothing_learned", f"{reason}: all columns are used.")]


def stopped_regressions(stopped: int, rounds: int) -> list[Fallback]:
    """Sparse regressions reached their maximum number of iterations."""
    if not stopped:
        return []
    message = (
        f"{stopped} of {rounds} sparse regressions did not converge: "
        "they may have selected too many columns."
    )
    return [Fallback("not_converged", message)]


def training_fallbacks(training: Sequence[LearnedWeights]) -> list[Fallback]:
    """Components learned nothing or did not converge."""
    found = []
    empty = sum(not part.w.any() for part in training)
    if empty:
        message = (
            f"{empty} of {len(training)} components found no column that ranks the candidates "
            "higher: they use all columns."
        )
        found.append(Fallback("nothing_learned", message))
    stopped = sum(not part.converged for part in training)
    if stopped:
        message = (
            f"{stopped} of {len(training)} components did not converge: a larger tol may help."
        )
        found.append(Fallback("not_converged", message))
    return found


Fit = TypeVar("Fit", bound=Callable[..., Any])


class Fitted(Protocol):
    """An estimator that knows whether it is fitted."""

    def __sklearn_is_fitted__(self) -> bool: ...


PRIVATE_FITTED = ("_model", "_baseline", "_from_file", "_noted")
"""Attributes that a fit sets in addition to those with a trailing underscore."""


def whole(fit: Fit) -> Fit:
    """Decorate ``fit`` to leave the estimator fitted or unfitted, even if it is interrupted."""

    @functools.wraps(fit)
    def whole_fit(self: Fitted, *args: object, **kwargs: object) -> object:
        # A second fit must not leave attributes of the first, such as feature_names_in_.
        _reset(self)
        try:
            return fit(self, *args, **kwargs)
        # Also KeyboardInterrupt. If the fit was complete, for instance if a warning was raised as
        # an error after it, the estimator stays fitted.
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
