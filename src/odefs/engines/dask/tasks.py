"""Tasks for one partition: functions of its rows and of values that the scheduler holds."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from odefs.detectors.base import Detector
from odefs.engines.in_memory import InMemoryEngine
from odefs.engines.out_of_core import fill_in_known, require_finite
from odefs.ensemble.model import Component, Model, n_outputs
from odefs.scaling import ColumnMoments, ColumnRanges, Scaling

Value = TypeVar("Value")
Result = TypeVar("Result")
ScoringArguments = tuple[Scaling, Detector, Sequence[Component]]


def counted(
    rows: np.ndarray,
    shared: object,
    task: Callable[..., Result],
    n_rows: int | None,
    *own: object,
) -> Result:
    """A task's result, if the partition still has the number of rows that was counted."""
    if n_rows is not None and len(rows) != n_rows:
        raise ValueError(
            f"a partition has {len(rows)} rows in a later pass and had {n_rows} in the first: "
            "every pass must return the same rows; persist() a collection that changes when it is "
            "computed again, and do not change files that are read."
        )
    return task(rows, shared, *own)


def measure(rows: np.ndarray, _: object) -> tuple[int, ColumnRanges | None]:
    # One thread: the cluster runs one task per core.
    return len(rows), InMemoryEngine(rows, 1).ranges() if len(rows) else None


def moments(rows: np.ndarray, scaling: Scaling) -> ColumnMoments | None:
    return InMemoryEngine(rows, 1).moments(scaling) if len(rows) else None


def nothing(rows: np.ndarray, _: object) -> None:
    return None


def with_rows(
    rows: np.ndarray,
    shared: tuple[Value, Callable[[np.ndarray, Value], Result]],
    wanted: dict[str, np.ndarray],
) -> tuple[Result, dict[str, np.ndarray]]:
    value, task = shared
    return task(rows, value), {what: rows[numbers] for what, numbers in wanted.items()}


def raw_scores(rows: np.ndarray, shared: ScoringArguments) -> np.ndarray:
    scaling, detector, components = shared
    if not len(rows):
        return np.empty((len(components), 0))
    return InMemoryEngine(rows, 1).raw_scores(scaling, detector, components)


def sample_scores(rows: np.ndarray, shared: ScoringArguments, numbers: np.ndarray) -> np.ndarray:
    scaling, detector, components = shared
    return InMemoryEngine(rows, 1).sample_scores(scaling, detector, components, numbers)


def judged(rows: np.ndarray, shared: tuple[Model, bool], places: np.ndarray | None) -> np.ndarray:
    """Scores and agreement of a partition, as lines; rows at ``places`` are skipped (NaN)."""
    model, missing = shared
    if not len(rows):
        return np.empty((n_outputs(model), 0))
    require_finite(rows, missing)

    def score(part: np.ndarray) -> np.ndarray:
        found = InMemoryEngine(part, 1).judged(model)
        return np.stack(
            [found.scores] if found.agreement is None else [found.scores, found.agreement]
        )

    unknown = (n_outputs(model), 0 if places is None else places.size)
    return (
        score(rows)
        if places is None
        else fill_in_known(score, rows, places, np.full(unknown, np.nan))
    )
