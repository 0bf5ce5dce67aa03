"""Before the last sweep: components are trained, for ``n_estimators="auto"`` until the ranking of a few rows has settled.

Component ``i`` is the same however many there are: with one round and a given trust, ``"auto"`` and the paper train the first of one sequence, each as many as it takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.all_columns import AllColumnsScores
from odefs.ensemble.batch_engine import BatchEngine
from odefs.ensemble.component import SampledIndices, SampledRows, TrainingRecord, draw_component, train_components
from odefs.ensemble.engine import Engine
from odefs.ensemble.held_out import gain_on_unseen
from odefs.ensemble.known_outliers import KnownCases
from odefs.ensemble.model import Component
from odefs.ensemble.pilot import PilotSample, normalise_to_mean_one
from odefs.ensemble.plan import Plan, Seeds
from odefs.ensemble.stopping import FIRST_COMPONENTS, MIN_RANK_CORRELATION, StoppingRule, batches, rank_agreement
from odefs.ensemble.trust import Trust, contrast_gain, measured_trust, tail_gain
from odefs.scaling import Scaling
from odefs.selection.candidates import find_candidates

TrainedComponents = tuple[Component, TrainingRecord]

FIRST_ROUND = 8
"""Components of a round that only names candidates for the next."""

BATCH_BYTES = 4 * 2**20
"""What the linearised rows and pairs of components that one thread trains side by side may take.

