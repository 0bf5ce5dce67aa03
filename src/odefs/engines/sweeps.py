"""The three sweeps of a fit, written once for all engines.

1. column statistics, then the references of the bare scores are read;
2. bare scores, hence the candidates; every component then reads the few rows it has drawn and is trained on them;
3. component scores, from which normalisers and training scores follow.

Engines bring blocks in and give reductions out; scores, one number per row, may lie in a file and are worked on a stretch at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from odefs._ops.stretches import fill
from odefs._progress import stage
from odefs.detectors.protocol import Detector
from odefs.engines.batched import BatchEngine
from odefs.engines.full_space import MOST_MEMBERS, FullSpace, enough_members
from odefs.engines.protocol import Engine, Known
from odefs.engines.training import Trainer, train_ensemble
from odefs.engines.trial import Trial, take_trial, trial_rows
from odefs.ensemble.combine import Judged, component_weights, normalised, of_lines, with_normaliser
from odefs.ensemble.component import Training
from odefs.ensemble.known_cases import KnownCases
from odefs.ensemble.model import Component, Model
from odefs.ensemble.plan import Plan, Seeds, baseline_rows, sample_rows
from odefs.ensemble.settling import Settling
from odefs.ensemble.trust import Trust
from odefs.scaling import ColumnRanges, Scaling, by_moments, fit_scaling
from odefs.selection.candidates import Candidates, find_candidates

SCORE_BYTES = 128 * 2**20
"""How much memory raw scores of several components may take before they are combined."""


@dataclass(frozen=True, eq=False)
class Scaled:
    """Sweep 1: how columns are scaled, and the detector on all of them, ready to score."""

    ranges: ColumnRanges
    scaling: Scaling
    references: np.ndarray
    component: Component
    more: tuple[tuple[np.ndarray, Component], ...] = ()
    """References of further members on all columns, and these, for fits that may want them."""


@dataclass(frozen=True, eq=False)
class Bare(Scaled):
    """Sweep 2: the raw scores of all rows on all columns."""

    scores: np.ndarray = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model and what its fit found out about the training rows."""

    model: Model
    judged: Judged
    candidates: Candidates
    training: tuple[Training, ...]
    settling: Settling
    trust: Trust
    learned: tuple[Component, ...]
    """The components that have learned subsets; without a share in the score where these are not trusted."""
    n_full_space: int


def scale_table(
    engine: Engine, detector: Detector, scaling_kind: str, seeds: Seeds, plan: Plan | None = None
) -> Scaled:
    """Find the scaling, draw references, prepare the detector on all columns. What a ``plan`` will want is read on the way."""
    with stage("looking at the columns"):
        ranges = engine.ranges()
        scaling = fit_scaling(ranges, scaling_kind)
        rng = seeds.bare()
        references = detector.sample(engine.n_rows, rng)
        others = [seeds.full_space(i) for i in range(1, MOST_MEMBERS if plan is not None and plan.trust is None else 1)]
        more = [detector.sample(engine.n_rows, other) for other in others]
        engine.foresee("references", np.concatenate([references, *more]))
        _foresee_samples(engine, plan, seeds)
        if scaling_kind in ("rootstd", "damped"):
            scaling = by_moments(scaling, engine.moments(scaling), scaling_kind)
    scaling = scaling.centred(engine.take(references, scaling))

    def member(rows: np.ndarray, generator: np.random.Generator) -> Component:
        state = detector.prepare(engine.take(rows, scaling), generator)
        return Component(np.arange(engine.n_columns), None, state, normaliser=1.0, weight=1.0, loss=0.0)

    rest = tuple((rows, member(rows, other)) for rows, other in zip(more, others, strict=True))
    return Scaled(ranges, scaling, references, member(references, rng), rest)


def _foresee_samples(engine: Engine, plan: Plan | None, seeds: Seeds) -> None:
    """Name the rows that a fit will want whatever the scores are."""
    engine.foresee("baseline", baseline_rows(engine.n_rows, engine.n_columns, seeds.baseline()))
    if plan is None:
        return
    if plan.tries:
        engine.foresee("trial", trial_rows(engine.n_rows, engine.n_columns, plan, seeds))
    rows = sample_rows(engine.n_rows, plan.row_sample, seeds.row_sample())
    if rows is not None:
        engine.foresee("row sample", rows)


def score_bare(engine: Engine, detector: Detector, scaled: Scaled) -> Bare:
    """Score all rows on all columns."""
    with stage("scoring on all columns"):
        scores = engine.raw_scores(scaled.scaling, detector, [scaled.component])[0]
    return Bare(scaled.ranges, scaled.scaling, scaled.references, scaled.component, scores=scores)


def fit_bare(engine: Engine, detector: Detector, scaling_kind: str, seeds: Seeds) -> Bare:
    """Sweeps 1 and 2."""
    return score_bare(engine, detector, scale_table(engine, detector, scaling_kind, seeds))


def bare_model(engine: Engine, detector: Detector, bare: Bare) -> tuple[Model, np.ndarray]:
    """The bare detector as a model of one component, and its training scores."""
    component = with_normaliser(bare.component, bare.scores)
    scores = fill(engine.per_row(), lambda part: normalised(component, bare.scores[part]))
    return Model(detector, bare.scaling, (component,), engine.dtype), scores


