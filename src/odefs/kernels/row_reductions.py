"""Reductions over one number per row, computed in chunks.

The values may lie in a file (:mod:`odefs.system.tempfiles`) and exceed memory. Chunks have one
fixed length and are merged in order, so a result depends neither on where the values are stored nor
on which thread computed them.
"""

from collections.abc import Callable, Iterator

import numpy as np

from odefs.kernels.chunking import row_blocks
from odefs.system.tempfiles import FileArray

CHUNK_ROWS = 2**20
"""Part of every result: another length would merge other chunks and change the last bits."""


def row_chunks(n: int) -> Iterator[slice]:
    """Yield slices of ``CHUNK_ROWS`` rows that cover ``n`` values in order."""
    return row_blocks(n, CHUNK_ROWS)


def count_and_mean(values: np.ndarray) -> tuple[int, float]:
    """Return the number of values that are not NaN and their mean; zeros if there are none."""
    count, mean = 0, 0.0
    for known in _without_nan(values):
        total = count + known.size
        with np.errstate(over="ignore"):
            here = float(known.mean())
        # The first chunk as NumPy has it: short arrays get the bits of numpy.mean.
        mean = mean + (here - mean) * (known.size / total) if count else here
        count = total
    return count, mean


def mean_and_std(values: np.ndarray) -> tuple[int, float, float]:
    """Return the count, mean and standard deviation of the values that are not NaN.

    Chunks are merged with the update of Chan, Golub and LeVeque.
    """
    count, mean, std = 0, 0.0, 0.0
    for known in _without_nan(values):
        total = count + known.size
        share = known.size / total
        with np.errstate(over="ignore", invalid="ignore"):
            here, spread = float(known.mean()), float(known.std())
        if count:
            delta = here - mean
            variance = (
                std * std * (1 - share)
                + spread * spread * share
                + delta * delta * share * (1 - share)
            )
            mean, std = mean + delta * share, float(np.sqrt(variance))
        else:
            mean, std = here, spread
        count = total
    return count, mean, std


def _without_nan(values: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the values of each chunk that are not NaN."""
    for part in row_chunks(values.size):
        numbers = np.asarray(values[part])
        known = numbers[~np.isnan(numbers)]
        if known.size:
            yield known


def percentile(values: np.ndarray, q: float) -> float:
    """Return ``numpy.percentile(values, q)``; a file is not read into memory. No NaN allowed."""
    if _is_small(values):
        return float(np.percentile(values, q))
    return _percentile(q, values.size, lambda k: order_statistic(values, k))


def percentile_of_known(values: np.ndarray, count: int, q: float) -> float:
    """Return ``numpy.nanpercentile(values, q)``; ``count`` is the number of values without NaN."""
    if _is_small(values):
        return float(np.nanpercentile(values, q))
    # NaN sorts above every number.
    return _percentile(q, count, lambda k: order_statistic(values, k))


def negated_percentile(values: np.ndarray, q: float) -> float:
    """Return ``numpy.percentile(-values, q)``, also without reading a file into memory."""
    if _is_small(values):
        return float(np.percentile(-values, q))
    return _percentile(q, values.size, lambda k: -order_statistic(values, values.size - 1 - k))


def median(values: np.ndarray) -> float:
    """Return ``numpy.median(values)``, also without reading a file into memory."""
    if _is_small(values):
        return float(np.median(values))
    middle = {(values.size - 1) // 2, values.size // 2}
    return float(np.mean([order_statistic(values, k) for k in middle]))


def _is_small(values: np.ndarray) -> bool:
    return not isinstance(values, FileArray) or values.size <= CHUNK_ROWS


def _percentile(q: float, size: int, at: Callable[[int], float]) -> float:
    """Interpolate between the two neighbouring order statistics, with NumPy's rounding."""
    place = (size - 1) * (q / 100)
    below = int(np.floor(place))
    low, high = at(below), at(min(below + 1, size - 1))
    share = place - below
    # From the nearer end, as NumPy interpolates: the last bit depends on it.
    return low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share)