Measured: four to nine of 50 to 100 columns save a tenth to a third of the time of one by one. Once they leave the cache they lose it again, twelve of 500 columns cost a fifth more; of
1,600 columns one has enough to do by itself.
"""


@dataclass(frozen=True, eq=False)
class ComponentTrainer:
    """Trains components on the few rows they draw: all that is needed of the sweeps before."""

    engine: Engine
    detector: Detector
    plan: Plan
    scaling: Scaling
    candidates: np.ndarray
    full_references: tuple[np.ndarray, ...]
    """Rows that the members on all columns refer to; the first member's may be shared by the components."""
    noise: np.ndarray
    """Columns that look like pure noise: what is learned is not measured by them."""
    seeds: Seeds
    known: KnownCases = field(default_factory=KnownCases)
    held_out: tuple[np.ndarray, ...] = ()
    """Known outliers that components must not see, by turns."""

    def draw(self, index: int, rng: np.random.Generator) -> SampledIndices:
        candidates, known, references = self.candidates, self.known.outliers, self.full_references[0]
        if self.held_out:
            unseen = self.held_out[index % len(self.held_out)]
            candidates, known = np.setdiff1d(candidates, unseen), np.setdiff1d(known, unseen)
        return draw_component(self.plan, self.detector, self.engine.n_rows, candidates, references, rng, known)

    def prefetch(self, limit: int, start: int) -> int:
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
        self.engine.prefetch("components", np.concatenate(rows))
        return index

    def train_all(self, limit: int) -> list[TrainedComponents]:
        found: list[TrainedComponents] = []
        while len(found) < limit:
            stop = self.prefetch(limit, len(found))
            found += self.many(range(len(found), stop))
        return found

    def many(self, indices: Sequence[int]) -> list[TrainedComponents]:
        """Components of the given numbers, on the device where the engine has one."""
        if isinstance(self.engine, BatchEngine):
            return self.engine.train(self, indices)
        return self.in_batches(indices)

    def in_batches(self, indices: Sequence[int]) -> list[TrainedComponents]:
        """Components of the given numbers, side by side in batches, which have no bearing on the result."""
        n_threads = self.engine.n_threads
        rounds = max(1, -(-len(indices) // (n_threads * self._at_once)))
        size = -(-len(indices) // (n_threads * rounds))
        parts = [indices[start : start + size] for start in range(0, len(indices), size)]
        return [one for part in self.engine.map(self._batch, parts) for one in part]

    def _batch(self, indices: Sequence[int]) -> list[TrainedComponents]:
        return train_components(self.plan, self.detector, [self._drawn(index) for index in indices])

    def _drawn(self, index: int) -> SampledRows:
        rng = self.seeds.component(index)
        draw = self.draw(index, rng)
        outliers, unlabeled, references = (
            self.engine.take(rows, self.scaling) for rows in (draw.outliers, draw.unlabeled, draw.references)
        )
        return SampledRows(outliers, unlabeled, references, rng)

    @property
    def _at_once(self) -> int:
        """How many components are trained side by side on one thread."""
        n_outliers = min(self.plan.outlier_examples(self.engine.n_rows), self.candidates.size)
        n_unlabeled = self.plan.unlabeled_examples(self.engine.n_rows)
        cells = (n_outliers + n_unlabeled) * self.engine.n_columns + n_outliers * n_unlabeled
        return max(1, BATCH_BYTES // (2 * 8 * cells))


def train_ensemble(
    train: ComponentTrainer, trial: PilotSample | None, view: AllColumnsScores | None, n_candidates: int
) -> tuple[list[TrainedComponents], StoppingRule, Trust]:
    """All components that were asked for, or as many as it takes, and how far they are trusted.

    ``n_candidates`` is the number of candidates among all rows.
    """
    engine, plan = train.engine, train.plan
    limit = plan.components(engine.n_rows, n_candidates)
    paper = plan.paper_components(engine.n_rows, n_candidates)
    if trial is None or view is None:
        trained = train.train_all(limit)
        assert plan.trust is not None
        return trained, StoppingRule(_reason(plan), limit, paper), Trust(plan.trust)
    known_gain = None if plan.trust is not None else gain_on_unseen(train, trial, view)
    for index in range(1, plan.n_rounds):
        few = replace(train, seeds=train.seeds.for_round(index)).train_all(FIRST_ROUND)
        learned = trial.scores([component for component, _ in few])
        trust = _trust(train, trial, view, few, learned[:, trial.few], known_gain)
        if trust.is_hopeless and plan.n_estimators == "auto":
            return few, StoppingRule("not trusted", len(few), paper), trust
        train = replace(train, candidates=_next_candidates(train, trial, view, learned))
    if plan.n_estimators == "auto":
        return _train_until_settled(train, trial, view, limit, paper, known_gain)
    trained = train.train_all(limit)
    few_scores = trial.few_scores([component for component, _ in trained[:FIRST_COMPONENTS]])
    return (
        trained,
        StoppingRule(_reason(plan), limit, paper),
        _trust(train, trial, view, trained, few_scores, known_gain),
    )


def _reason(plan: Plan) -> str:
    return "paper" if plan.n_estimators == "paper" else "given"


def _next_candidates(
    train: ComponentTrainer, trial: PilotSample, view: AllColumnsScores, learned: np.ndarray
) -> np.ndarray:
    """Trial rows that stand out in the full space and on the columns that a few components have learned from the present candidates."""
    scores = (learned.mean(axis=0) + view.scores) / 2
    found = find_candidates(scores, train.plan.candidate_threshold, train.known.never(trial.numbers))
    return train.known.joined(trial.numbers[found.rows])


def _trust(
    train: ComponentTrainer,
    trial: PilotSample,
    view: AllColumnsScores,
    trained: list[TrainedComponents],
    scores: np.ndarray,
    known_gain: float | None,
) -> Trust:
    """What was given, or what the first components are worth on the few trial rows, to which they have given these ``scores``, and known outliers speak for."""
    if train.plan.trust is not None:
        return Trust(train.plan.trust)
    assert view.stability is not None
    # The subsets are judged as such: weights would raise the contrast of any columns.
    subsets = [replace(component, w=None) for component, _ in trained[:FIRST_COMPONENTS]]
    chance = train.engine.map(lambda i: _by_chance(train, subsets[i].columns.size, i), range(len(subsets)))
    gain = contrast_gain(trial.few_scores(subsets), trial.few_scores(chance))
    tail = tail_gain(scores.mean(axis=0), view.scores[trial.few])
    return measured_trust(gain, view.stability, tail, known_gain)


def _by_chance(train: ComponentTrainer, n_columns: int, index: int) -> Component:
    """A component on as many columns, drawn at random, with references of the full space."""
    rng = train.seeds.chance(index)
    known = np.delete(np.arange(train.engine.n_columns), train.noise)
    columns = np.sort(rng.choice(known, size=min(n_columns, known.size), replace=False))
    rows = train.full_references[index % len(train.full_references)]
    references = train.engine.take(rows, train.scaling)[:, columns]
    state = train.detector.prepare(np.ascontiguousarray(references), rng)
    return Component(columns, None, state, normaliser=1.0, weight=1.0, loss=0.0)


def _train_until_settled(
    train: ComponentTrainer,
    trial: PilotSample,
    view: AllColumnsScores,
    limit: int,
    paper: int,
    known_gain: float | None,
) -> tuple[list[TrainedComponents], StoppingRule, Trust]:
    bare = normalise_to_mean_one(view.scores[trial.few])
    found: list[TrainedComponents] = []
    scores: list[np.ndarray] = []
    agreement: list[tuple[int, float]] = []
    trust = Trust(0.0)
    foreseen = 0
    for batch in batches(limit):
        while len(found) < batch.stop:
            if len(found) >= foreseen:
                foreseen = train.prefetch(limit, len(found))
            trained = train.many(range(len(found), min(batch.stop, foreseen)))
            found += trained
            scores += list(trial.few_scores([component for component, _ in trained]))
        if batch.start == 0:
            trust = _trust(train, trial, view, found, np.stack(scores), known_gain)
            if train.plan.trust is None and trust.share == 0:
                return found, StoppingRule("not trusted", len(found), paper), trust
        losses = np.array([component.loss for component, _ in found])
        agreement.append((len(found), rank_agreement(np.stack(scores), losses, trust.share, bare)))
        if agreement[-1][1] >= MIN_RANK_CORRELATION:
            break
    reason = "settled" if agreement[-1][1] >= MIN_RANK_CORRELATION else "limit"
    return found, StoppingRule(reason, limit, paper, tuple(agreement)), trust
