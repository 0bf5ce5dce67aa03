"""The sweeps of a fit, written once for all engines.

1. column statistics, then the references of the full space and the trial rows are read;
2. with a given trust, bare scores of all rows, hence the candidates; otherwise these come from the trial rows, and there is no such sweep;
3. scores on subsets and full space, from which normalisers and training scores follow. Before it every component reads the few rows it has drawn and is trained on them.

Engines bring blocks in and give reductions out; scores, one number per row, may lie in a file and are worked on a stretch at a time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from odefs._progress import stage
from odefs.detectors.base import Detector
from odefs.ensemble.all_columns import MAX_MEMBERS_ALONE, AllColumnsEnsemble, AllColumnsScores
from odefs.ensemble.batch_engine import BatchEngine
from odefs.ensemble.combine import (
    FLAG_RATE,
    RowScores,
    component_weights,
    from_rows,
    normalised,
    with_normaliser,
)
from odefs.ensemble.component import TrainingRecord
from odefs.ensemble.engine import Engine, Known
from odefs.ensemble.known_outliers import KnownCases
from odefs.ensemble.model import Component, Model
from odefs.ensemble.pilot import PilotSample, normalise_to_mean_one, take_trial, trial_rows
from odefs.ensemble.plan import Plan, Seeds, baseline_rows, sample_rows
from odefs.ensemble.stopping import StoppingRule
from odefs.ensemble.train import ComponentTrainer, TrainedComponents, train_ensemble
from odefs.ensemble.trust import Trust
from odefs.kernels.row_reductions import fill
from odefs.scaling import ColumnRanges, Scaling, fit_scaling, scale_by_moments
from odefs.selection.candidates import Candidates, find_candidates
from odefs.selection.noise import DAMPING, noise_columns

MOST_KNOWN = 1024
"""Known outliers that are asked whether a column sets them apart."""

SCORE_BYTES = 128 * 2**20
"""How much memory raw scores of several components may take before they are combined."""


@dataclass(frozen=True, eq=False)
class ScaledTable:
    """Sweep 1: how columns are scaled, and the detector on all of them, ready to score."""

    ranges: ColumnRanges
    scaling: Scaling
    references: np.ndarray
    component: Component
    more_references: tuple[np.ndarray, ...] = ()
    """Of further members on all columns, for fits that may want them."""
    noise: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Columns that look like pure noise and were scaled down."""


@dataclass(frozen=True, eq=False)
class BareScores(ScaledTable):
    """Sweep 2: the raw scores of all rows on all columns."""

    scores: np.ndarray = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class FitResult:
    """A model and what its fit found out about the training rows."""

    model: Model
    judged: RowScores
    candidates: Candidates
    training: tuple[TrainingRecord, ...]
    settling: StoppingRule
    trust: Trust
    learned: tuple[Component, ...]
    """The components that have learned subsets; without a share in the score where these are not trusted."""
    n_full_space: int


def scale_table(
    engine: Engine,
    detector: Detector,
    scaling_kind: str,
    seeds: Seeds,
    plan: Plan | None = None,
    known: Callable[[int], KnownCases] = lambda n_rows: KnownCases(),
) -> ScaledTable:
    """Find the scaling, draw references, prepare the detector on all columns. What a ``plan`` will want is read on the way.

    ``known`` tells the known cases once the number of rows is known.
    """
    with stage("looking at the columns"):
        ranges = engine.ranges()
        scaling = fit_scaling(ranges, scaling_kind)
        rng = seeds.bare()
        references = detector.sample(engine.n_rows, rng)
        n_more = MAX_MEMBERS_ALONE - 1 if plan is not None and plan.trust is None else 0
        more = tuple(detector.sample(engine.n_rows, seeds.full_space(i, 0)) for i in range(n_more))
        engine.prefetch("references", np.concatenate([references, *more]))
        _foresee_samples(engine, plan, seeds)
        looks_for_noise = plan is not None and plan.damps_noise
        outliers = known(engine.n_rows).outliers[:MOST_KNOWN]
        if looks_for_noise and outliers.size:
            engine.prefetch("known outliers", outliers)
        if scaling_kind in ("rootstd", "damped") or looks_for_noise:
            moments = engine.moments(fit_scaling(ranges, "minmax"))
            scaling = scale_by_moments(scaling, moments, scaling_kind)
        noise = np.empty(0, dtype=np.intp)
        if plan is not None and looks_for_noise:
            rows = engine.take(trial_rows(engine.n_rows, engine.n_columns, plan, seeds), scaling)
            outlying = engine.take(outliers, scaling)
            noise = noise_columns(rows, moments.farthest, engine.n_rows, seeds.noise(), engine.map, outlying)
            scaling = scaling.damped(noise, DAMPING)
    scaling = scaling.centred(engine.take(references, scaling))
    return ScaledTable(
        ranges, scaling, references, _full_member(engine, detector, scaling, references, rng), more, noise
    )


