"""The stopping rule of ``n_estimators="auto"``: components are added until the ranking is stable.

The components are split into two halves. Each half is an ensemble that ranks a fixed sample of
rows, and the two rankings are correlated. The Spearman-Brown formula ``2 r / (1 + r)`` turns the
correlation ``r`` of two halves into that of two independently drawn ensembles of full size: it
measures how much the ranking depends on the random draw. It is computed after
``FIRST_COMPONENTS`` components and after every ``COMPONENTS_PER_STEP`` more.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from odefs.ensemble.model import component_weights

# Chosen on the paper's datasets and 14 more, which are therefore not an independent check of them
# (docs/explanation/research-log.md, "More members, more components"). ``python -m benchmarks
# adaptive`` shows what they cost in AUC.

FIRST_COMPONENTS = 12
"""Components before the first check. The paper trains two to six on small tables; with at least 12,
solar_flare gained 0.004 in AUC and no dataset lost more than 0.0005."""

COMPONENTS_PER_STEP = 8
"""Components between two checks."""

MIN_RANK_CORRELATION = 0.98
"""Rank correlation of two ensembles from which on no components are added."""

MAX_IMBALANCE = 0.1
"""Largest deviation from one half of the share of components in a half."""

RANKED_DECIMALS = 6
"""Scores, of which 1.0 is ordinary, are rounded before they are ranked.

Rounding errors differ between engines and must not affect ranks.
"""


@dataclass(frozen=True)
class StoppingRule:
    """Why training stopped at this number of components.

    ``reason`` is ``"given"`` (a number), ``"paper"`` (its ``l``), ``"settled"``, ``"not trusted"``
    where the components have no share in the score, or ``"limit"`` where the ranking was not stable
    when the limit was reached. ``agreement`` holds the number of components and the rank
    correlation at each check.
    """

    reason: str
    limit: int
    paper: int
    agreement: tuple[tuple[int, float], ...] = ()

    @property
    def message(self) -> str:
        if self.reason in ("given", "paper"):
            source = "parameter n_estimators" if self.reason == "given" else "the paper's formula"
            return f"{self.limit} components, from {source}."
        if self.reason == "not trusted":
            return (
                f"{self.limit} components, which have no share in the score: "
                "their subsets are not trusted."
            )
        n, value = self.agreement[-1]
        if self.reason == "settled":
            return (
                f"{n} components: the rank correlation of two such ensembles is {value:.4f}, "
                f"at least {MIN_RANK_CORRELATION}."
            )
        return (
            f"{self.limit} components, the limit: after {n}, the rank correlation of two such "
            f"ensembles was {value:.4f}, less than {MIN_RANK_CORRELATION}."
        )


def batches(limit: int) -> Iterator[range]:
    """Numbers of the components to train before each check."""
    start, stop = 0, min(FIRST_COMPONENTS, limit)
    while start < limit:
        yield range(start, stop)
        start, stop = stop, min(stop + COMPONENTS_PER_STEP, limit)


def rank_agreement(scores: np.ndarray, losses: np.ndarray, trust: float, bare: np.ndarray) -> float:
    """Expected rank correlation of two ensembles like this one.

    It is averaged over up to three ways to split the components: by each of the three lowest bits
    of a component's number, where the halves are about equal in size. ``scores`` holds the
    components' scores of the sampled rows, ``(n_components, n_rows)``, and ``bare`` those on all
    columns; all with mean 1.
    """
    # With 12 components the third bit splits 4 from 8, which is too uneven.
    splits = [(np.arange(losses.size) >> bit) & 1 == 1 for bit in range(3)]

    def half(members: np.ndarray) -> np.ndarray:
        return np.asarray(
            # Weights of a half are those that it would have as an ensemble of its own.
            trust * (component_weights(losses[members]) @ scores[members]) + (1 - trust) * bare
        )

    found = [
        halves_agree(half(split), half(~split))
        for split in splits
        if abs(split.mean() - 0.5) <= MAX_IMBALANCE
    ]
    return float(np.mean(found))


def halves_agree(half: np.ndarray, other: np.ndarray) -> float:
    """Expected rank correlation of two ensembles, each as large as these two halves together."""
    a, b = (_average_ranks(np.round(scores, RANKED_DECIMALS)) for scores in (half, other))
    return _stepped_up(a, b)


def _average_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1; equal values share their mean. Importing ``scipy.stats`` takes a second."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def _stepped_up(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman-Brown: 1 where all rows are tied, 0 where the halves contradict each other."""
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a @ a) * (b @ b)))
    # Spearman's correlation is Pearson's of the ranks, also with ties.
    r = float(a @ b) / spread if spread > 0 else 1.0
    return max(0.0, 2 * r / (1 + r)) if r > 0 else 0.0
