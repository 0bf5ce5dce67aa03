"""Ranks of arrays larger than memory.

The values are sorted in chunks, then merged in ranges of values, each small enough to be sorted at
once. This takes a single file of 8 bytes per value. It first holds the sorted chunks; the ranks of
a range replace its values, and finally every chunk is restored to the order of the rows.
"""

from collections.abc import Iterator

import numpy as np

from odefs.kernels.row_reductions import row_chunks

PER_RANGE = 2**20
"""Approximate number of values in a range."""
SAMPLED = 64
"""Number of sampled values per range, from which the ends of the ranges are chosen."""


def fill_ranks(values: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Write the descending ranks of ``values`` into ``out`` (int64).

    The highest value has rank 1; equal values share the best rank.
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
        before += _rank_range(negated, out, list(zip(done, ends, strict=True)), before)
        done = ends
    for part in parts:
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
    """Replace the values of a range by their ranks and return their number."""
    slices = [(start, stop) for start, stop in slices if stop > start]
    count = sum(stop - start for start, stop in slices)
    if not count:
        return 0
    if len({float(negated[place]) for start, stop in slices for place in (start, stop - 1)}) == 1:
        # A single value may be too frequent to sort in memory, and needs no sorting.
        for start, stop in slices:
            out[start:stop] = before + 1
        return count
    ordered = np.sort(np.concatenate([negated[start:stop] for start, stop in slices]))
    for start, stop in slices:
        out[start:stop] = before + 1 + np.searchsorted(ordered, np.array(negated[start:stop]))
    return count
