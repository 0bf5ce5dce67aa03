"""Ensemble members on all columns, and their scores of the pilot rows.

Members are added in pairs until two sets of that size would rank the pilot rows alike: candidates
from a single draw of references may be chance. Where learned subsets are not trusted, the members
on all columns make up the whole score, and the time saved goes into further members.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from odefs.ensemble.model import Component
from odefs.ensemble.pilot import PilotSample, normalise_to_mean_one
from odefs.ensemble.stopping import halves_agree
from odefs.ensemble.trust import candidate_stability

MIN_CORRELATION = 0.99
MIN_CORRELATION_ALONE = 0.995
"""Required rank correlation of two sets of members.

The first is for candidates, the second for scores that come from all columns alone.
"""

MAX_MEMBERS = 8
MAX_MEMBERS_ALONE = 24
FREE_CELLS = 2**23
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
    """Members on all columns, created on demand."""

    def __init__(self, pilot: PilotSample, make: Callable[[int], Component]) -> None:
        self.pilot = pilot
        self._make = make
        self._made: list[Component] = []
        self._few_scores: list[np.ndarray] = []

    def view(self, rate: float) -> AllColumnsScores:
        """Scores of the pilot rows by as many members as make the ranking stable."""
        count = max(self._until(MIN_CORRELATION, MAX_MEMBERS), STABILITY_MEMBERS)
        members = tuple(self._first(count))
        scores = self.pilot.scores(members)
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
            free = min(MAX_MEMBERS_ALONE, FREE_CELLS // (engine.n_rows * engine.n_columns))
            enough = self._until(MIN_CORRELATION_ALONE, MAX_MEMBERS_ALONE)
            return list(self._first(max(free, enough)))
        most = MAX_MEMBERS if trust < 0.5 else MEMBERS_NEXT_TO_SUBSETS
        return list(self._first(self._until(MIN_CORRELATION, most)))

    def _until(self, enough: float, most: int) -> int:
        """The number of members, at most ``most``, whose agreement reaches ``enough``."""
        count = 2
        while count < most and self._agreement(count) < enough:
            count += 2
        return count

    def _agreement(self, count: int) -> float:
        members = list(self._first(count))
        if len(self._few_scores) < count:
            self._few_scores += list(self.pilot.few_scores(members[len(self._few_scores) :]))
        scores = np.stack(self._few_scores[:count])
        return halves_agree(scores[::2].mean(axis=0), scores[1::2].mean(axis=0))

    def _first(self, count: int) -> Iterator[Component]:
        for index in range(count):
            if index == len(self._made):
                self._made.append(self._make(index))
            yield self._made[index]
