"""Which components are trained, how many, and how far they are trusted (lines 3 to 13).

The paper trains a fixed number of components in one round. ``ODEFS()`` trains a few, replaces the
candidates by rows that also stand out on the columns these selected, and then trains components
until the ranking of some pilot rows is stable. Known outliers show whether that helps.

Component ``i`` is the same however many there are: with one round and a given trust, ``"auto"`` and
the paper train the first components of one sequence.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from odefs.ensemble.component import unweighted_component
from odefs.ensemble.discrete_weights import discrete_weights
from odefs.ensemble.held_out import gain_on_unseen, tail_on_unseen
from odefs.ensemble.isolated_values import isolated_columns
from odefs.ensemble.model import Component
from odefs.ensemble.next_round import next_candidates
from odefs.ensemble.pilot import AllColumnsScores, PilotSample, normalise_to_mean_one
from odefs.ensemble.stopping import (
    FIRST_COMPONENTS,
    MIN_RANK_CORRELATION,
    StoppingRule,
    batches,
    rank_agreement,
)
from odefs.ensemble.trainer import ComponentTrainer, TrainedComponent, components_of
from odefs.ensemble.trust import Trust, contrast_gain, measured_trust, tail_gain

COMPONENTS_OF_FIRST_ROUND = 8
"""Components of a round that only finds candidates for the next.

