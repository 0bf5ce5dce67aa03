"""One scale for columns of all kinds, so that what is equally odd counts equally.

A number is divided by the root of half its range times its standard deviation (:mod:`odefs.tables.encoder.moments`), much as ``scaling="rootstd"`` does: a normal column then has a standard
deviation of the root of ``2 / NORMAL_RANGE``. A category is put as far out as its rarity says: with ``P`` the share of rows whose value is at least as rare, ``ln(1 / P)``, the quantile of an
exponential distribution, but at least one, over the root of ``NORMAL_RANGE``. Numbers of real tables have such tails rather than normal ones, and between a common and a rare category there is
nothing. Where all categories are equally frequent none is odd (``P = 1``), and two rows that differ are 0.7 times as far apart as two ordinary numbers, however many categories there are; a value
that one row in a thousand has counts like a number 4.9 standard deviations out.
"""

from collections.abc import Sequence

import numpy as np

NORMAL_RANGE = 7.0
"""Standard deviations that some thousand values of a normal column span."""


def median_of(values: np.ndarray) -> float:
    """The median, also where the sum of the two middle values is beyond the largest float."""
    with np.errstate(over="ignore"):
        found = float(np.median(values))
    return found if np.isfinite(found) else 2 * float(np.median(values / 2))


def distances_out(counts: Sequence[float] | np.ndarray, rarer: float = 0.0) -> tuple[float, ...]:
    """How far out each of some categories lies, from how often they occur; ``rarer`` is how often all those occur that are rarer than each of them.

    Where there are such, a last number says how far out they lie together.
    """
    occurring = np.asarray(counts, dtype=np.float64)
    total = occurring.sum() + rarer
    if total == 0:
        return tuple(0.0 for _ in counts)
    as_rare = [occurring[occurring <= count].sum() + rarer for count in occurring] + (
        [rarer] if rarer else []
    )
    z = np.log(total / np.maximum(as_rare, 1e-300))
    return tuple(float(v) for v in np.sqrt(np.maximum(1.0, z * z) / NORMAL_RANGE))
