"""Gains in tail and rank of learned subsets on rows that they have not learned from.

Components choose the columns on which their examples stand out. In a table of few rows and many
columns there are such columns by chance, so that only other rows show whether they mean anything.
"""

from dataclasses import replace

import numpy as np

from odefs.ensemble.component import KnownCases
from odefs.ensemble.next_round import next_candidates
from odefs.ensemble.pilot import AllColumnsScores, PilotSample
from odefs.ensemble.trainer import ComponentTrainer, components_of
from odefs.ensemble.trust import tail_gain
from odefs.kernels.duplicate_rows import row_hashes

FEWEST_KNOWN = 2
COMPONENTS = 8
"""Half of the components for each half of the known outliers."""


def tail_on_unseen(trainer: ComponentTrainer, pilot: PilotSample, view: AllColumnsScores) -> float:
    """Tail gain of rows on columns that were learned from the other half of the rows.

    Each half of the pilot rows has candidates of its own, in every round of learning: candidates of
    a later round are chosen by the columns of the round before, and would carry over what these
    have learned from the rows that are tested. ``trainer`` has the candidates of the first round.
    """
    half = trainer.seeds.halves().permutation(pilot.numbers.size) % 2
    # Equal rows belong to one half: a row would otherwise be tested on what its copy has shown.
    _, first, group = np.unique(row_hashes(pilot.X), return_index=True, return_inverse=True)
    half = half[first[group]]
    scores = np.empty(pilot.few.size)
    for fold in range(2):
        own = np.flatnonzero(half == fold)
        candidates = np.intersect1d(trainer.candidates, pilot.numbers[own])
        if not candidates.size:
            return 0.0
        learner = replace(
            trainer,
            candidates=candidates,
            seeds=trainer.seeds.of_half(fold),
            # Known outliers would be examples of both halves.
            known=KnownCases(normal=trainer.known.normal),
        )
        for index in range(1, trainer.plan.n_rounds):
            few = replace(learner, seeds=learner.seeds.for_round(index))
            learned = pilot.scores(components_of(few.train_all(COMPONENTS)))
            learner = replace(
                learner, candidates=next_candidates(learner, pilot, view, learned, own)
            )
        found = pilot.few_scores(components_of(learner.train_all(COMPONENTS))).mean(axis=0)
        unseen = half[pilot.few] != fold
        scores[unseen] = found[unseen]
    return tail_gain(scores, view.scores[pilot.few])


def gain_on_unseen(
    trainer: ComponentTrainer, pilot: PilotSample, view: AllColumnsScores
) -> float | None:
    """Gain in rank of held-out known outliers compared with scores on all columns.

    Components learn from one half of the known outliers and are tested on the other. A rank is the
    share of the pilot rows that score below. The gain is the mean less two standard errors: wrong
    cases gain as often as they lose, and a few of them may gain much by chance. ``None`` with too
    few known outliers.
    """
    known = trainer.known.outliers
    if known.size < FEWEST_KNOWN:
        return None
    # With an odd number, one outlier is seen by all, so that all have equally many examples.
    even = known[: known.size - known.size % 2]
    halves = even[::2], even[1::2]
    trainer.engine.prefetch("known", even)
    tested = replace(trainer, held_out=halves, seeds=trainer.seeds.cross_fit()).train_all(
        COMPONENTS
    )
    gains = []
    for fold, unseen in enumerate(halves):
        X = np.concatenate([pilot.X, trainer.engine.take(unseen, trainer.scaling)])
        # The copy starts without kept scores, which are those of other rows.
        rows, n = replace(pilot, X=X), pilot.numbers.size
        # Components of this parity have not seen this half (ComponentTrainer.held_out).
        learned = rows.scores([component for component, _ in tested[fold::2]]).mean(axis=0)
        full = rows.scores(view.members).mean(axis=0)
        gains.append(_places(learned[n:], learned[:n]) - _places(full[n:], full[:n]))
    found = np.concatenate(gains)
    # At least two outliers are tested, so that the standard error exists.
    return float(found.mean() - 2 * found.std(ddof=1) / np.sqrt(found.size))


def _places(scores: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The share of scores that lie below, plus half of those that are equal."""
    order = np.sort(among)
    return (np.searchsorted(order, scores, "left") + np.searchsorted(order, scores, "right")) / (
        2 * order.size
    )
