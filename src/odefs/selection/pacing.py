"""Self-paced learning: which outlier examples to learn from.

There is the paper's thresholded form, the classic form, and none. A pacing takes the example losses
``L`` and the last age ``lambda`` and returns the next age and the example weights ``v`` (the
paper's Eqs. 9 and 12). The last axis is that of the examples, after an optional axis of components.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

TIE = 1e-12
"""Losses this close to the age count as below it.

All losses may be equal, and the age of two examples is the larger of their losses: rounding must
not decide these cases.
"""


@dataclass(frozen=True, eq=False)
class Pace:
    """Age and example weights; ``settled`` once no more examples enter by age alone."""

    lam: np.ndarray
    v: np.ndarray
    settled: np.ndarray
    step: np.ndarray

    def of(self, which: np.ndarray) -> "Pace":
        """The pace of some of the components."""
        return Pace(self.lam[which], self.v[which], self.settled[which], self.step[which])


class Pacing(Protocol):
    def first(self, losses: np.ndarray) -> Pace: ...

    def next(self, losses: np.ndarray, previous: Pace) -> Pace: ...


def everyone(losses: np.ndarray) -> Pace:
    """Every example counts."""
    none = np.zeros(losses.shape[:-1])
    return Pace(none, np.ones_like(losses), none == 0, none)


def examples_below(losses: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """``v_i = [L_i < lambda]``; every example where that would leave none."""
    # Eq. 12, which has a strict inequality, up to rounding.
    below = losses < (lam + TIE * np.maximum(1.0, np.abs(lam)))[..., None]
    return np.where(below.any(axis=-1, keepdims=True), below, True).astype(np.float64)


@dataclass(frozen=True)
class Thresholded:
    """``lambda_t = max(lambda_{t-1}, mean(L) + std(L))``: high losses are excluded to the end."""

    def first(self, losses: np.ndarray) -> Pace:
        return self._at(losses, losses.mean(axis=-1) + losses.std(axis=-1))

    def next(self, losses: np.ndarray, previous: Pace) -> Pace:
        return self._at(
            losses, np.maximum(previous.lam, losses.mean(axis=-1) + losses.std(axis=-1))
        )

    def _at(self, losses: np.ndarray, lam: np.ndarray) -> Pace:
        # Always settled: the age moves only if the losses do, which the objective shows.
        return Pace(
            lam, examples_below(losses, lam), np.ones(lam.shape, dtype=bool), np.zeros(lam.shape)
        )


@dataclass(frozen=True)
class Classic:
    """Kumar et al. (2010): the age grows from the median loss until every example counts.

    Its fixed step is a quarter of the way from the median to the largest loss of the first round,
    and at least a tenth of the loss of a guess (the sigmoid at 0). Neither number is in the paper.
    """

    smallest_step: float = 0.05

    def first(self, losses: np.ndarray) -> Pace:
        lam = np.asarray(np.median(losses, axis=-1))
        v = examples_below(losses, lam)
        return Pace(
            lam,
            v,
            np.asarray(v.all(axis=-1)),
            np.maximum((losses.max(axis=-1) - lam) / 4, self.smallest_step),
        )

    def next(self, losses: np.ndarray, previous: Pace) -> Pace:
        lam = np.where(previous.settled, previous.lam, previous.lam + previous.step)
        # Once every example counts, losses that rise above the age again do not remove one.
        v = np.where(previous.settled[..., None], 1.0, examples_below(losses, lam))
        return Pace(lam, v, np.asarray(v.all(axis=-1)), previous.step)


@dataclass(frozen=True)
class Unpaced:
    """Every example counts throughout: the paper's ODEFS*."""

    def first(self, losses: np.ndarray) -> Pace:
        return everyone(losses)

    def next(self, losses: np.ndarray, previous: Pace) -> Pace:
        return previous


def pacing_for(self_paced: bool | str) -> Pacing:
    """The pacing for the estimator's parameter ``self_paced``."""
    if self_paced == "classic":
        return Classic()
    return Thresholded() if self_paced else Unpaced()
