"""Checks of constructor parameters, made in ``fit``: what was given, what is allowed."""

import math
import numbers
from collections.abc import Iterable
from typing import Any, cast

from odefs.detectors import BUILT_IN, Detector, LeSiNNDetector
from odefs.detectors.lesinn import Metric


def require_choice(name: str, value: Any, allowed: Iterable[Any]) -> None:
    # By type too: True == 1, and numpy strings are fine.
    for choice in allowed:
        if isinstance(value, bool) == isinstance(choice, bool) and value == choice:
            return
    choices = ", ".join(repr(choice) for choice in allowed)
    raise ValueError(f"{name}={value!r} is not one of {choices}.")


def require_number(
    name: str, value: Any, low: float, high: float = math.inf, *, open_low: bool = False, open_high: bool = False
) -> None:
    """A finite real number between ``low`` and ``high``; ends count unless they are said to be open."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    number = float(value) if is_number else math.nan
    at_open_end = (open_low and number == low) or (open_high and number == high)
    if not low <= number <= high or at_open_end or math.isinf(number):
        brackets = "(" if open_low else "[", ")" if open_high or math.isinf(high) else "]"
        raise ValueError(f"{name}={value!r} is not a number in {brackets[0]}{low}, {high}{brackets[1]}.")


def require_integer(name: str, value: Any, low: int | None = None) -> None:
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_integer or (low is not None and value < low):
        raise ValueError(f"{name}={value!r} is not a whole number{'' if low is None else f' of at least {low}'}.")


def require_contamination(value: Any) -> None:
    if value != "auto":
        require_number("contamination", value, 0.0, 0.5, open_low=True)


def resolve_detector(detector: Any, n_subsets: int, subset_size: int, metric: str) -> Detector:
    """The detector behind a name, or the instance that was given."""
    if isinstance(detector, Detector):
        return detector
    if detector == LeSiNNDetector.name:
        require_integer("n_subsets", n_subsets, 1)
        require_integer("subset_size", subset_size, 1)
        require_choice("metric", metric, ("euclidean", "sqeuclidean"))
        return LeSiNNDetector(int(n_subsets), int(subset_size), cast(Metric, metric))
    if isinstance(detector, str) and detector in BUILT_IN:
        return BUILT_IN[detector]()
    names = ", ".join(repr(name) for name in BUILT_IN)
    raise ValueError(f"detector={detector!r} is not one of {names}, nor an odefs.detectors.Detector.")