def counts_above(values: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return for each limit how many values exceed it."""
    order = np.argsort(limits, kind="stable")
    ordered = limits[order]
    above = np.zeros(limits.size + 1, dtype=np.int64)
    for part in row_chunks(values.size):
        above += np.bincount(
            np.searchsorted(ordered, np.asarray(values[part])), minlength=above.size
        )
    found = np.empty(limits.size, dtype=np.int64)
    found[order] = values.size - np.cumsum(above[:-1])
    return found


def order_statistic(values: np.ndarray, k: int) -> float:
    """Return the value at index ``k`` of the sorted values, 16 bits at a time in four passes."""
    found, bits = np.uint64(0), 0
    for shift in (48, 32, 16, 0):
        counts = np.zeros(2**16, dtype=np.int64)
        for part in row_chunks(values.size):
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
    """Map floats to 64-bit keys with the same order; -0.0 equals 0.0."""
    # Adding 0.0 turns -0.0 into 0.0.
    bits = (values + 0.0).view(np.uint64)
    # Floats sort like integers if the sign bit is flipped, and all bits of negative numbers.
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _from_sortable(key: np.uint64) -> float:
    bits = key ^ _SIGN if key & _SIGN else ~key
    return float(np.array([bits], dtype=np.uint64).view(np.float64)[0])


def fill(out: np.ndarray, function: Callable[[slice], np.ndarray]) -> np.ndarray:
    """Assign ``out[part] = function(part)`` for every chunk."""
    for part in row_chunks(out.size):
        out[part] = function(part)
    return out


PER_RANGE = 2**20
"""Approximate number of values in a range."""
SAMPLED = 64
"""Number of sampled values per range, from which the ends of the ranges are chosen."""


def descending_ranks(values: np.ndarray) -> np.ndarray:
    """Return 1 for the highest value, and so on; equal values share the best rank."""
    # Need not be stable: equal values get the same rank.
    order = np.argsort(-values)
    ordered = values[order]
    is_first = np.ones(values.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    ranks = np.empty(values.size, dtype=np.int64)
    ranks[order] = np.repeat(starts + 1, np.diff(starts, append=values.size))
    return ranks


def fill_ranks(values: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Write the descending ranks of ``values`` into ``out`` (int64).

    The highest value has rank 1; equal values share the best rank. The values are sorted in chunks,
    then merged in ranges of values, each small enough to be sorted at once. This takes a single
    file of 8 bytes per value. It first holds the sorted chunks; the ranks of a range replace its
    values, and finally every chunk is restored to the order of the rows.
    """
    parts = list(row_chunks(values.size))
    negated = out.view(np.float64)
    for part in parts:
        negated[part] = np.sort(-np.asarray(values[part], dtype=np.float64))
    done = [part.start for part in parts]
    before = 0
    for end in _range_ends(values):
        ends = [
            place + int(np.searchsorted(negated[place : part.stop], end, side="right"))
            for place, part in zip(done, parts, strict=True)
        ]
        slices = [(start, stop) for start, stop in zip(done, ends, strict=True) if stop > start]
        before += _rank_range(negated, out, slices, before)
        done = ends
    for part in parts:
        # Sorted again instead of kept: the order would need a second file of the same size.
        order = np.argsort(-np.asarray(values[part], dtype=np.float64), kind="stable")
        ranks = np.empty(order.size, dtype=np.int64)
        ranks[order] = out[part]
        out[part] = ranks
    return out


def _range_ends(values: np.ndarray) -> Iterator[float]:
    """Yield the upper ends of the ranges of negated values.

    A frequent value gets a range of its own, which starts where the range before it ends.
    """
    size = values.size
    n_ranges = -(-size // PER_RANGE)
    # Only the memory depends on the sample; ranks do not.
    rows = np.unique(np.random.default_rng(0).integers(0, size, min(size, SAMPLED * n_ranges)))
    sample = np.sort(-np.asarray(values[rows], dtype=np.float64))
    chosen = np.unique(sample[SAMPLED - 1 :: SAMPLED])
    for end in chosen.tolist():
        yield float(np.nextafter(end, -np.inf))
        yield end
    yield np.inf


def _rank_range(
    negated: np.ndarray, out: np.ndarray, slices: list[tuple[int, int]], before: int
) -> int:
    """Replace the values of a range by their ranks and return their number.

    ``slices`` are where the sorted chunks hold values of the range; none is empty.
    """
    count = sum(stop - start for start, stop in slices)
    if not count:
        return 0
    ends = [place for start, stop in slices for place in (start, stop - 1)]
    if len(set(negated[ends].tolist())) == 1:
        # A single value may be too frequent to sort in memory, and needs no sorting.
        for start, stop in slices:
            out[start:stop] = before + 1
        return count
    ordered = np.sort(np.concatenate([negated[start:stop] for start, stop in slices]))
    for start, stop in slices:
        out[start:stop] = before + 1 + np.searchsorted(ordered, np.array(negated[start:stop]))
    return count
