"""What an engine offers: passes over rows that may be anywhere, and a way to run independent tasks.

Blocks go in, reductions come out. What has one number per row (scores) comes back as an array, which lies in memory or in a file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.combine import RowScores
from odefs.ensemble.model import Component, Model
from odefs.scaling import ColumnMoments, ColumnRanges, Scaling

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Known:
    """Row numbers in ascending order, and these rows' scores and agreement, as lines."""

    rows: np.ndarray
    lines: np.ndarray

    def within(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Places of the known rows between two row numbers, counted from the first, and what is known of them."""
        first, last = np.searchsorted(self.rows, (start, stop))
        return self.rows[first:last] - start, self.lines[:, first:last]


class Engine(Protocol):
    """Holds the rows of one table. ``n_rows`` is known after :meth:`ranges` at the latest."""

    n_rows: int
    n_columns: int
    n_threads: int
    dtype: np.dtype[Any]

    @property
    def held_rows(self) -> int | None:
        """Up to how many rows may be taken at once; ``None`` where all rows are in memory and taking some costs nothing."""

    def ranges(self) -> ColumnRanges:
        """Sweep 1: ranges of the columns."""

    def moments(self, scaling: Scaling) -> ColumnMoments:
        """Moments of the scaled columns, for the scalings that need them."""

    def prefetch(self, what: str, rows: np.ndarray) -> None:
        """Rows that will be taken soon: the next pass brings them along. They replace those that were foreseen under the same name."""

    def rows(self, rows: np.ndarray) -> np.ndarray:
        """The given rows as they are, dense."""

    def take(self, rows: np.ndarray, scaling: Scaling) -> np.ndarray:
        """The given rows, scaled, in the given order."""

    def raw_scores(self, scaling: Scaling, detector: Detector, components: Sequence[Component]) -> np.ndarray:
        """Raw scores of all rows, shape ``(n_components, n_rows)``."""

    def sample_scores(
        self, scaling: Scaling, detector: Detector, components: Sequence[Component], rows: np.ndarray
    ) -> np.ndarray:
        """Raw scores of the given rows, shape ``(n_components, rows.size)``."""

    def judged(self, model: Model, known: Known | None = None) -> RowScores:
        """Combined scores and agreement of all rows under a frozen model; rows that are known need not be scored again."""

    def outlier_scores(self, model: Model) -> np.ndarray:
        """The scores alone."""

    def per_row(self, dtype: Any = np.float64) -> np.ndarray:
        """Room for one number per row, all of them 0."""

    def map(self, task: Callable[[Task], Result], arguments: Sequence[Task]) -> list[Result]:
        """Independent tasks that need few rows each."""
