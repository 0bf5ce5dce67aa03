"""The base class of engines: passes over rows that may be anywhere, and a way to run tasks.

Blocks go in, reductions come out. Scores, one number per row, come back as an array that lies in
memory or in a file. An engine implements the abstract methods; the others have defaults that only
need those, and that an engine overrides where it has a faster way, as the one for GPUs does.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from odefs.detectors.base import Detector
from odefs.ensemble.model import (
    Component,
    Model,
    RowScores,
    from_rows,
    total_contributions,
    with_normaliser,
)
from odefs.scaling import ColumnMoments, ColumnRanges, Scaling
from odefs.system.threads import run_tasks

if TYPE_CHECKING:
    from odefs.ensemble.trainer import ComponentTrainer, TrainedComponent

Task = TypeVar("Task")
Result = TypeVar("Result")

SCORE_BYTES = 128 * 2**20
"""Memory for raw scores of several components before they are combined."""


@dataclass(frozen=True, eq=False)
class KnownTotals:
    """Row numbers in ascending order, and the scores and agreement of these rows, as lines."""

    rows: np.ndarray
    lines: np.ndarray

    def within(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """The known rows from ``start`` to ``stop``, counted from ``start``, and their lines."""
        first, last = np.searchsorted(self.rows, (start, stop))
        return self.rows[first:last] - start, self.lines[:, first:last]


@dataclass(frozen=True, eq=False)
class KnownRawScores:
    """Raw scores of some rows that are known before all rows are scored."""

    rows: np.ndarray
    """Row numbers in ascending order."""
    raw: Callable[[Component], np.ndarray | None]
    """The scores of these rows by a component, if it has scored them."""

    def split(self, start: int, stop: int) -> tuple[np.ndarray, slice, np.ndarray]:
        """Of the rows from ``start`` to ``stop``, counted from ``start``: those that are known,
        their places in :attr:`rows`, and the others.
        """
        first, last = np.searchsorted(self.rows, (start, stop))
        known = self.rows[first:last] - start
        is_other = np.ones(stop - start, dtype=bool)
        is_other[known] = False
        return known, slice(first, last), np.flatnonzero(is_other)


class Engine(ABC):
    """Holds the rows of one table. ``n_rows`` is known after :meth:`ranges` at the latest."""

    n_rows: int
    n_columns: int
    n_threads: int
    dtype: np.dtype

    @property
    @abstractmethod
    def held_rows(self) -> int | None:
        """The most rows that can be taken at once; ``None`` where all rows are in memory."""

    @abstractmethod
    def ranges(self) -> ColumnRanges:
        """Sweep over all rows for the ranges of the columns."""

    @abstractmethod
    def moments(self, scaling: Scaling) -> ColumnMoments:
        """Sweep over all rows for the moments of the scaled columns."""

    @abstractmethod
    def prefetch(self, what: str, rows: np.ndarray) -> None:
        """Announce rows that will be taken soon: the next sweep reads them on the way.

        They replace the rows that were announced under the same name.
        """

    @abstractmethod
    def rows(self, rows: np.ndarray) -> np.ndarray:
        """The given rows as they are, dense."""

    @abstractmethod
    def raw_scores(
        self,
        scaling: Scaling,
        detector: Detector,
        components: Sequence[Component],
    ) -> np.ndarray:
        """Raw scores of all rows, shape ``(n_components, n_rows)``."""

    @abstractmethod
    def sample_scores(
        self,
        scaling: Scaling,
        detector: Detector,
        components: Sequence[Component],
        rows: np.ndarray,
    ) -> np.ndarray:
        """Raw scores of the given rows, shape ``(n_components, rows.size)``."""

    @abstractmethod
    def judged(self, model: Model, known: KnownTotals | None = None) -> RowScores:
        """Combined scores and agreement of all rows under a frozen model.

        Rows that are ``known`` need not be scored again.
        """

    @abstractmethod
    def per_row(self, dtype: npt.DTypeLike = np.float64) -> np.ndarray:
        """An array of one number per row, all of them 0."""

    def take(self, rows: np.ndarray, scaling: Scaling) -> np.ndarray:
        """The given rows, scaled, in the given order."""
        part = self.rows(rows)
        return scaling.apply(part, np.empty(part.shape, dtype=self.dtype))

    def complete_scores(
        self,
        scaling: Scaling,
        detector: Detector,
        components: Sequence[Component],
        known: KnownRawScores | None,
    ) -> np.ndarray:
        """As :meth:`raw_scores`. Scores that are ``known`` need not be computed again."""
        return self.raw_scores(scaling, detector, components)

    def outlier_scores(self, model: Model) -> np.ndarray:
        """Combined scores of all rows under a frozen model, without the agreement."""
        return self.judged(model).scores

    def map(self, task: Callable[[Task], Result], arguments: Sequence[Task]) -> list[Result]:
        """Run independent tasks that need few rows each."""
        return run_tasks(task, arguments, self.n_threads)

    def train(
        self,
        trainer: "ComponentTrainer",
        indices: Sequence[int],
    ) -> list["TrainedComponent"]:
        """Train the components of the given numbers."""
        return trainer.in_batches(indices)

    def score_and_normalise(
        self,
        detector: Detector,
        scaling: Scaling,
        components: Sequence[Component],
        rows: np.ndarray | None,
        rate: float | None = None,
        known: KnownRawScores | None = None,
    ) -> tuple[list[Component], RowScores]:
        """The last sweep: score all rows, and freeze each component's normaliser.

        Normalisers, and with a ``rate`` thresholds, come from ``rows`` (``None``: from all rows).
        Scores that are ``known`` need not be computed again.
        """
        if rows is not None and self.held_rows is not None:
            # Raw scores of all rows would go to disk for every component. Normalisers of a row
            # sample can be found first: then the sweep adds up final scores only.
            frozen, lines = self._normalise_on(rows, detector, scaling, components, rate)
            model = Model(detector, scaling, tuple(frozen), self.dtype)
            return frozen, self.judged(model, KnownTotals(rows, lines))
        frozen = []
        judged = RowScores(self.per_row(), None if rate is None else self.per_row())
        for part in _groups(components, self.n_rows):
            scores = self.complete_scores(scaling, detector, part, known)
            for component, raw in zip(part, scores, strict=True):
                # Components are added one after the other, in the order in which add_block adds
                # them to a block of rows: sums of floats depend on it, and engines must agree to
                # the bit.
                frozen.append(with_normaliser(component, raw if rows is None else raw[rows], rate))
                judged.add(frozen[-1], raw)
        return frozen, judged

    def _normalise_on(
        self,
        rows: np.ndarray,
        detector: Detector,
        scaling: Scaling,
        components: Sequence[Component],
        rate: float | None,
    ) -> tuple[list[Component], np.ndarray]:
        """Components with normalisers from ``rows``, and the lines of these rows."""
        frozen: list[Component] = []
        lines = np.zeros((1 if rate is None else 2, rows.size))
        judged = from_rows(lines)
        for part in _groups(components, rows.size):
            scores = self.sample_scores(scaling, detector, part, rows)
            for component, raw in zip(part, scores, strict=True):
                frozen.append(with_normaliser(component, raw, rate))
                judged.add(frozen[-1], raw)
        return frozen, lines

    def total_contributions(self, model: Model, rows: np.ndarray) -> list[np.ndarray]:
        """Contributions of the columns of each scoring component, added up over some rows."""
        X = self.take(rows, model.scaling)
        return self.map(lambda one: total_contributions(one, model.detector, X), model.scoring)


def _groups(components: Sequence[Component], n_rows: int) -> list[list[Component]]:
    """As many components at a time as :data:`SCORE_BYTES` has room for."""
    size = max(1, SCORE_BYTES // (8 * n_rows))
    return [list(components[start : start + size]) for start in range(0, len(components), size)]