def fit_ensemble(
    engine: Engine, detector: Detector, plan: Plan, scaled: Scaled, seeds: Seeds, known: KnownCases
) -> Fitted:
    """Find candidates, train the components, score all rows with them."""
    scaling = scaled.scaling
    rows = sample_rows(engine.n_rows, plan.row_sample, seeds.row_sample())
    trial = take_trial(engine, detector, scaling, plan, seeds)
    full = _score_full_space(engine, detector, plan, scaled, trial, rows)
    candidates = find_candidates(full.scores, plan.threshold_rate, known.normal)
    candidates = replace(candidates, rows=known.joined(candidates.rows))
    references = (scaled.references, *(numbers for numbers, _ in scaled.more))
    train = Trainer(engine, detector, plan, scaling, candidates.rows, references, seeds, known)
    with stage("learning which columns matter"):
        trained, settling, trust = train_ensemble(train, trial, full)
    shares = component_weights(np.array([component.loss for component, _ in trained]))
    learned = [replace(c, weight=float(trust.share * u)) for (c, _), u in zip(trained, shares, strict=True)]
    judged = Judged(engine.per_row(), engine.per_row())
    if trust.share > 0:
        with stage("scoring on the selected columns"):
            learned, judged = _score_and_normalise(engine, detector, scaling, learned, rows, plan.threshold_rate)
    members: list[Component] = []
    if trust.share < 1:
        members = [replace(member, weight=(1 - trust.share) * member.weight) for member in full.members]
        if full.agreement is None:
            judged.add(members[0], full.scores)
        else:
            judged.add_part(1 - trust.share, Judged(full.scores, full.agreement))
    model = Model(detector, scaling, (*learned, *members), engine.dtype)
    return Fitted(
        model,
        judged,
        candidates,
        tuple(part for _, part in trained),
        settling,
        trust,
        tuple(learned),
        len(full.members),
    )


def _score_full_space(
    engine: Engine, detector: Detector, plan: Plan, scaled: Scaled, trial: Trial | None, rows: np.ndarray | None
) -> FullSpace:
    """Sweep 2: the scores of all rows on all columns, by one member or by as many as it takes."""
    if plan.trust is not None or trial is None:
        bare = score_bare(engine, detector, scaled)
        known = bare.scores if rows is None else bare.scores[rows]
        return FullSpace((with_normaliser(bare.component, known, plan.threshold_rate),), bare.scores)
    with stage("scoring on all columns"):
        chosen, stability = enough_members(trial, [scaled.component, *(member for _, member in scaled.more)], plan)
        members, judged = _score_and_normalise(engine, detector, scaled.scaling, chosen, rows, plan.threshold_rate)
    return FullSpace(tuple(members), judged.scores, judged.agreement, stability)


def subset_component(
    engine: Engine, detector: Detector, scaling: Scaling, columns: np.ndarray, rng: np.random.Generator
) -> Component:
    """The detector on given columns, with references of its own."""
    references = engine.take(detector.sample(engine.n_rows, rng), scaling)
    state = detector.prepare(np.ascontiguousarray(references[:, columns]), rng)
    return Component(columns, None, state, normaliser=1.0, weight=1.0, loss=0.0)


def fit_subsets(
    engine: Engine,
    detector: Detector,
    scaling: Scaling,
    subsets: Sequence[np.ndarray],
    weights: np.ndarray,
    seeds: Seeds,
) -> tuple[Model, np.ndarray]:
    """A model of given subsets of columns and its training scores: sweep 3 without learning."""

    def prepare(index: int) -> Component:
        component = subset_component(engine, detector, scaling, subsets[index], seeds.component(index))
        return replace(component, weight=float(weights[index]))

    components = engine.map(prepare, range(len(subsets)))
    components, judged = _score_and_normalise(engine, detector, scaling, components, None, None)
    return Model(detector, scaling, tuple(components), engine.dtype), judged.scores


def _score_and_normalise(
    engine: Engine,
    detector: Detector,
    scaling: Scaling,
    components: list[Component],
    rows: np.ndarray | None,
    rate: float | None,
) -> tuple[list[Component], Judged]:
    """Sweep 3, a few components at a time so that memory stays bounded; normalisers, and with a ``rate`` thresholds, come from ``rows`` (``None``: all)."""
    if isinstance(engine, BatchEngine):
        return engine.score_and_normalise(detector, scaling, components, rows, rate)
    if rows is not None and engine.held_rows is not None:
        frozen, known = _normalise_on(engine, detector, scaling, components, rows, rate)
        return frozen, engine.judged(Model(detector, scaling, tuple(frozen), engine.dtype), known)
    at_once = max(1, SCORE_BYTES // (8 * engine.n_rows))
    frozen = []
    judged = Judged(engine.per_row(), None if rate is None else engine.per_row())
    for start in range(0, len(components), at_once):
        part = components[start : start + at_once]
        for component, raw in zip(part, engine.raw_scores(scaling, detector, part), strict=True):
            frozen.append(with_normaliser(component, raw if rows is None else raw[rows], rate))
            judged.add(frozen[-1], raw)
    return frozen, judged


def _normalise_on(
    engine: Engine,
    detector: Detector,
    scaling: Scaling,
    components: list[Component],
    rows: np.ndarray,
    rate: float | None,
) -> tuple[list[Component], Known]:
    """Normalisers from the row sample alone, before the sweep over the other rows: raw scores of all rows and components are nowhere kept."""
    at_once = max(1, SCORE_BYTES // (8 * rows.size))
    frozen: list[Component] = []
    lines = np.zeros((1 if rate is None else 2, rows.size))
    judged = of_lines(lines)
    for start in range(0, len(components), at_once):
        part = components[start : start + at_once]
        for component, raw in zip(part, engine.sample_scores(scaling, detector, part, rows), strict=True):
            frozen.append(with_normaliser(component, raw, rate))
            judged.add(frozen[-1], raw)
    return frozen, Known(rows, lines)
