"""Between sweeps 2 and 3: components are trained, for ``n_estimators="auto"`` until the ranking of a few rows has settled.

Component ``i`` is the same however many there are, so the ones that are trained are the first of the paper's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from odefs._ops.blocks import block_rows, row_blocks
from odefs.detectors.protocol import Detector
from odefs.engines.batched import BatchEngine
from odefs.engines.protocol import Engine
from odefs.ensemble.combine import divided, mean_score, raw_scores
from odefs.ensemble.component import Draw, Drawn, Training, draw_component, train_components
from odefs.ensemble.model import Component
from odefs.ensemble.plan import Plan, Seeds, sample_rows
from odefs.ensemble.settling import ENOUGH, FIRST, SAMPLE_ROWS, Settling, batches, rank_agreement
from odefs.scaling import Scaling

Trained = tuple[Component, Training]

BATCH_BYTES = 4 * 2**20
"""What the linearised rows and pairs of components that one thread trains side by side may take.

Measured: four to nine of 50 to 100 columns save a tenth to a third of the time of one by one. Once they leave the cache they lose it again, twelve of 500 columns cost a fifth more; of
1,600 columns one has enough to do by itself.
"""


@dataclass(frozen=True, eq=False)
class Trainer:
    """Trains components on the few rows they draw: all that is needed of the sweeps before."""

    engine: Engine
    detector: Detector
    plan: Plan
    scaling: Scaling
    candidates: np.ndarray
    shared_references: np.ndarray
    seeds: Seeds

    def draw(self, index: int, rng: np.random.Generator) -> Draw:
        return draw_component(
            self.plan, self.detector, self.engine.n_rows, self.candidates, self.shared_references, rng
        )

    def foresee(self, limit: int, start: int) -> int:
        """Name the rows of the components from ``start`` on, as many as may be held; the number of the first that is left."""
        room = self.engine.held_rows
        if room is None:
            return limit
        rows: list[np.ndarray] = []
        index, n_rows = start, 0
        while index < limit and (index == start or n_rows < room):
            draw = self.draw(index, self.seeds.component(index))
            rows += [draw.outliers, draw.unlabeled, draw.references]
            n_rows += sum(part.size for part in rows[-3:])
            index += 1
        self.engine.foresee("components", np.concatenate(rows))
        return index

    def train_all(self, limit: int) -> list[Trained]:
        found: list[Trained] = []
        while len(found) < limit:
            stop = self.foresee(limit, len(found))
            found += self.many(range(len(found), stop))
        return found

    def many(self, indices: Sequence[int]) -> list[Trained]:
        """Components of the given numbers, on the device where the engine has one."""
        if isinstance(self.engine, BatchEngine):
            return self.engine.train(self, indices)
        return self.in_batches(indices)

    def in_batches(self, indices: Sequence[int]) -> list[Trained]:
        """Components of the given numbers, side by side in batches, which have no bearing on the result."""
        n_threads = self.engine.n_threads
        rounds = max(1, -(-len(indices) // (n_threads * self._at_once)))
        size = -(-len(indices) // (n_threads * rounds))
        parts = [indices[start : start + size] for start in range(0, len(indices), size)]
        return [one for part in self.engine.map(self._batch, parts) for one in part]

    def _batch(self, indices: Sequence[int]) -> list[Trained]:
        return train_components(self.plan, self.detector, [self._drawn(index) for index in indices])

    def _drawn(self, index: int) -> Drawn:
        rng = self.seeds.component(index)
        draw = self.draw(index, rng)
        outliers, unlabeled, references = (
            self.engine.take(rows, self.scaling) for rows in (draw.outliers, draw.unlabeled, draw.references)
        )
        return Drawn(outliers, unlabeled, references, rng)

    @property
    def _at_once(self) -> int:
        """How many components are trained side by side on one thread."""
        n_outliers = min(self.plan.outlier_examples(self.engine.n_rows), self.candidates.size)
        n_unlabeled = self.plan.unlabeled_examples(self.engine.n_rows)
        cells = (n_outliers + n_unlabeled) * self.engine.n_columns + n_outliers * n_unlabeled
        return max(1, BATCH_BYTES // (2 * 8 * cells))


def train_ensemble(
    train: Trainer, bare_scores: np.ndarray, row_sample: np.ndarray | None
) -> tuple[list[Trained], Settling]:
    """All components that were asked for, or as many as it takes."""
    engine, plan = train.engine, train.plan
    limit = plan.components(engine.n_rows, train.candidates.size)
    paper = plan.paper_components(engine.n_rows, train.candidates.size)
    if plan.n_estimators != "auto":
        reason = "paper" if plan.n_estimators == "paper" else "given"
        return train.train_all(limit), Settling(reason, limit, paper)
    if limit <= FIRST:
        return train.train_all(limit), Settling("limit", limit, paper)
    return _train_until_settled(train, bare_scores, row_sample, limit, paper)


def _train_until_settled(
    train: Trainer, bare_scores: np.ndarray, row_sample: np.ndarray | None, limit: int, paper: int
) -> tuple[list[Trained], Settling]:
    engine, trust = train.engine, train.plan.trust
    rows = settling_rows(engine.n_rows, row_sample, train.seeds)
    X = engine.take(rows, train.scaling)
    bare = _of_mean_one(bare_scores[rows])

    def score(trained: Trained) -> np.ndarray:
        return _of_mean_one(_scores(trained[0], train.detector, X))

    found: list[Trained] = []
    scores: list[np.ndarray] = []
    agreement: list[tuple[int, float]] = []
    foreseen = 0
    for batch in batches(limit):
        while len(found) < batch.stop:
            if len(found) >= foreseen:
                foreseen = train.foresee(limit, len(found))
            trained = train.many(range(len(found), min(batch.stop, foreseen)))
            found += trained
            scores += engine.map(score, trained)
        losses = np.array([component.loss for component, _ in found])
        agreement.append((len(found), rank_agreement(np.stack(scores), losses, trust, bare)))
        if agreement[-1][1] >= ENOUGH:
            break
    reason = "settled" if agreement[-1][1] >= ENOUGH else "limit"
    return found, Settling(reason, limit, paper, tuple(agreement))


def settling_rows(n_rows: int, row_sample: np.ndarray | None, seeds: Seeds) -> np.ndarray:
    """Numbers of the rows that are ranked: a seeded sample of the rows that normalisers come from."""
    n_known = n_rows if row_sample is None else row_sample.size
    chosen = sample_rows(n_known, SAMPLE_ROWS, seeds.settling())
    if chosen is None:
        chosen = np.arange(n_known)
    return chosen if row_sample is None else row_sample[chosen]


def _scores(component: Component, detector: Detector, X: np.ndarray) -> np.ndarray:
    height = block_rows(detector.bytes_per_row(component.columns.size))
    return np.concatenate([raw_scores(component, detector, X[rows]) for rows in row_blocks(X.shape[0], height)])


def _of_mean_one(scores: np.ndarray) -> np.ndarray:
    """On the scale of the final scores; the model's own normalisers come from the whole row sample."""
    return divided(scores, mean_score(scores))