def _full_member(
    engine: Engine, detector: Detector, scaling: Scaling, references: np.ndarray, rng: np.random.Generator
) -> Component:
    """The detector on all columns."""
    state = detector.prepare(engine.take(references, scaling), rng)
    return Component(np.arange(engine.n_columns), None, state, normaliser=1.0, weight=1.0, loss=0.0)


def _foresee_samples(engine: Engine, plan: Plan | None, seeds: Seeds) -> None:
    """Name the rows that a fit will want whatever the scores are."""
    engine.prefetch("baseline", baseline_rows(engine.n_rows, engine.n_columns, seeds.baseline()))
    if plan is None:
        return
    if plan.tries or plan.damps_noise:
        engine.prefetch("trial", trial_rows(engine.n_rows, engine.n_columns, plan, seeds))
    rows = sample_rows(engine.n_rows, plan.normalization_rows, seeds.row_sample())
    if rows is not None:
        engine.prefetch("row sample", rows)


def score_bare(engine: Engine, detector: Detector, scaled: ScaledTable) -> BareScores:
    """Score all rows on all columns."""
    with stage("scoring on all columns"):
        scores = engine.raw_scores(scaled.scaling, detector, [scaled.component])[0]
    return BareScores(scaled.ranges, scaled.scaling, scaled.references, scaled.component, scores=scores)


def fit_bare(engine: Engine, detector: Detector, scaling_kind: str, seeds: Seeds) -> BareScores:
    """Sweeps 1 and 2."""
    return score_bare(engine, detector, scale_table(engine, detector, scaling_kind, seeds))


def bare_model(engine: Engine, detector: Detector, bare: BareScores) -> tuple[Model, np.ndarray]:
    """The bare detector as a model of one component, and its training scores."""
    component = with_normaliser(bare.component, bare.scores)
    scores = fill(engine.per_row(), lambda part: normalised(component, bare.scores[part]))
    return Model(detector, bare.scaling, (component,), engine.dtype), scores


def fit_ensemble(
    engine: Engine, detector: Detector, plan: Plan, scaled: ScaledTable, seeds: Seeds, known: KnownCases
) -> FitResult:
    """Find candidates, train the components, score all rows with them."""
    if plan.trust is None:
        return _fit_by_trial(engine, detector, plan, scaled, seeds, known)
    bare = score_bare(engine, detector, scaled)
    candidates = find_candidates(bare.scores, plan.candidate_threshold, known.normal)
    candidates = replace(candidates, rows=known.joined(candidates.rows))
    trial = take_trial(engine, detector, scaled.scaling, plan, seeds)
    view = None if trial is None else AllColumnsScores(normalise_to_mean_one(bare.scores[trial.numbers]))
    train = ComponentTrainer(
        engine, detector, plan, scaled.scaling, candidates.rows, (scaled.references,), scaled.noise, seeds, known
    )
    trained, settling, trust = _train(train, trial, view, candidates.rows.size)
    learned = _with_shares(trained, trust.share)
    rows = sample_rows(engine.n_rows, plan.normalization_rows, seeds.row_sample())
    judged = RowScores(engine.per_row(), engine.per_row())
    if trust.share > 0:
        with stage("scoring on the selected columns"):
            learned, judged = _score_and_normalise(engine, detector, scaled.scaling, learned, rows, FLAG_RATE)
    full = []
    if trust.share < 1:
        seen = bare.scores if rows is None else bare.scores[rows]
        member = with_normaliser(bare.component, seen, FLAG_RATE)
        full = [replace(member, weight=1 - trust.share)]
        judged.add(full[0], bare.scores)
    return _fitted(engine, detector, scaled, candidates, trained, settling, trust, learned, full, judged)


