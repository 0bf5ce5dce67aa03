"""What an engine offers: passes over rows that may be anywhere, and a way to run independent tasks."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from odefs.detectors.protocol import Detector
from odefs.ensemble.model import Component, Model
from odefs.scaling import ColumnStatistics, Scaling

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Holds the rows of one table."""

    n_rows: int
    n_columns: int
    dtype: np.dtype[Any]

    def statistics(self, moments: bool) -> ColumnStatistics:
        """Sweep 1: ranges of the columns and, on request, their moments."""

    def take(self, rows: np.ndarray, scaling: Scaling) -> np.ndarray:
        """The given rows, scaled, in the given order."""

    def raw_scores(self, scaling: Scaling, detector: Detector, components: Sequence[Component]) -> np.ndarray:
        """Sweeps 2 and 3: raw scores of all rows, shape ``(n_components, n_rows)``."""

    def outlier_scores(self, model: Model) -> np.ndarray:
        """Combined scores of all rows under a frozen model."""

    def map(self, task: Callable[[Task], Result], arguments: Sequence[Task]) -> list[Result]:
        """Independent tasks that need few rows each."""
