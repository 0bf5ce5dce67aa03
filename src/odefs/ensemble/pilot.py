"""The pilot sample: a fixed sample of rows that a fit scores before it sweeps over all rows.

It decides how many members on all columns are needed, which rows are candidates, how far learned
subsets are trusted and how many components there are. Repeated checks use a part of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.combine import divided, mean_score, raw_scores
from odefs.ensemble.engine import Engine
from odefs.ensemble.model import Component
from odefs.ensemble.plan import Plan, Seeds, sample_rows
from odefs.kernels.chunking import block_rows, row_blocks
from odefs.scaling import Scaling

MOST_ROWS = 8192
MOST_CELLS = 2**23
FEW_ROWS = 2048
"""Rows for repeated checks: few compared with a sweep, enough for a correlation."""


@dataclass(frozen=True, eq=False)
class PilotSample:
    """Numbers of the pilot rows, the scaled rows, and the places of the few among them."""

    engine: Engine
    detector: Detector
    numbers: np.ndarray
    X: np.ndarray
    few: np.ndarray

    def scores(self, components: Sequence[Component]) -> np.ndarray:
        """Scores of all pilot rows with mean 1, ``(n_components, n_rows)``."""
        return self._scores(components, self.X)

    def few_scores(self, components: Sequence[Component]) -> np.ndarray:
        """Scores of the few rows with mean 1."""
        return self._scores(components, self.X[self.few])

    def _scores(self, components: Sequence[Component], X: np.ndarray) -> np.ndarray:
        def score(component: Component) -> np.ndarray:
            height = block_rows(self.detector.bytes_per_row(component.columns.size))
            parts = [
                raw_scores(component, self.detector, X[rows])
                for rows in row_blocks(X.shape[0], height)
            ]
            return normalise_to_mean_one(np.concatenate(parts))

        return np.stack(self.engine.map(score, components))


def take_pilot(
    engine: Engine, detector: Detector, scaling: Scaling, plan: Plan, seeds: Seeds
) -> PilotSample | None:
    """The pilot sample, or ``None`` where the plan does not use one."""
    if not plan.uses_pilot:
        return None
    numbers = pilot_rows(engine.n_rows, engine.n_columns, plan, seeds)
    few = sample_rows(numbers.size, FEW_ROWS, seeds.stopping())
    return PilotSample(
        engine,
        detector,
        numbers,
        engine.take(numbers, scaling),
        np.arange(numbers.size) if few is None else few,
    )


def pilot_rows(n_rows: int, n_columns: int, plan: Plan, seeds: Seeds) -> np.ndarray:
    """Numbers of the pilot rows: a seeded sample of the rows that normalisers come from."""
    known = sample_rows(n_rows, plan.normalization_rows, seeds.row_sample())
    n_known = n_rows if known is None else known.size
    chosen = sample_rows(
        n_known, max(FEW_ROWS, min(MOST_ROWS, MOST_CELLS // n_columns)), seeds.pilot()
    )
    if chosen is None:
        chosen = np.arange(n_known)
    return chosen if known is None else known[chosen]


def normalise_to_mean_one(scores: np.ndarray) -> np.ndarray:
    """Scores with mean 1, the scale of the final scores.

    The model's own normalisers come from the whole row sample.
    """
    return divided(scores, mean_score(scores))
