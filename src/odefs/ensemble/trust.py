"""Trust in learned subsets: their share of the score, measured on a sample of the rows.

**Contrast.** Noise columns make all distances similar, so a subset without them spreads the scores
more relative to their mean. Any small subset does to some degree, and columns of another kind may
too; the gain is therefore measured against random subsets of the same sizes on the same rows.

**Stability.** Contrast learned from candidates is only as good as the candidates. The rows are
scored on all columns by two halves of the reference subsets, and each half names candidates; where
the halves name different rows, the candidates are chance.

**Tail.** Where a few outliers hide among many noise columns, the contrast of all rows hardly
changes and candidates are mostly chance; but on the right columns the top-ranked rows are well
separated. The gain is the distance of the highest hundredth from the rest, in standard deviations
of the rest, relative to the same on all columns. A subset of higher contrast widens the whole
distribution including its tail, so only what exceeds the square of the contrast counts. Components
look for columns on which their examples stand out, which exist by chance in any table of many
columns. Where only the tail supports the subsets, it is therefore measured again, on rows that
they have not learned from (:mod:`odefs.ensemble.held_out`), and the smaller gain counts.

**Known outliers**, if any, can raise the trust but not lower it: components that learned from one
half of them score the other half. The trust grows with the gain in rank compared with all columns,
as far as it exceeds two standard errors.

The largest of these shares counts.

**Columns of two values.** The rows that have the rare value of such a column score alike and far
above the others on this column alone, so that contrast, stability and tail are high by construction
(:mod:`odefs.ensemble.discrete_weights`). The tail counts only as far as the weights are on other
columns, and neither contrast nor tail where one of these columns has most of the weight.

**Isolated values.** Subsets that leave out a column with a value far beyond all others would hide
its row; contrast and tail then give them a small share (:mod:`odefs.ensemble.isolated_values`).
"""

from dataclasses import dataclass

import numpy as np

from odefs.ensemble.discrete_weights import DiscreteWeights
from odefs.selection.candidates import find_candidates

# Pairs of limits: the share is 0 below the first number and 1 above the second. In between it grows
# linearly, for contrast and tail in their logarithms. The datasets between which the limits lie
# are in docs/explanation/research-log.md, in the sections named here.

CONTRAST_GAIN = (1.5, 2.0)
STABILITY = (0.80, 0.90)
"""Contrast counts times stability ("Signals that could tell gain from loss").

Datasets with large gains have a contrast of 2.2 and more, most of those that lose 1.3 and less; the
exceptions, connect4 and mushroom, have unstable candidates (0.82, 0.89, against 0.92 and more). The
closest pair is bank and mushroom: a thin margin.
"""

MIN_RELATIVE_TAIL = (0.8, 0.9)
"""Contrast counts only where the top-ranked rows are about as distant as on all columns.

Where they are not, the subsets spread the ordinary rows ("Trust on small tables").
"""

OVERWHELMING_CONTRAST = (6.0, 10.0)
"""A contrast that counts without stability: chance candidates do not reach it.

Advertisements among noise columns, contrast 30 and stability 0.78, went from 0.85 to 0.92 in AUC
("Few relevant columns among many alike").
"""

TAIL_GAIN = (1.15, 1.4)
"""For a few outliers among many noise columns ("Few relevant columns among many alike").

Pure noise reaches 1.13; generated data on which subsets gain begin at 1.33.
"""

MIN_RELATIVE_CONTRAST = 0.95
"""Below it the tail does not count: covertype, where subsets lose, has a tail of 2.4."""

ON_ONE_COLUMN = (0.3, 0.5)
"""Share of the weights on one two-valued column from which trust falls, and at which it is 0.

It is at most 0.25 where subsets gain, and 0.7 and more on tables where one category makes up the
score: nursery, monks, and rented bikes by the hour, whose holidays would all be flagged.
"""

