"""The members on all columns: how many there are, and what they say about all rows.

With a given trust there is one, as in the paper. Otherwise they are added in pairs until their ranking of the trial rows has settled: candidates that
come from one draw of references may be luck, and where subsets are not trusted the full space has to stand alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from odefs.engines.trial import Trial
from odefs.ensemble.model import Component
from odefs.ensemble.plan import Plan
from odefs.ensemble.settling import ENOUGH, halves_agree
from odefs.ensemble.trust import candidate_stability

MOST_MEMBERS = 8
FEWEST_JUDGED = 4
"""Members whose halves say how stable the candidates are; the limits of :mod:`odefs.ensemble.trust` are for no fewer."""


@dataclass(frozen=True, eq=False)
class FullSpace:
    """Members with their normalisers and weights that add up to 1, their combined scores of all rows and agreement, and how stable the candidates are.

    The scores of a single member are raw, and ``agreement`` follows from them.
    """

    members: tuple[Component, ...]
    scores: np.ndarray
    agreement: np.ndarray | None = None
    stability: float | None = None


def enough_members(trial: Trial, members: Sequence[Component], plan: Plan) -> tuple[list[Component], float]:
    """The first members that settle the ranking of the trial rows, and the stability of the candidates of their halves."""
    scores = np.empty((0, trial.few.size))
    count = 0
    while count < len(members):
        scores = np.concatenate([scores, trial.few_scores(members[count : count + 2])])
        count = scores.shape[0]
        halves = scores[::2].mean(axis=0), scores[1::2].mean(axis=0)
        if halves_agree(*halves) >= ENOUGH:
            break
    chosen = [replace(member, weight=1 / count) for member in members[:count]]
    every = trial.scores(members[: max(count, FEWEST_JUDGED)])
    stability = candidate_stability(every[::2].mean(axis=0), every[1::2].mean(axis=0), plan.threshold_rate)
    return chosen, stability