Twice as many change nothing (research log, "More members, more components").
"""


@dataclass(frozen=True, eq=False)
class TrainedEnsemble:
    """The trained components, why training stopped, and their share in the score."""

    components: list[TrainedComponent]
    stopping: StoppingRule
    trust: Trust


def train_ensemble(
    trainer: ComponentTrainer,
    pilot: PilotSample | None,
    view: AllColumnsScores | None,
    n_candidates: int,
) -> TrainedEnsemble:
    """Train the number of components that was given, or as many as it takes.

    ``view`` holds the scores of the pilot rows on all columns, ``n_candidates`` is the number of
    candidates among all rows.
    """
    plan, n_rows = trainer.plan, trainer.engine.n_rows
    limit = plan.components(n_rows, n_candidates)
    paper = plan.paper_components(n_rows, n_candidates)
    given = StoppingRule("paper" if plan.n_estimators == "paper" else "given", limit, paper)
    if pilot is None or view is None:
        assert plan.trust is not None
        return TrainedEnsemble(trainer.train_all(limit), given, Trust(plan.trust))
    # From the candidates of the first round, before these are replaced.
    first = trainer
    known_gain = gain_on_unseen(first, pilot, view) if plan.trust is None else None
    for index in range(1, plan.n_rounds):
        few = replace(trainer, seeds=trainer.seeds.for_round(index))
        trained = few.train_all(COMPONENTS_OF_FIRST_ROUND)
        scores = pilot.scores(components_of(trained))
        trust = _trust(trainer, pilot, view, trained, scores[:, pilot.few], known_gain)
        # A given number of components is trained even if they get no share in the score.
        if trust.is_hopeless and plan.n_estimators == "auto":
            return _untrusted(trained, paper, trust)
        trainer = replace(trainer, candidates=next_candidates(trainer, pilot, view, scores))

    def confirmed(trust: Trust) -> Trust:
        if not trust.rests_on_tail:
            return trust
        return trust.confirmed_by(tail_on_unseen(first, pilot, view))

    if plan.n_estimators == "auto":
        return _train_until_stable(trainer, pilot, view, limit, paper, known_gain, confirmed)
    trained = trainer.train_all(limit)
    scores = pilot.few_scores(components_of(trained[:FIRST_COMPONENTS]))
    trust = confirmed(_trust(trainer, pilot, view, trained, scores, known_gain))
    return TrainedEnsemble(trained, given, trust)


def _untrusted(trained: list[TrainedComponent], paper: int, trust: Trust) -> TrainedEnsemble:
    """Components without a share in the score: more of them would change nothing."""
    return TrainedEnsemble(trained, StoppingRule("not trusted", len(trained), paper), trust)


def _train_until_stable(
    trainer: ComponentTrainer,
    pilot: PilotSample,
    view: AllColumnsScores,
    limit: int,
    paper: int,
    known_gain: float | None,
    confirmed: Callable[[Trust], Trust],
) -> TrainedEnsemble:
    """Train batches of components until two such ensembles would rank the pilot rows alike."""
    bare = normalise_to_mean_one(view.scores[pilot.few])
    found: list[TrainedComponent] = []
    scores: list[np.ndarray] = []
    agreement: list[tuple[int, float]] = []
    trust = Trust(0.0)
    n_prefetched = 0
    for batch in batches(limit):
        while len(found) < batch.stop:
            if len(found) >= n_prefetched:
                # Up to the limit, although training may stop before: rows of later components cost
                # no further pass over a table that is not in memory.
                n_prefetched = trainer.prefetch(limit, len(found))
            numbers = range(len(found), min(batch.stop, n_prefetched))
            trained = trainer.engine.train(trainer, numbers)
            found += trained
            scores += list(pilot.few_scores(components_of(trained), keep=True))
        # Trust is measured once: the later batches only make the ranking stable.
        if batch.start == 0:
            trust = confirmed(_trust(trainer, pilot, view, found, np.stack(scores), known_gain))
            if trust.unseen_tail is not None:
                # The components of the halves took the place of the rows that were announced.
                n_prefetched = len(found)
            if trainer.plan.trust is None and trust.share == 0:
                return _untrusted(found, paper, trust)
        losses = np.array([component.loss for component in components_of(found)])
        correlation = rank_agreement(np.stack(scores), losses, trust.share, bare)
        agreement.append((len(found), correlation))
        if correlation >= MIN_RANK_CORRELATION:
            break
    reason = "settled" if agreement[-1][1] >= MIN_RANK_CORRELATION else "limit"
    return TrainedEnsemble(found, StoppingRule(reason, limit, paper, tuple(agreement)), trust)


def _trust(
    trainer: ComponentTrainer,
    pilot: PilotSample,
    view: AllColumnsScores,
    trained: list[TrainedComponent],
    scores: np.ndarray,
    known_gain: float | None,
) -> Trust:
    """The trust that was given, or what the first components gain on a few pilot rows.

    ``scores`` are those of the few rows, ``known_gain`` the gain on known outliers.
    """
    if trainer.plan.trust is not None:
        return Trust(trainer.plan.trust)
    assert view.stability is not None
    # The subsets are compared as such: weights would raise the contrast of any columns.
    subsets = [
        replace(component, w=None) for component in components_of(trained[:FIRST_COMPONENTS])
    ]

    def at_random(index: int) -> Component:
        return _random_subset(trainer, subsets[index].columns.size, index)

    chance = trainer.engine.map(at_random, range(len(subsets)))
    gain = contrast_gain(pilot.few_scores(subsets), pilot.few_scores(chance))
    tail = tail_gain(scores.mean(axis=0), view.scores[pilot.few])
    trust = measured_trust(gain, view.stability, tail, known_gain)
    if trust.share == 0:
        return trust
    learned = components_of(trained[:FIRST_COMPONENTS])
    weights = discrete_weights(learned, pilot.X)
    hidden = _hidden_columns(trainer, pilot, learned)
    return measured_trust(gain, view.stability, tail, known_gain, weights=weights, hidden=hidden)


def _hidden_columns(trainer: ComponentTrainer, pilot: PilotSample, learned: list[Component]) -> int:
    """Number of columns with isolated values that most of the learned subsets leave out."""
    columns = isolated_columns(trainer.ranges, trainer.scaling, pilot.X)
    uses = np.array([np.isin(columns, component.columns) for component in learned])
    return int((2 * uses.sum(axis=0) < len(learned)).sum())


def _random_subset(trainer: ComponentTrainer, n_columns: int, index: int) -> Component:
    """A component on randomly drawn columns, with references of a member on all columns."""
    rng = trainer.seeds.chance(index)
    # Noise columns are scaled down: they would have a high contrast and hide what was learned.
    # Columns without two values have none, and any subset would seem better.
    useless = np.union1d(trainer.noise, trainer.ranges.constant)
    every = np.arange(trainer.engine.n_columns)
    allowed = np.delete(every, useless) if useless.size < every.size else every
    columns = np.sort(rng.choice(allowed, size=min(n_columns, allowed.size), replace=False))
    # References of a member, not new ones: these rows have been announced, and a draw of its own
    # would cost a pass over a table that is not in memory.
    rows = trainer.full_references[index % len(trainer.full_references)]
    references = trainer.engine.take(rows, trainer.scaling)
    return unweighted_component(trainer.detector, references, columns, rng)
