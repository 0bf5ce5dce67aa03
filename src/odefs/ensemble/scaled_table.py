"""Before Algorithm 1: how columns are scaled, which are noise, and the detector on all of them.

One sweep finds the ranges of the columns; a second one their moments, where the scaling or the
search for noise columns needs them, and reads the rows that were announced for what follows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from odefs._progress import stage
from odefs.detectors.base import Detector
from odefs.ensemble.component import KnownCases, unweighted_component
from odefs.ensemble.engine import Engine
from odefs.ensemble.model import Component
from odefs.ensemble.pilot import MAX_MEMBERS_ALONE, pilot_rows
from odefs.ensemble.plan import Plan, Seeds, baseline_rows, sample_rows
from odefs.scaling import (
    ColumnMoments,
    ColumnRanges,
    Scaling,
    draw_in_tails,
    fit_scaling,
    sample_moments,
    scale_by_moments,
)
from odefs.selection.noise import DAMPING, noise_columns

MAX_KNOWN_OUTLIERS = 1024
"""Known outliers against which a column is checked: enough for a precise mean."""


class MemberReferences:
    """Row numbers of the references of each member on all columns.

    Those of further members are drawn on first use: most fits need few.
    """

    def __init__(
        self, first: np.ndarray, n_members: int, draw: Callable[[int], np.ndarray]
    ) -> None:
        self._drawn = {0: first}
        self._n_members = n_members
        self._draw = draw

    def __len__(self) -> int:
        return self._n_members

    def __getitem__(self, member: int) -> np.ndarray:
        if member not in self._drawn:
            self._drawn[member] = self._draw(member)
        return self._drawn[member]


@dataclass(frozen=True, eq=False)
class ScaledTable:
    """How columns are scaled, and the detector on all of them, ready to score."""

    ranges: ColumnRanges
    scaling: Scaling
    references: MemberReferences
    component: Component
    noise: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Columns that look like pure noise and were scaled down."""

    def member(self, index: int, engine: Engine, detector: Detector, seeds: Seeds) -> Component:
        """A member on all columns: the first is :attr:`component`, others have own references."""
        if index == 0:
            return self.component
        rows, rng = self.references[index], seeds.full_space(index - 1, 1)
        return _on_all_columns(engine, detector, self.scaling, rows, rng)


def scale_table(
    engine: Engine,
    detector: Detector,
    scaling_kind: str,
    seeds: Seeds,
    plan: Plan | None = None,
    known: Callable[[int], KnownCases] = lambda n_rows: KnownCases(),
) -> ScaledTable:
    """Scale the columns, and prepare the detector on all of them.

    Rows that a fit by ``plan`` needs are read on the way. ``known`` returns the known cases once
    the number of rows is known.
    """
    with stage("measuring the columns"):
        # First, because engines for streams and clusters count the rows in this pass, and
        # everything below draws row numbers.
        ranges = engine.ranges()
        # One generator draws the references and then prepares the detector, as in every component.
        rng = seeds.bare()
        references = detector.sample(engine.n_rows, rng)
        of_members = _references_of_members(engine, detector, plan, seeds, references)
        outliers = known(engine.n_rows).outliers[:MAX_KNOWN_OUTLIERS]
        # Announced for all members, since a further pass for each of them would cost more than rows
        # that are not used. In memory they are drawn when needed.
        if engine.held_rows is not None:
            every = [of_members[member] for member in range(len(of_members))]
            engine.prefetch("references", np.concatenate(every))
        _prefetch_samples(engine, plan, seeds, outliers, scaling_kind)
        damps_noise = plan is not None and plan.damps_noise
        scaling, moments = _scale_columns(engine, scaling_kind, ranges, plan, seeds, damps_noise)
        noise = np.empty(0, dtype=np.intp)
        if damps_noise and moments is not None:
            noise = noise_columns(
                engine.take(_pilot(engine, plan, seeds), scaling),
                moments.farthest,
                engine.n_rows,
                seeds.noise(),
                engine.map,
                engine.take(outliers, scaling),
            )
            scaling = scaling.shrunk_within_range(noise, DAMPING, ranges)
    # Last, when the units are known: the origin must be near the rows to keep digits of expanded
    # squares (odefs.kernels.distances). References are a random sample of the rows.
    scaling = scaling.centred(engine.take(references, scaling))
    component = _on_all_columns(engine, detector, scaling, references, rng)
    return ScaledTable(ranges, scaling, of_members, component, noise)


def _scale_columns(
    engine: Engine,
    kind: str,
    ranges: ColumnRanges,
    plan: Plan | None,
    seeds: Seeds,
    damps_noise: bool,
) -> tuple[Scaling, ColumnMoments | None]:
    """The scaling of the given kind, and the moments of the columns where anything needs them.

    ``"robust"`` measures quantiles, which need a sample of the rows; its moments come from the
    same rows, so that no further pass is needed.
    """
    scaling = fit_scaling(ranges, kind)
    if kind == "robust":
        sample = engine.rows(_pilot(engine, plan, seeds))
        scaling = draw_in_tails(scaling, ranges, sample)
        moments = sample_moments(scaling, ranges, sample)
    elif damps_noise or kind in ("rootstd", "damped"):
        # Of values in [0, 1] for every kind of scaling, as scale_by_moments and
        # ColumnMoments.farthest assume, and squares cannot overflow.
        moments = engine.moments(fit_scaling(ranges, "minmax"))
    else:
        return scaling, None
    return scale_by_moments(scaling, moments, kind), moments


def _pilot(engine: Engine, plan: Plan | None, seeds: Seeds) -> np.ndarray:
    return pilot_rows(engine.n_rows, engine.n_columns, plan, seeds)


def _references_of_members(
    engine: Engine,
    detector: Detector,
    plan: Plan | None,
    seeds: Seeds,
    first: np.ndarray,
) -> MemberReferences:
    """References of the first member, and of the further ones that a measured trust may need."""
    n_members = 1 if plan is None or plan.trust is not None else MAX_MEMBERS_ALONE

    def draw(member: int) -> np.ndarray:
        return detector.sample(engine.n_rows, seeds.full_space(member - 1, 0))

    return MemberReferences(first, n_members, draw)


def _prefetch_samples(
    engine: Engine,
    plan: Plan | None,
    seeds: Seeds,
    known_outliers: np.ndarray,
    scaling_kind: str,
) -> None:
    """Announce the rows that a fit takes whatever the scores are."""
    n_rows, n_columns = engine.n_rows, engine.n_columns
    engine.prefetch("baseline", baseline_rows(n_rows, n_columns, seeds.baseline()))
    is_robust = scaling_kind == "robust"
    if is_robust or (plan is not None and (plan.uses_pilot or plan.damps_noise)):
        engine.prefetch("pilot", _pilot(engine, plan, seeds))
    if plan is None:
        return
    rows = sample_rows(n_rows, plan.normalization_rows, seeds.row_sample())
    if rows is not None:
        engine.prefetch("row sample", rows)
    if plan.damps_noise and known_outliers.size:
        engine.prefetch("known outliers", known_outliers)


def _on_all_columns(
    engine: Engine,
    detector: Detector,
    scaling: Scaling,
    references: np.ndarray,
    rng: np.random.Generator,
) -> Component:
    rows = engine.take(references, scaling)
    return unweighted_component(detector, rows, np.arange(engine.n_columns), rng)
