"""How ODEFS is fitted: the paper's Algorithm 1, from top to bottom.

- Lines 1 and 2: rows are scored on all columns, and those that stand out become candidates.
- Lines 3 to 13: components learn, from candidates and rows that each draws, which columns rank
  candidates higher (:mod:`odefs.ensemble.train`).
- Line 14: all rows are scored on the columns that were selected, and the scores are combined.

The columns have been scaled before (:mod:`odefs.ensemble.scaled_table`). The paper scores all rows
in line 1, and so does a fit with a given ``trust``. By default a pilot sample of the rows is scored
instead, which makes learning independent of the number of rows; the detector on all columns, which
keeps the share of the score that learned columns do not get, then scores all rows in line 14.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from odefs._progress import stage
from odefs.detectors.base import Detector
from odefs.ensemble.companions import with_companions
from odefs.ensemble.component import KnownCases
from odefs.ensemble.engine import Engine
from odefs.ensemble.model import (
    FLAG_RATE,
    Component,
    Model,
    RowScores,
    component_weights,
    with_normaliser,
)
from odefs.ensemble.pilot import (
    AllColumnsEnsemble,
    AllColumnsScores,
    PilotSample,
    draw_pilot,
    normalise_to_mean_one,
)
from odefs.ensemble.plan import Plan, Seeds, sample_rows
from odefs.ensemble.scaled_table import ScaledTable
from odefs.ensemble.stopping import StoppingRule
from odefs.ensemble.train import train_ensemble
from odefs.ensemble.trainer import ComponentTrainer, TrainedComponent
from odefs.ensemble.trust import Trust
from odefs.selection.alternation import LearnedWeights
from odefs.selection.candidates import Candidates, find_candidates


@dataclass(frozen=True, eq=False)
class FitInputs:
    """What a fit starts from: the rows, the method and its parameters, and what is known."""

    engine: Engine
    detector: Detector
    plan: Plan
    scaled: ScaledTable
    seeds: Seeds
    known: KnownCases
    has_companions: bool = False
    """Whether further detectors join where the table suits them."""


@dataclass(frozen=True, eq=False)
class FitResult:
    """A model, the scores of the training rows, and what the fit found on the way."""

    model: Model
    judged: RowScores
    candidates: Candidates
    training: tuple[LearnedWeights, ...]
    stopping: StoppingRule
    trust: Trust
    learned: tuple[Component, ...]
    """Components on learned subsets; with weight 0 where these are not trusted."""
    n_full_space: int
    """Number of components on all columns."""


def fit_ensemble(inputs: FitInputs) -> FitResult:
    """Algorithm 1 on a scaled table."""
    measures_trust = inputs.plan.trust is None
    first = _look_at_pilot_sample(inputs) if measures_trust else _look_at_all_rows(inputs)
    with stage("learning which columns matter"):
        trained = train_ensemble(
            _trainer(inputs, first.candidates),
            first.pilot,
            first.pilot_scores,
            first.n_candidates,
        )
    share = trained.trust.share
    learned = _with_weights(trained.components, share)
    full = first.members(share)
    # There are no members if share is 1, so that nothing is divided by 0.
    full = [replace(one, weight=(1 - share) / len(full)) for one in full]
    # Components without a share in the score need not score; they are kept for inspection.
    scoring = learned if share > 0 else []
    scoring, full, companions = _add_companions(inputs, first.pilot, scoring, full, share)
    scored, judged = _score_all_rows(inputs, scoring, full, companions, first)
    # Scoring has set normalisers and thresholds. Without a share in the score, components were not
    # scored and keep the normaliser 1.
    learned = scored[: len(scoring)] or learned
    detector, scaling = inputs.detector, inputs.scaled.scaling
    return FitResult(
        # Learned components come first: model files store only how many of the first components
        # are the learned subsets. The others keep the order in which their scores of the training
        # rows were added up: another order would give a row other last bits than in training.
        Model(detector, scaling, (*learned, *scored[len(scoring) :]), inputs.engine.dtype),
        judged,
        first.candidates,
        tuple(weights for _, weights in trained.components),
        trained.stopping,
        trained.trust,
        tuple(learned),
        len(full),
    )


@dataclass(frozen=True, eq=False)
class FirstLook:
    """Lines 1 and 2: what scores on all columns show before anything is learned."""

    candidates: Candidates
    n_candidates: int
    """Candidates among all rows, counted or estimated from the pilot sample."""
    pilot: PilotSample | None
    pilot_scores: AllColumnsScores | None
    members: Callable[[float], list[Component]]
    """Components on all columns, by the share of the score that learned subsets have."""
    bare: np.ndarray | None = None
    """Raw scores of all rows by the only member, where all rows were scored."""


def score_bare(engine: Engine, detector: Detector, scaled: ScaledTable) -> np.ndarray:
    """Line 1: raw scores of all rows by the detector on all columns."""
    with stage("scoring on all columns"):
        return engine.raw_scores(scaled.scaling, detector, [scaled.component])[0]


def _look_at_all_rows(inputs: FitInputs) -> FirstLook:
    """Lines 1 and 2 as the paper has them."""
    scaled, known, rate = inputs.scaled, inputs.known, inputs.plan.candidate_threshold
    bare = score_bare(inputs.engine, inputs.detector, scaled)
    candidates = find_candidates(bare, rate, known.normal)
    candidates = replace(candidates, rows=known.joined(candidates.rows))
    pilot = view = None
    # n_estimators="auto" and further rounds of learning use pilot rows with any trust.
    if inputs.plan.uses_pilot:
        pilot = _draw_pilot(inputs)
        view = AllColumnsScores(normalise_to_mean_one(bare[pilot.numbers]))

    def members(share: float) -> list[Component]:
        return [scaled.component] if share < 1 else []

    return FirstLook(candidates, candidates.rows.size, pilot, view, members, bare)


def _look_at_pilot_sample(inputs: FitInputs) -> FirstLook:
    """Lines 1 and 2 on a sample of the rows, which several members on all columns score."""
    engine, known, rate = inputs.engine, inputs.known, inputs.plan.candidate_threshold
    pilot = _draw_pilot(inputs)

    def member(index: int) -> Component:
        return inputs.scaled.member(index, engine, inputs.detector, inputs.seeds)

    ensemble = AllColumnsEnsemble(pilot, member)
    with stage("scoring on all columns"):
        view = ensemble.view(rate)
    found = find_candidates(view.scores, rate, known.never(pilot.numbers))
    candidates = replace(found, rows=known.joined(pilot.numbers[found.rows]))
    if not candidates.rows.size:
        raise ValueError(
            "Every row of the pilot sample is in known_normal, so there is nothing to learn from: "
            "name fewer rows as normal."
        )
    # The paper's number of components depends on the candidates among all rows, of which only those
    # of the pilot sample are known.
    estimate = round(found.rows.size * engine.n_rows / pilot.numbers.size)

    def members(share: float) -> list[Component]:
        with stage("scoring on all columns"):
            return ensemble.for_share(share)

    return FirstLook(candidates, max(candidates.rows.size, estimate), pilot, view, members)


def _draw_pilot(inputs: FitInputs) -> PilotSample:
    scaling = inputs.scaled.scaling
    return draw_pilot(inputs.engine, inputs.detector, scaling, inputs.plan, inputs.seeds)


def _trainer(inputs: FitInputs, candidates: Candidates) -> ComponentTrainer:
    """Lines 4 to 12 for any number of components."""
    scaled = inputs.scaled
    return ComponentTrainer(
        inputs.engine,
        inputs.detector,
        inputs.plan,
        scaled.scaling,
        candidates.rows,
        scaled.references,
        scaled.noise,
        scaled.ranges,
        inputs.seeds,
        inputs.known,
    )


def _with_weights(trained: Sequence[TrainedComponent], share: float) -> list[Component]:
    """The weights ``u`` of Eq. 11, which add up to the share of learned subsets in the score."""
    weights = component_weights(np.array([component.loss for component, _ in trained]))
    pairs = zip(trained, weights, strict=True)
    return [replace(one, weight=float(share * weight)) for (one, _), weight in pairs]


def _add_companions(
    inputs: FitInputs,
    pilot: PilotSample | None,
    learned: list[Component],
    full: list[Component],
    share: float,
) -> tuple[list[Component], list[Component], list[Component]]:
    """Give a part of the weights to companions."""
    # With share 1 companions would have weight 0: it falls with the trust in subsets.
    if not inputs.has_companions or share == 1:
        return learned, full, []
    if pilot is None:
        pilot = _draw_pilot(inputs)
    with stage("scoring with companions"):
        every, companions = with_companions(pilot, [*learned, *full], share, inputs.scaled.noise)
    return every[: len(learned)], every[len(learned) :], companions


def _score_all_rows(
    inputs: FitInputs,
    learned: list[Component],
    full: list[Component],
    companions: list[Component],
    first: FirstLook,
) -> tuple[list[Component], RowScores]:
    """Line 14: the combined scores, and the components with their normalisers.

    Components are in the order in which their scores were added up, learned ones first.
    """
    engine, plan, scaling = inputs.engine, inputs.plan, inputs.scaled.scaling
    bare, pilot = first.bare, first.pilot
    rows = sample_rows(engine.n_rows, plan.normalization_rows, inputs.seeds.row_sample())
    # Line 1 may have scored all rows on all columns: then only the normaliser is missing.
    unscored = [*learned, *companions] if bare is not None else [*learned, *full, *companions]
    scored: list[Component] = []
    judged = RowScores(engine.per_row(), engine.per_row())
    if unscored:
        with stage("scoring all rows"):
            scored, judged = engine.score_and_normalise(
                inputs.detector,
                scaling,
                unscored,
                rows,
                FLAG_RATE,
                None if pilot is None else pilot.known_scores(),
            )
    if bare is not None:
        for component in full:
            scored.append(
                with_normaliser(component, bare if rows is None else bare[rows], FLAG_RATE)
            )
            judged.add(scored[-1], bare)
    return scored, judged
