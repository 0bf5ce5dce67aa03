"""Component training on the few rows that each component draws (lines 4 to 12 of Algorithm 1).

Which components, and how many, is decided in :mod:`odefs.ensemble.train`. Engines may train them in
another way (:meth:`odefs.ensemble.engine.Engine.train`); on threads they are trained here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.component import (
    KnownCases,
    SampledIndices,
    SampledRows,
    draw_component,
    train_components,
)
from odefs.ensemble.engine import Engine
from odefs.ensemble.model import Component
from odefs.ensemble.plan import Plan, Seeds
from odefs.ensemble.scaled_table import MemberReferences
from odefs.scaling import ColumnRanges, Scaling
from odefs.selection.alternation import LearnedWeights

TrainedComponent = tuple[Component, LearnedWeights]
"""A component, and what it learned, which is kept for ``fit_info_``; scoring does not need it."""


def components_of(trained: Sequence[TrainedComponent]) -> list[Component]:
    return [component for component, _ in trained]


BATCH_BYTES = 4 * 2**20
"""Memory for the linearised rows and pairs of the components that a thread trains side by side.

Measured: four to nine components of 50 to 100 columns save a tenth to a third of the time of one by
one. Once they leave the cache they lose it again (twelve of 500 columns take a fifth more), and a
component of 1,600 columns keeps a thread busy by itself.
"""


@dataclass(frozen=True, eq=False)
class ComponentTrainer:
    """Trains components by their numbers: component ``i`` is the same however many there are."""

    engine: Engine
    detector: Detector
    plan: Plan
    scaling: Scaling
    candidates: np.ndarray
    full_references: MemberReferences
    """References of the members on all columns; the components may share the first member's."""
    noise: np.ndarray
    """Columns that look like pure noise: random subsets to compare with are drawn without them."""
    ranges: ColumnRanges
    """Of all rows."""
    seeds: Seeds
    known: KnownCases = field(default_factory=KnownCases)
    held_out: tuple[np.ndarray, ...] = ()
    """Known outliers to hold back: component ``i`` does not see set ``i`` modulo their number."""

    def draw(self, index: int, rng: np.random.Generator) -> SampledIndices:
        """Lines 4 and 5 of Algorithm 1: the rows that component ``index`` learns from."""
        candidates, known = self.candidates, self.known.outliers
        if self.held_out:
            unseen = self.held_out[index % len(self.held_out)]
            # Candidates include the known outliers, so that both have to lose the held-out ones.
            candidates, known = np.setdiff1d(candidates, unseen), np.setdiff1d(known, unseen)
        return draw_component(
            self.plan,
            self.detector,
            self.engine.n_rows,
            candidates,
            self.full_references[0],
            rng,
            known,
        )

    def prefetch(self, limit: int, start: int) -> int:
        """Announce the rows of components ``start`` to ``limit``, as far as they may be held.

        Returns the number of the first component whose rows were not announced.
        """
        room = self.engine.held_rows
        if room is None:
            return limit
        rows: list[np.ndarray] = []
        index, n_rows = start, 0
        # At least one component, even if its rows exceed the memory: train_all would not end.
        while index < limit and (index == start or n_rows < room):
            draw = self.draw(index, self.seeds.component(index))
            rows += [draw.outliers, draw.unlabeled, draw.references]
            n_rows += sum(part.size for part in rows[-3:])
            index += 1
        self.engine.prefetch("components", np.concatenate(rows))
        return index

    def train_all(self, limit: int) -> list[TrainedComponent]:
        """Train the first ``limit`` components."""
        found: list[TrainedComponent] = []
        while len(found) < limit:
            stop = self.prefetch(limit, len(found))
            found += self.engine.train(self, range(len(found), stop))
        return found

    def in_batches(self, indices: Sequence[int]) -> list[TrainedComponent]:
        """Train the components of the given numbers, a few side by side on each thread.

        How they are divided into batches changes the time and not the result.
        """
        n_threads = self.engine.n_threads
        # Parts of about equal size: a short last part would leave threads idle.
        rounds = max(1, -(-len(indices) // (n_threads * self._at_once)))
        size = -(-len(indices) // (n_threads * rounds))
        parts = [indices[start : start + size] for start in range(0, len(indices), size)]
        return [one for part in self.engine.map(self._batch, parts) for one in part]

    def _batch(self, indices: Sequence[int]) -> list[TrainedComponent]:
        return train_components(self.plan, self.detector, [self._drawn(index) for index in indices])

    def _drawn(self, index: int) -> SampledRows:
        rng = self.seeds.component(index)
        draw = self.draw(index, rng)
        numbers = (draw.outliers, draw.unlabeled, draw.references)
        outliers, unlabeled, references = (self.engine.take(rows, self.scaling) for rows in numbers)
        return SampledRows(outliers, unlabeled, references, rng)

    @property
    def _at_once(self) -> int:
        """How many components one thread trains side by side."""
        n_outliers = min(self.plan.outlier_examples(self.engine.n_rows), self.candidates.size)
        n_unlabeled = self.plan.unlabeled_examples(self.engine.n_rows)
        cells = (n_outliers + n_unlabeled) * self.engine.n_columns + n_outliers * n_unlabeled
        # 8 bytes per number, and everything twice: G of the present and of the trial weights,
        # values and slopes of the pairs.
        return max(1, BATCH_BYTES // (2 * 8 * cells))