SHARE_IF_HIDING = 0.3
"""The most that subsets count if they leave out a column with a value far beyond all others.

Enough of the score is then left for its row to stay on top, and 0.3 had most of the gain of
subsets where they gain ("Mixing subsets with the full space", "Isolated values").
"""

KNOWN_GAIN = (0.0, 0.04)
"""How much higher known outliers must rank at least, as a share of the rows."""

MIN_FIRST_ROUND_GAINS = (1.2, 1.12)
"""Gains in contrast and tail; a first round below both is not followed by another."""


@dataclass(frozen=True)
class Trust:
    """Share of the learned subsets in the score, and the measurements behind it.

    The measurements are ``None`` where the share was given, ``known_gain`` also without known
    outliers, ``unseen_tail`` where the trust does not rest on the tail, and the two after it
    where nothing supports the subsets.
    """

    share: float
    contrast: float | None = None
    stability: float | None = None
    tail: float | None = None
    known_gain: float | None = None
    unseen_tail: float | None = None
    on_two_valued: float | None = None
    on_one_column: float | None = None
    n_hidden: int = 0
    """Columns with a value far beyond all others that the subsets leave out."""

    @property
    def rests_on_tail(self) -> bool:
        """Whether the share would be smaller if the tail did not count by itself."""
        if self.contrast is None or self.stability is None or self.tail is None:
            return False
        return self.share > self.confirmed_by(0.0).share

    def confirmed_by(self, unseen_tail: float) -> "Trust":
        """The trust with the tail gain on rows that the subsets have not learned from."""
        assert self.contrast is not None
        assert self.stability is not None
        assert self.tail is not None
        weights = None
        if self.on_two_valued is not None and self.on_one_column is not None:
            weights = DiscreteWeights(self.on_two_valued, self.on_one_column)
        return measured_trust(
            self.contrast,
            self.stability,
            self.tail,
            self.known_gain,
            unseen_tail,
            weights,
            self.n_hidden,
        )

    @property
    def is_hopeless(self) -> bool:
        """Whether a further round of learning cannot help."""
        if self.contrast is None or self.tail is None:
            return False
        return (
            self.share == 0
            and self.contrast < MIN_FIRST_ROUND_GAINS[0]
            and self.tail < MIN_FIRST_ROUND_GAINS[1]
        )

    @property
    def message(self) -> str:
        if self.contrast is None or self.stability is None or self.tail is None:
            return f"learned subsets have {self.share:.0%} of the score, from parameter trust."
        return (
            f"learned subsets have {self.share:.0%} of the score: they raise the contrast "
            f"{self.contrast:.2f} times as much as random subsets of the same size (which counts "
            f"from {CONTRAST_GAIN[0]} on, and fully from {CONTRAST_GAIN[1]}), "
            f"{self.stability:.0%} of the candidates do not depend on the draw, and the top-ranked "
            f"rows are {self.tail:.2f} times as distant from the rest as on all columns."
            f"{self._of_unseen}{self._of_one_column}{self._of_hidden}{self._of_known}"
        )

    @property
    def _of_unseen(self) -> str:
        if self.unseen_tail is None:
            return ""
        return (
            f" On columns learned from other rows they are {self.unseen_tail:.2f} times as distant."
        )

    @property
    def _of_one_column(self) -> str:
        if self.on_one_column is None or self.on_one_column <= ON_ONE_COLUMN[0]:
            return ""
        return (
            f" One column of two values has {self.on_one_column:.0%} of the weights, which counts "
            f"against them from {ON_ONE_COLUMN[0]:.0%} on."
        )

    @property
    def _of_hidden(self) -> str:
        if not self.n_hidden or self.share > SHARE_IF_HIDING:
            return ""
        return (
            f" They count at most {SHARE_IF_HIDING:.0%} because they leave out "
            f"{_columns(self.n_hidden)} with a value far beyond all others."
        )

    @property
    def _of_known(self) -> str:
        if self.known_gain is None:
            return ""
        if self.known_gain <= 0:
            return " Held-out known outliers do not rank reliably higher than on all columns."
        return (
            f" Held-out known outliers rank at least {self.known_gain:.1%} of the rows higher than "
            "on all columns."
        )


