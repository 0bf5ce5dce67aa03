"""The full space, seen from the trial rows: how many members on all columns it takes, what these say, and how far their candidates can be relied on.

Members are added in pairs until two sets of as many would rank the trial rows alike: candidates that come from one draw of references may be luck. Where the
subsets are not trusted the full space stands alone, and what their sweep would have cost goes into further members.
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
"""Rank correlation of two sets of as many members, for candidates and where there is nothing but the full space."""

MAX_MEMBERS = 8
MAX_MEMBERS_ALONE = 24
FREE_CELLS = 2**23
"""Where members on all columns stand alone, as many as score no more cells than these are taken unasked: their time is a fraction of what the fit takes anyway."""

MEMBERS_NEXT_TO_SUBSETS = 2
"""Members beside subsets that have most of the score."""

STABILITY_MEMBERS = 4
STABILITY_HALVES = ((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2))
"""How many members say how stable the candidates are, and the three ways of halving them; the limits of :mod:`odefs.ensemble.trust` are for the worst of these."""


@dataclass(frozen=True, eq=False)
class AllColumnsScores:
    """Scores of the trial rows on all columns, with mean 1; where it was measured, the stability of the candidates among them, and the members that were asked."""

    scores: np.ndarray
    stability: float | None = None
    members: tuple[Component, ...] = ()


class AllColumnsEnsemble:
    """Members on all columns, made as they are wanted."""

    def __init__(self, trial: PilotSample, make: Callable[[int], Component]) -> None:
        self.trial = trial
        self._make = make
        self._made: list[Component] = []
        self._few_scores: list[np.ndarray] = []

    def view(self, rate: float) -> AllColumnsScores:
        """What as many members as settle the ranking say about the trial rows."""
        count = max(self._until(MIN_CORRELATION, MAX_MEMBERS), STABILITY_MEMBERS)
        members = tuple(self._first(count))
        scores = self.trial.scores(members)
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
            engine = self.trial.engine
            free = min(MAX_MEMBERS_ALONE, FREE_CELLS // (engine.n_rows * engine.n_columns))
            return list(
                self._first(max(free, self._until(MIN_CORRELATION_ALONE, MAX_MEMBERS_ALONE)))
            )
        return list(
            self._first(
                self._until(
                    MIN_CORRELATION, MAX_MEMBERS if trust < 0.5 else MEMBERS_NEXT_TO_SUBSETS
                )
            )
        )

    def _until(self, enough: float, most: int) -> int:
        """How many of the members that there may be are enough."""
        count = 2
        while count < most and self._agreement(count) < enough:
            count += 2
        return count

    def _agreement(self, count: int) -> float:
        members = list(self._first(count))
        if len(self._few_scores) < count:
            self._few_scores += list(self.trial.few_scores(members[len(self._few_scores) :]))
        scores = np.stack(self._few_scores[:count])
        return halves_agree(scores[::2].mean(axis=0), scores[1::2].mean(axis=0))

    def _first(self, count: int) -> Iterator[Component]:
        for index in range(count):
            if index == len(self._made):
                self._made.append(self._make(index))
            yield self._made[index]
