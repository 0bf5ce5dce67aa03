"""Ensemble components: the rows one draws, the weights it learns and the columns it selects.

These are lines 4 to 12 of Algorithm 1. Several components learn in one batch, and each gets the
same bits whichever others are in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.model import Component
from odefs.ensemble.plan import Plan
from odefs.selection.alternation import LearnedWeights, alternate, select_columns
from odefs.selection.losses import LOSSES
from odefs.selection.objective import RankingObjective
from odefs.selection.pacing import pacing_for
from odefs.selection.solvers import SOLVERS


def _none() -> np.ndarray:
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class KnownCases:
    """Known outliers, which every component learns from, and known normal rows, never candidates.

    Row numbers are in ascending order; no row is in both.
    """

    outliers: np.ndarray = field(default_factory=_none)
    normal: np.ndarray = field(default_factory=_none)

    def joined(self, candidates: np.ndarray) -> np.ndarray:
        """The candidates and the known outliers, ascending."""
        return np.union1d(candidates, self.outliers) if self.outliers.size else candidates

    def never(self, numbers: np.ndarray) -> np.ndarray:
        """Places of the known normal rows among the given row numbers."""
        return np.flatnonzero(np.isin(numbers, self.normal)) if self.normal.size else _none()


def draw_outliers(
    candidates: np.ndarray, known: np.ndarray, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Outlier examples: the known ones (a sample if too many), then candidates at random."""
    if not known.size:
        return rng.choice(candidates, size=size, replace=False)
    if known.size >= size:
        return rng.choice(known, size=size, replace=False)
    # Candidates include the known outliers (KnownCases.joined), so that at least as many others are
    # left as are drawn.
    others = np.setdiff1d(candidates, known, assume_unique=True)
    return np.concatenate([known, rng.choice(others, size=size - known.size, replace=False)])


@dataclass(frozen=True, eq=False)
class SampledIndices:
    """Row numbers that one component needs: outlier examples, unlabelled examples, references."""

    outliers: np.ndarray
    unlabeled: np.ndarray
    references: np.ndarray


def draw_component(
    plan: Plan,
    detector: Detector,
    n_rows: int,
    candidates: np.ndarray,
    shared_references: np.ndarray,
    rng: np.random.Generator,
    known: np.ndarray,
) -> SampledIndices:
    """Draw ``m*`` candidates, the ``known`` ones first, and ``m`` rows of all.

    The component also draws its own references unless they are shared.
    """
    size = min(plan.outlier_examples(n_rows), candidates.size)
    # The order of these draws is part of the result. Engines that prefetch rows draw twice from the
    # same seed, once for the row numbers and once in training, and must get the same rows.
    outliers = draw_outliers(candidates, known, size, rng)
    # From all rows, candidates included: Eq. 5 of the paper replaces the inliers, which are
    # unknown, by all rows.
    unlabeled = rng.choice(n_rows, size=plan.unlabeled_examples(n_rows), replace=False)
    references = detector.sample(n_rows, rng) if plan.fresh_references else shared_references
    return SampledIndices(outliers, unlabeled, references)


@dataclass(frozen=True, eq=False)
class SampledRows:
    """The scaled rows that one component has drawn, and the generator that drew them."""

    outliers: np.ndarray
    unlabeled: np.ndarray
    references: np.ndarray
    rng: np.random.Generator


def train_components(
    plan: Plan, detector: Detector, drawn: Sequence[SampledRows]
) -> list[tuple[Component, LearnedWeights]]:
    """Learn weights on the drawn rows, and prepare the detector on the selected columns."""
    learned = learn_weights(
        plan,
        detector,
        # Components of a batch have equally many outlier examples: their arrays are stacked.
        drawn[0].outliers.shape[0],
        [np.concatenate([one.outliers, one.unlabeled]) for one in drawn],
        [detector.prepare(one.references, one.rng) for one in drawn],
    )

    def prepared(drawn: SampledRows, learned: LearnedWeights) -> Component:
        return prepare_component(
            plan, detector, learned, lambda columns: drawn.references[:, columns], drawn.rng
        )

    return [(prepared(a, b), b) for a, b in zip(drawn, learned, strict=True)]


def prepare_component(
    plan: Plan,
    detector: Detector,
    learned: LearnedWeights,
    references: Callable[[np.ndarray], np.ndarray],
    rng: np.random.Generator,
) -> Component:
    """The component for learned weights.

    ``references`` returns its references on the columns that were selected.
    """
    columns = select_columns(learned.w, plan.min_weight)
    # With w = 0 nothing was learned: all columns are selected, with equal weights.
    odds = learned.w[columns] if learned.w.any() else None
    # Selecting columns by index returns Fortran order, in which NumPy adds up in another order and
    # gets other last bits.
    state = detector.prepare(np.ascontiguousarray(references(columns)), rng, odds)
    w = None
    if plan.weight_power and odds is not None and not detector.chooses_columns:
        # Only ratios of weights matter, since scores are divided by their mean.
        w = (odds / odds.max()) ** plan.weight_power
    return Component(columns, w, state, normaliser=1.0, weight=1.0, loss=learned.loss)


def unweighted_component(
    detector: Detector, references: np.ndarray, columns: np.ndarray, rng: np.random.Generator
) -> Component:
    """The detector on given columns, all of equal weight, without learning."""
    state = detector.prepare(np.ascontiguousarray(references[:, columns]), rng)
    return Component(columns, None, state, normaliser=1.0, weight=1.0, loss=0.0)


def learn_weights(
    plan: Plan,
    detector: Detector,
    n_outliers: int,
    rows: Sequence[np.ndarray],
    states: Sequence[object],
) -> list[LearnedWeights]:
    """Run the alternation on the drawn rows of each component, outlier examples first.

    Each component has its own prepared detector.
    """
    # linearise reads this variable at each call, so that later calls use the scales computed below.
    # They are set once per component: the trace compares values of one objective.
    scales = np.ones(len(rows))
    shape = rows[0].shape

    def linearise(who: Sequence[int] | np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        stack = np.empty((len(who), *shape))
        # The only loop over components, because detectors need not know batches. A call takes
        # milliseconds, so that the loop itself costs nothing.
        for k, i in enumerate(who):
            G = detector.linearise(rows[i], states[i], None if weights is None else weights[k])
            np.multiply(G, scales[i], out=stack[k])
            # A row without observed cells has G = NaN. With 0 it has no influence on any weight.
            if np.isnan(stack[k].sum()):
                np.nan_to_num(stack[k], copy=False, nan=0.0)
        return stack

    G = linearise(range(len(rows)), None)
    # Scores grow with the number of columns and would saturate the sigmoid. The paper does not
    # standardise; ODEFS.paper() does not either.
    if plan.standardize_scores:
        spread = G.sum(axis=2).std(axis=1)
        scales = np.where(spread > 0, 1.0 / np.where(spread > 0, spread, 1.0), 1.0)
        G *= scales[:, None, None]
    return alternate(
        linearise,
        RankingObjective(G, n_outliers, LOSSES[plan.loss], plan.l1),
        SOLVERS[plan.solver],
        pacing_for(plan.self_paced),
        plan.tol,
        plan.max_steps,
    )
