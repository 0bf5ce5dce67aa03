"""What an engine offers: passes over rows that may be anywhere, and a way to run independent tasks."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from odefs.detectors.protocol import Detector
from odefs.ensemble.model import Component, Model
from odefs.scaling import ColumnMoments, ColumnRanges, Scaling

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Holds the rows of one table."""

    n_rows: int
    n_columns: int
    dtype: np.dtype[Any]

    def ranges(self) -> ColumnRanges:
        """Sweep 1: ranges of the columns."""

    def moments(self, scaling: Scaling) -> ColumnMoments:
        """Moments of the scaled columns, for the scalings that need them."""

    def rows(self, rows: slice | np.ndarray) -> np.ndarray:
        """The given rows as they are, dense."""

    def take(self, rows: np.ndarray, scaling: Scaling) -> np.ndarray:
        """The given rows, scaled, in the given order."""

    def raw_scores(self, scaling: Scaling, detector: Detector, components: Sequence[Component]) -> np.ndarray:
        """Sweeps 2 and 3: raw scores of all rows, shape ``(n_components, n_rows)``."""

    def outlier_scores(self, model: Model) -> np.ndarray:
        """Combined scores of all rows under a frozen model."""

    def sweep(
        self, task: Callable[[slice, np.ndarray], None], scaling: Scaling, dtype: np.dtype[Any], bytes_per_row: int
    ) -> None:
        """Call ``task`` with each block's place and its scaled rows; these are valid only during the call."""

    def map(self, task: Callable[[Task], Result], arguments: Sequence[Task]) -> list[Result]:
        """Independent tasks that need few rows each."""
