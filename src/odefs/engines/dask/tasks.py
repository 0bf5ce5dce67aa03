"""What workers do with a partition: functions of its rows and of values that the scheduler holds."""

from collections.abc import Callable
from typing import Any

import numpy as np

from odefs.engines.in_memory import InMemoryEngine
from odefs.engines.out_of_core import fill_in_known, require_finite
from odefs.ensemble.combine import n_outputs
from odefs.scaling import ColumnMoments, ColumnRanges, Scaling


def counted(
    rows: np.ndarray, shared: Any, task: Callable[..., Any], n_rows: int | None, *own: Any
) -> Any:
    """A task's result, if the partition has as many rows as when they were counted."""
    if n_rows is not None and len(rows) != n_rows:
        raise ValueError(
            f"a partition has {len(rows)} rows in a later pass and had {n_rows} in the first: each must bring the same rows; persist() a collection that changes when "
            "it is computed again, and leave files alone while they are read."
        )
    return task(rows, shared, *own)


def measure(rows: np.ndarray, _: Any) -> tuple[int, ColumnRanges | None]:
    return len(rows), InMemoryEngine(rows, 1).ranges() if len(rows) else None


def moments(rows: np.ndarray, scaling: Scaling) -> ColumnMoments | None:
    return InMemoryEngine(rows, 1).moments(scaling) if len(rows) else None


def nothing(rows: np.ndarray, _: Any) -> None:
    return None


def with_rows(
    rows: np.ndarray, shared: Any, wanted: dict[str, np.ndarray]
) -> tuple[Any, dict[str, np.ndarray]]:
    value, task = shared
    return task(rows, value), {what: rows[numbers] for what, numbers in wanted.items()}


def raw_scores(rows: np.ndarray, shared: Any) -> np.ndarray:
    scaling, detector, components = shared
    if not len(rows):
        return np.empty((len(components), 0))
    return InMemoryEngine(rows, 1).raw_scores(scaling, detector, components)


def sample_scores(rows: np.ndarray, shared: Any, numbers: np.ndarray) -> np.ndarray:
    scaling, detector, components = shared
    return InMemoryEngine(rows, 1).sample_scores(scaling, detector, components, numbers)


def judged(rows: np.ndarray, shared: Any, places: np.ndarray | None) -> np.ndarray:
    """Scores and agreement of a partition, as lines; rows at ``places`` are left out and have none."""
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