def measured_trust(
    contrast: float,
    stability: float,
    tail: float,
    known_gain: float | None = None,
    unseen_tail: float | None = None,
    weights: DiscreteWeights | None = None,
    hidden: int = 0,
) -> Trust:
    support = max(
        _between(stability, *STABILITY), _between(np.log(contrast), *np.log(OVERWHELMING_CONTRAST))
    )
    by_contrast = (
        _between(np.log(contrast), *np.log(CONTRAST_GAIN))
        * support
        * _between(tail, *MIN_RELATIVE_TAIL)
    )
    # A contrast below 1 must not raise the tail, hence the maximum.
    smallest = tail if unseen_tail is None else min(tail, unseen_tail)
    gain = max(smallest, _TINY) / max(1.0, contrast) ** 2
    by_tail = _between(np.log(gain), *np.log(TAIL_GAIN)) * (contrast >= MIN_RELATIVE_CONTRAST)
    by_known = 0.0 if known_gain is None else _between(known_gain, *KNOWN_GAIN)
    on_all, on_one = (None, None) if weights is None else weights
    if on_all is not None and on_one is not None:
        spread = 1 - _between(on_one, *ON_ONE_COLUMN)
        by_contrast, by_tail = by_contrast * spread, by_tail * spread * max(0.0, 1 - on_all)
    share = max(by_contrast, by_tail)
    share = max(min(share, SHARE_IF_HIDING) if hidden else share, by_known)
    return Trust(share, contrast, stability, tail, known_gain, unseen_tail, on_all, on_one, hidden)


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count:,} columns"


def contrast_gain(learned: np.ndarray, random: np.ndarray) -> float:
    """Geometric mean of the components' ``std / mean`` relative to random subsets of their sizes.

    Both arrays have the shape ``(n_components, n_rows)`` and mean 1. The gain is 1 where no rows
    differ in either.
    """
    ratios = [
        # Means are 1, so that std is std / mean.
        (a + _TINY) / (b + _TINY)
        for a, b in zip(learned.std(axis=1), random.std(axis=1), strict=True)
    ]
    return float(np.exp(np.mean(np.log(ratios))))


_TINY = 1e-9
"""Keeps ratios finite where all rows are equal."""

FEWEST_ROWS = 500
"""A hundredth of fewer rows is at most four, which is chance: on bands (339 rows) the tail of some
draws is 2.5, and trust lowers the AUC from 0.81 to 0.71.
"""

TAIL_QUANTILE = 0.99
BULK_QUANTILE = 0.95
"""The highest hundredth is compared with the lower 95 %; rows in between belong to neither."""


def tail_gain(learned: np.ndarray, full: np.ndarray) -> float:
    """Distance of the top-ranked hundredth from the rest, relative to that on all columns."""
    return (_tail(learned) + _TINY) / (_tail(full) + _TINY)


def _tail(scores: np.ndarray) -> float:
    # Both tails are 0 then and their ratio is 1, which neither adds trust by the tail nor limits
    # that by the contrast.
    if scores.size < FEWEST_ROWS:
        return 0.0
    top, rest = (
        scores >= np.quantile(scores, TAIL_QUANTILE),
        scores <= np.quantile(scores, BULK_QUANTILE),
    )
    return float((scores[top].mean() - scores[rest].mean()) / (scores[rest].std() + _TINY))


def candidate_stability(half: np.ndarray, other: np.ndarray, rate: float) -> float:
    """Candidates shared by two scorings of the rows, relative to the geometric mean of both."""
    a, b = (find_candidates(scores, rate).rows for scores in (half, other))
    return float(np.intersect1d(a, b).size / np.sqrt(a.size * b.size))


def _between(value: float, low: float, high: float) -> float:
    return float(np.clip((value - low) / (high - low), 0.0, 1.0))
