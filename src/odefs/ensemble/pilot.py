"""The pilot sample: a fixed sample of rows that a fit scores before it sweeps over all rows.

It decides how many members on all columns are needed, which rows are candidates, how far learned
subsets are trusted and how many components there are. Repeated checks use a part of it. Members on
all columns are the detector with different references.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.engine import Engine, KnownRawScores
from odefs.ensemble.model import Component, divided, mean_score, raw_scores
from odefs.ensemble.plan import Plan, Seeds, sample_rows
from odefs.ensemble.stopping import halves_agree
from odefs.ensemble.trust import candidate_stability
from odefs.kernels.chunking import block_rows, row_blocks
from odefs.scaling import Scaling

MOST_ROWS = 8192
MOST_CELLS = 2**23
"""Rows of the pilot sample, fewer for wide tables.

Twice as many changed the mean AUC by less than 0.001 (research log, "More members, more
components").
"""
FEW_ROWS = 2048
"""Rows for repeated checks: few compared with a sweep, enough for a correlation."""


Key = tuple[int, int, int]


class RawScores(NamedTuple):
    """Raw scores of some rows by a component.

    The component is held because its columns, state and weights identify it (:func:`_key`).
    """

    component: Component
    raw: np.ndarray


@dataclass(frozen=True, eq=False)
class PilotSample:
    """Numbers of the pilot rows, the scaled rows, and the places of the few among them."""

    engine: Engine
    detector: Detector
    numbers: np.ndarray
    X: np.ndarray
    few: np.ndarray

    _kept: dict[Key, RawScores] = field(init=False, default_factory=dict)
    """Raw scores of all pilot rows by components that will be needed again."""
    _kept_of_few: dict[Key, RawScores] = field(init=False, default_factory=dict)
    """The same of the few rows."""

    def scores(self, components: Sequence[Component], keep: bool = False) -> np.ndarray:
        """Scores of all pilot rows with mean 1, ``(n_components, n_rows)``.

        Those of components to ``keep`` are not computed again.
        """
        return _with_mean_one(self._raw(components, lambda: self.X, self._kept, keep))

    def few_scores(self, components: Sequence[Component], keep: bool = False) -> np.ndarray:
        """Scores of the few rows with mean 1."""
        for one in components:
            # A row's score does not depend on its batch: scores of all pilot rows hold those of the
            # few.
            if _key(one) in self._kept:
                raw = self._kept[_key(one)].raw[self.few]
                self._kept_of_few[_key(one)] = RawScores(one, raw)
        return _with_mean_one(
            self._raw(components, lambda: self.X[self.few], self._kept_of_few, keep)
        )

    def known_scores(self) -> KnownRawScores:
        """Raw scores of all pilot rows that were kept."""

        def raw(component: Component) -> np.ndarray | None:
            found = self._kept.get(_key(component))
            return None if found is None else found.raw

        return KnownRawScores(self.numbers, raw)

    def _raw(
        self,
        components: Sequence[Component],
        rows: Callable[[], np.ndarray],
        kept: dict[Key, RawScores],
        keep: bool,
    ) -> list[np.ndarray]:
        """Raw scores of some rows by each component."""
        unknown = [one for one in components if _key(one) not in kept]
        found = dict(kept)
        if unknown:
            X = rows()

            def score(component: Component) -> RawScores:
                # Blocks bound the memory of each task; they change no score.
                height = block_rows(self.detector.bytes_per_row(component.columns.size))
                parts = [
                    raw_scores(component, self.detector, X[part])
                    for part in row_blocks(X.shape[0], height)
                ]
                return RawScores(component, np.concatenate(parts))

            new = zip(map(_key, unknown), self.engine.map(score, unknown), strict=True)
            found.update(new)
            if keep:
                kept.update(found)
        return [found[_key(one)].raw for one in components]


def _with_mean_one(raw: Sequence[np.ndarray]) -> np.ndarray:
    return np.stack([normalise_to_mean_one(scores) for scores in raw])


def _key(component: Component) -> Key:
    """The same for copies of a component with another weight or normaliser.

    The state does not suffice: detectors that learn nothing may prepare ``None`` or a constant for
    every component. An id is unique only as long as its object lives: :class:`RawScores` holds the
    component, and with it these three.
    """
    return id(component.columns), id(component.state), id(component.w)


def draw_pilot(
    engine: Engine, detector: Detector, scaling: Scaling, plan: Plan, seeds: Seeds
) -> PilotSample:
    """The pilot sample."""
    numbers = pilot_rows(engine.n_rows, engine.n_columns, plan, seeds)
    few = sample_rows(numbers.size, FEW_ROWS, seeds.stopping())
    return PilotSample(
        engine,
        detector,
        numbers,
        engine.take(numbers, scaling),
        np.arange(numbers.size) if few is None else few,
    )


def pilot_rows(n_rows: int, n_columns: int, plan: Plan | None, seeds: Seeds) -> np.ndarray:
    """Numbers of the pilot rows: a seeded sample of the rows that normalisers come from."""
    known = (
        None if plan is None else sample_rows(n_rows, plan.normalization_rows, seeds.row_sample())
    )
    n_known = n_rows if known is None else known.size
    chosen = sample_rows(
        n_known, max(FEW_ROWS, min(MOST_ROWS, MOST_CELLS // n_columns)), seeds.pilot()
    )
    if chosen is None:
        chosen = np.arange(n_known)
    # Both are ascending, so the result is, as engines expect of row numbers.
    return chosen if known is None else known[chosen]


def normalise_to_mean_one(scores: np.ndarray) -> np.ndarray:
    """Scores with mean 1, the scale of the final scores.

    The model's own normalisers come from the whole row sample.
    """
    return divided(scores, mean_score(scores))


MIN_CORRELATION = 0.99
"""Required rank correlation of two sets of members.

With 0.995, and twice as many ``FREE_CELLS``, the mean AUC differed by 0.0003, and a fit on 100,000
rows and 100 columns took three times as long.
"""

MAX_MEMBERS = 8
MAX_MEMBERS_ALONE = 24
FREE_CELLS = 2**22
"""Cells that members on all columns may score without a check of their agreement.

It applies where they make up the whole score: the time is a fraction of that of the fit.
"""

MEMBERS_NEXT_TO_SUBSETS = 2
"""Members next to subsets that have most of the score."""

STABILITY_MEMBERS = 4
STABILITY_HALVES = ((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2))
"""Members for the stability of the candidates, and the three ways to split them into halves.

The limits in :mod:`odefs.ensemble.trust` apply to the worst of the three.
"""


@dataclass(frozen=True, eq=False)
class AllColumnsScores:
    """Scores of the pilot rows on all columns, with mean 1.

    Where stability was measured: that of the candidates, and the members it was measured with.
    """

    scores: np.ndarray
    stability: float | None = None
    members: tuple[Component, ...] = ()


class AllColumnsEnsemble:
    """Members on all columns, created on demand.

    They are added in pairs until two sets of that size would rank the pilot rows alike: candidates
    from a single draw of references may be chance. Where learned subsets are not trusted, the
    members on all columns make up the whole score, and the time saved goes into further members.
    """

    def __init__(self, pilot: PilotSample, make: Callable[[int], Component]) -> None:
        self.pilot = pilot
        self._make = make
        self._made: list[Component] = []
        self._few_scores: list[np.ndarray] = []

    def view(self, rate: float) -> AllColumnsScores:
        """Scores of the pilot rows by as many members as make the ranking stable."""
        # All pilot rows are scored first: the agreement below then takes the few rows from these
        # scores and does not score them again.
        self.pilot.scores(list(self._first(STABILITY_MEMBERS)), keep=True)
        count = max(self._until(MAX_MEMBERS), STABILITY_MEMBERS)
        members = tuple(self._first(count))
        scores = self.pilot.scores(members, keep=True)
        judged = [scores[list(half)].mean(axis=0) for half in STABILITY_HALVES]
        stability = min(
            candidate_stability(a, b, rate) for a, b in zip(judged[::2], judged[1::2], strict=True)
        )
        return AllColumnsScores(normalise_to_mean_one(scores.mean(axis=0)), stability, members)

    def for_share(self, trust: float) -> list[Component]:
        """The members of a model in which learned subsets have this share of the score."""
        if trust == 1:
            return []
        if trust == 0:
            engine = self.pilot.engine
            # On small tables members cost little and reduce the variation between seeds (research
            # log, "More members, more components").
            free = min(MAX_MEMBERS_ALONE, FREE_CELLS // (engine.n_rows * engine.n_columns))
            enough = self._until(MAX_MEMBERS_ALONE)
            return list(self._first(max(free, enough)))
        most = MAX_MEMBERS if trust < 0.5 else MEMBERS_NEXT_TO_SUBSETS
        return list(self._first(self._until(most)))

    def _until(self, most: int) -> int:
        """The number of members, at most ``most``, that agree well enough."""
        count = 2
        # Even numbers, so that the two halves have equally many members.
        while count < most and self._agreement(count) < MIN_CORRELATION:
            count += 2
        return count

    def _agreement(self, count: int) -> float:
        members = list(self._first(count))
        if len(self._few_scores) < count:
            more = members[len(self._few_scores) :]
            self._few_scores += list(self.pilot.few_scores(more, keep=True))
        scores = np.stack(self._few_scores[:count])
        return halves_agree(scores[::2].mean(axis=0), scores[1::2].mean(axis=0))

    def _first(self, count: int) -> Iterator[Component]:
        for index in range(count):
            if index == len(self._made):
                self._made.append(self._make(index))
            yield self._made[index]