def _fit_by_trial(
    engine: Engine, detector: Detector, plan: Plan, scaled: ScaledTable, seeds: Seeds, known: KnownCases
) -> FitResult:
    """All that is learned is learned from the trial rows and what they say; one sweep then scores all rows, on subsets and full space at once."""
    trial = take_trial(engine, detector, scaled.scaling, plan, seeds)
    assert trial is not None

    def member(index: int) -> Component:
        if index == 0:
            return scaled.component
        references, rng = scaled.more_references[index - 1], seeds.full_space(index - 1, 1)
        return _full_member(engine, detector, scaled.scaling, references, rng)

    members = AllColumnsEnsemble(trial, member)
    with stage("scoring on all columns"):
        view = members.view(plan.candidate_threshold)
    among_trial = find_candidates(view.scores, plan.candidate_threshold, known.never(trial.numbers))
    candidates = replace(among_trial, rows=known.joined(trial.numbers[among_trial.rows]))
    references = (scaled.references, *scaled.more_references)
    train = ComponentTrainer(
        engine, detector, plan, scaled.scaling, candidates.rows, references, scaled.noise, seeds, known
    )
    if not candidates.rows.size:
        raise ValueError("every row that was looked at is known to be normal: there is nothing to learn from.")
    n_candidates = max(candidates.rows.size, round(among_trial.rows.size * engine.n_rows / trial.numbers.size))
    trained, settling, trust = _train(train, trial, view, n_candidates)
    learned = _with_shares(trained, trust.share)
    with stage("scoring on all columns"):
        full = members.for_share(trust.share)
    full = [replace(member, weight=(1 - trust.share) / len(full)) for member in full]
    rows = sample_rows(engine.n_rows, plan.normalization_rows, seeds.row_sample())
    with stage("scoring all rows"):
        used = [*learned, *full] if trust.share > 0 else full
        used, judged = _score_and_normalise(engine, detector, scaled.scaling, used, rows, FLAG_RATE)
    if trust.share > 0:
        learned = used[: len(learned)]
    full = used[len(used) - len(full) :]
    return _fitted(engine, detector, scaled, candidates, trained, settling, trust, learned, full, judged)


def _train(
    train: ComponentTrainer, trial: PilotSample | None, view: AllColumnsScores | None, n_candidates: int
) -> tuple[list[TrainedComponents], StoppingRule, Trust]:
    with stage("learning which columns matter"):
        return train_ensemble(train, trial, view, n_candidates)


def _with_shares(trained: Sequence[TrainedComponents], trust: float) -> list[Component]:
    shares = component_weights(np.array([component.loss for component, _ in trained]))
    return [replace(one, weight=float(trust * share)) for (one, _), share in zip(trained, shares, strict=True)]


def _fitted(
    engine: Engine,
    detector: Detector,
    scaled: ScaledTable,
    candidates: Candidates,
    trained: Sequence[TrainedComponents],
    settling: StoppingRule,
    trust: Trust,
    learned: Sequence[Component],
    full: Sequence[Component],
    judged: RowScores,
) -> FitResult:
    model = Model(detector, scaled.scaling, (*learned, *full), engine.dtype)
    training = tuple(part for _, part in trained)
    return FitResult(model, judged, candidates, training, settling, trust, tuple(learned), len(full))


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
) -> tuple[list[Component], RowScores]:
    """Sweep 3, a few components at a time so that memory stays bounded; normalisers, and with a ``rate`` thresholds, come from ``rows`` (``None``: all)."""
    if isinstance(engine, BatchEngine):
        return engine.score_and_normalise(detector, scaling, components, rows, rate)
    if rows is not None and engine.held_rows is not None:
        frozen, known = _normalise_on(engine, detector, scaling, components, rows, rate)
        return frozen, engine.judged(Model(detector, scaling, tuple(frozen), engine.dtype), known)
    at_once = max(1, SCORE_BYTES // (8 * engine.n_rows))
    frozen = []
    judged = RowScores(engine.per_row(), None if rate is None else engine.per_row())
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
    judged = from_rows(lines)
    for start in range(0, len(components), at_once):
        part = components[start : start + at_once]
        for component, raw in zip(part, engine.sample_scores(scaling, detector, part, rows), strict=True):
            frozen.append(with_normaliser(component, raw, rate))
            judged.add(frozen[-1], raw)
    return frozen, Known(rows, lines)
