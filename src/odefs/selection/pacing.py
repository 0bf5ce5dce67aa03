"""Which outlier examples to learn from: self-paced learning in the paper's thresholded form, in the classic one, or not at all.

A pacing takes the example losses ``L`` and the last age ``lambda`` and returns the next age and the example weights ``v``
(the paper's Eqs. "lambda_compute" and "update_v").
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

TIE = 1e-12
"""Losses this close to the age count as below it. All losses may be equal, and the age of two examples is the larger of their losses:
rounding must not decide there."""


@dataclass(frozen=True, eq=False)
class Pace:
    """Age and example weights of one round; ``settled`` once no example will be let in merely because time went by."""

    lam: float
    v: np.ndarray
    settled: bool = True
    step: float = 0.0


class Pacing(Protocol):
    def first(self, losses: np.ndarray) -> Pace: ...

    def next(self, losses: np.ndarray, previous: Pace) -> Pace: ...


def examples_below(losses: np.ndarray, lam: float) -> np.ndarray:
    """``v_i = [L_i < lambda]``; every example where that would leave none."""
    v = (losses < lam + TIE * max(1.0, abs(lam))).astype(np.float64)
    return v if v.any() else np.ones_like(v)


@dataclass(frozen=True)
class Thresholded:
    """``lambda_t = max(lambda_{t-1}, mean(L) + std(L))``: examples with high losses stay out to the end."""

    def first(self, losses: np.ndarray) -> Pace:
        lam = float(losses.mean() + losses.std())
        return Pace(lam, examples_below(losses, lam))

    def next(self, losses: np.ndarray, previous: Pace) -> Pace:
        lam = max(previous.lam, float(losses.mean() + losses.std()))
        return Pace(lam, examples_below(losses, lam))


@dataclass(frozen=True)
class Classic:
    """Kumar et al. (2010): the age starts at the median loss and grows by a fixed step until every example is in.

    The step is a quarter of the way from the median to the largest loss of the first round, and at least a tenth of the loss of a
    guess (the sigmoid at 0). Neither number is in the paper.
    """

    smallest_step: float = 0.05

    def first(self, losses: np.ndarray) -> Pace:
        lam = float(np.median(losses))
        v = examples_below(losses, lam)
        return Pace(lam, v, bool(v.all()), max((float(losses.max()) - lam) / 4, self.smallest_step))

    def next(self, losses: np.ndarray, previous: Pace) -> Pace:
        if previous.settled:
            return Pace(previous.lam, np.ones_like(losses))
        lam = previous.lam + previous.step
        v = examples_below(losses, lam)
        return Pace(lam, v, bool(v.all()), previous.step)


@dataclass(frozen=True)
class Unpaced:
    """Every example counts throughout: the paper's ODEFS*."""

    def first(self, losses: np.ndarray) -> Pace:
        return Pace(0.0, np.ones_like(losses))

    def next(self, losses: np.ndarray, previous: Pace) -> Pace:
        return previous


def pacing_for(self_paced: bool | str) -> Pacing:
    """The pacing behind the estimator's ``self_paced`` parameter."""
    if self_paced == "classic":
        return Classic()
    return Thresholded() if self_paced else Unpaced()
