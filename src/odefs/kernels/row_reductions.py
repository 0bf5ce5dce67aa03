"""Reductions over one number per row, a stretch at a time.

The numbers may lie in a file (:mod:`odefs.system.file_arrays`) and be too many for memory. Stretches have one length and are merged in order, so a result depends on
neither where the numbers are kept nor who computed them.
"""

from collections.abc import Callable, Iterator

import numpy as np

from odefs.kernels.chunking import row_blocks
from odefs.system.file_arrays import FileArray

STRETCH = 2**20


def stretches(n: int) -> Iterator[slice]:
    """Slices that cover ``n`` numbers in order."""
    return row_blocks(n, STRETCH)


def mean_of(values: np.ndarray) -> tuple[int, float]:
    """How many numbers are not NaN, and their mean; zeros where there are none."""
    count, mean = 0, 0.0
    for known in _known(values):
        total = count + known.size
        here = float(known.mean())
        mean = mean + (here - mean) * (known.size / total) if count else here
        count = total
    return count, mean


def mean_and_std(values: np.ndarray) -> tuple[int, float, float]:
    """The same with the standard deviation (Chan, Golub and LeVeque's update)."""
    count, mean, std = 0, 0.0, 0.0
    for known in _known(values):
        total = count + known.size
        share = known.size / total
        with np.errstate(over="ignore", invalid="ignore"):
            here, spread = float(known.mean()), float(known.std())
        if count:
            delta = here - mean
            variance = std * std * (1 - share) + spread * spread * share + delta * delta * share * (1 - share)
            mean, std = mean + delta * share, float(np.sqrt(variance))
        else:
            mean, std = here, spread
        count = total
    return count, mean, std


def _known(values: np.ndarray) -> Iterator[np.ndarray]:
    """The numbers of each stretch that are not NaN."""
    for part in stretches(values.size):
        numbers = np.asarray(values[part])
        known = numbers[~np.isnan(numbers)]
        if known.size:
            yield known


def percentile(values: np.ndarray, q: float) -> float:
    """``numpy.percentile(values, q)`` of numbers without NaN; those in a file are not read into memory."""
    if _is_small(values):
        return float(np.percentile(values, q))
    return _percentile(q, values.size, lambda k: order_statistic(values, k))


def negated_percentile(values: np.ndarray, q: float) -> float:
    """``numpy.percentile(-values, q)``, likewise."""
    if _is_small(values):
        return float(np.percentile(-values, q))
    return _percentile(q, values.size, lambda k: -order_statistic(values, values.size - 1 - k))


def median(values: np.ndarray) -> float:
    """``numpy.median(values)``, likewise."""
    if _is_small(values):
        return float(np.median(values))
    middle = {(values.size - 1) // 2, values.size // 2}
    return float(np.mean([order_statistic(values, k) for k in middle]))


def _is_small(values: np.ndarray) -> bool:
    return not isinstance(values, FileArray) or values.size <= STRETCH


def _percentile(q: float, size: int, at: Callable[[int], float]) -> float:
    """Between the two numbers that stand around a place, with numpy's rounding."""
    place = (size - 1) * (q / 100)
    below = int(np.floor(place))
    low, high = at(below), at(min(below + 1, size - 1))
    share = place - below
    return low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share)


def counts_above(values: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """For each limit how many numbers are higher."""
    order = np.argsort(limits, kind="stable")
    ordered = limits[order]
    above = np.zeros(limits.size + 1, dtype=np.int64)
    for part in stretches(values.size):
        above += np.bincount(np.searchsorted(ordered, np.asarray(values[part])), minlength=above.size)
    found = np.empty(limits.size, dtype=np.int64)
    found[order] = values.size - np.cumsum(above[:-1])
    return found


def order_statistic(values: np.ndarray, k: int) -> float:
    """The number that stands at place ``k`` once all are sorted, found 16 bits at a time in four passes."""
    found, bits = np.uint64(0), 0
    for shift in (48, 32, 16, 0):
        counts = np.zeros(2**16, dtype=np.int64)
        for part in stretches(values.size):
            keys = _sortable(np.asarray(values[part], dtype=np.float64))
            if bits:
                keys = keys[(keys >> np.uint64(64 - bits)) == (found >> np.uint64(64 - bits))]
            digits = (keys >> np.uint64(shift)) & np.uint64(0xFFFF)
            counts += np.bincount(digits.astype(np.int64), minlength=2**16)
        ends = np.cumsum(counts)
        digit = int(np.searchsorted(ends, k, side="right"))
        k -= int(ends[digit] - counts[digit])
        found |= np.uint64(digit) << np.uint64(shift)
        bits += 16
    return _from_sortable(found)


_SIGN = np.uint64(1 << 63)


def _sortable(values: np.ndarray) -> np.ndarray:
    """64 bits that sort as the numbers do; -0.0 counts as 0.0."""
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _from_sortable(key: np.uint64) -> float:
    bits = key ^ _SIGN if key & _SIGN else ~key
    return float(np.array([bits], dtype=np.uint64).view(np.float64)[0])


def fill(out: np.ndarray, function: Callable[[slice], np.ndarray]) -> np.ndarray:
    """``out[part] = function(part)`` for every stretch."""
    for part in stretches(out.size):
        out[part] = function(part)
    return out
