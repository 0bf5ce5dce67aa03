"""One component: what it draws, how it learns weights and a subset, and what is kept of it (lines 4 to 12 of Algorithm 1)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from odefs.detectors.protocol import Detector
from odefs.ensemble.model import Component
from odefs.ensemble.plan import Plan
from odefs.selection.alternation import Learned, alternate
from odefs.selection.losses import LOSSES
from odefs.selection.pacing import pacing_for
from odefs.selection.solvers import SOLVERS
from odefs.selection.subset import select_columns


@dataclass(frozen=True, eq=False)
class Draw:
    """Row numbers that one component needs: outlier examples, unlabelled examples, references."""

    outliers: np.ndarray
    unlabeled: np.ndarray
    references: np.ndarray


@dataclass(frozen=True, eq=False)
class Training:
    """The part of a trained component that is not needed for scoring: kept for ``fit_info_`` and inspection."""

    w: np.ndarray
    learned: Learned


def draw_component(
    plan: Plan,
    detector: Detector,
    n_rows: int,
    candidates: np.ndarray,
    shared_references: np.ndarray,
    rng: np.random.Generator,
) -> Draw:
    """Draw ``m*`` candidates, ``m`` rows of all, and references of its own unless they are shared."""
    size = min(plan.outlier_examples(n_rows), candidates.size)
    outliers = rng.choice(candidates, size=size, replace=False)
    unlabeled = rng.choice(n_rows, size=plan.unlabeled_examples(n_rows), replace=False)
    references = detector.sample(n_rows, rng) if plan.fresh_references else shared_references
    return Draw(outliers, unlabeled, references)


def train_component(
    plan: Plan,
    detector: Detector,
    outliers: np.ndarray,
    unlabeled: np.ndarray,
    references: np.ndarray,
    rng: np.random.Generator,
) -> tuple[Component, Training]:
    """Learn weights on the drawn (scaled) rows and prepare the detector on the columns that were selected."""
    learned = learn_weights(plan, detector, outliers, unlabeled, detector.prepare(references, rng))
    component = prepare_component(plan, detector, learned, lambda columns: references[:, columns], rng)
    return component, Training(learned.w, learned)


def prepare_component(
    plan: Plan,
    detector: Detector,
    learned: Learned,
    references: Callable[[np.ndarray], np.ndarray],
    rng: np.random.Generator,
) -> Component:
    """The component from what it learned; ``references`` gives its references on the columns that are selected."""
    columns = select_columns(learned.w, plan.min_weight)
    odds = learned.w[columns] if learned.w.any() else None
    state = detector.prepare(np.ascontiguousarray(references(columns)), rng, odds)
    w = odds if plan.weighted_distance and not detector.chooses_columns else None
    return Component(columns, w, state, normaliser=1.0, weight=1.0, loss=learned.loss)


def learn_weights(
    plan: Plan, detector: Detector, outliers: np.ndarray, unlabeled: np.ndarray, state: object
) -> Learned:
    """Run the alternation on the drawn rows."""
    n_outliers = outliers.shape[0]
    rows = np.concatenate([outliers, unlabeled])

    def linearise(w: np.ndarray | None) -> np.ndarray:
        G = detector.linearise(rows, state, w)
        # A row without any observed column says nothing about any column.
        return np.nan_to_num(G, nan=0.0) if np.isnan(G.sum()) else G

    unit_weights = linearise(None)
    scale = 1.0
    if plan.scale_loss:
        spread = float(unit_weights.sum(axis=1).std())
        scale = 1.0 / spread if spread > 0 else 1.0

    def examples(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        G = (unit_weights if (w == 1).all() else linearise(w)) * scale
        return G[:n_outliers], G[n_outliers:]

    return alternate(
        examples,
        rows.shape[1],
        LOSSES[plan.loss],
        plan.l1,
        SOLVERS[plan.solver],
        pacing_for(plan.self_paced),
        plan.tol,
        plan.max_steps,
    )
