"""Ranks of numbers that are too many for memory: sorted stretch by stretch, then merged in ranges of values, each small enough to be sorted at once.

One file of 8 bytes a number is all it takes. It first holds the sorted stretches; the ranks of a range take the place of its numbers, and at the end
every stretch is brought back into the order of the rows.
"""

from collections.abc import Iterator

import numpy as np

from odefs.kernels.row_reductions import stretches

PER_RANGE = 2**20
"""Numbers in a range of values, about."""
SAMPLED = 64
"""Sampled numbers for each range, by which its ends are chosen."""


def fill_ranks(values: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Write 1 for the highest number into ``out`` (int64), and so on; equal numbers share the best rank."""
    parts = list(stretches(values.size))
    negated = out.view(np.float64)
    for part in parts:
        negated[part] = np.sort(-np.asarray(values[part], dtype=np.float64))
    done = [part.start for part in parts]
    before = 0
    for end in _ends(values):
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


def _ends(values: np.ndarray) -> Iterator[float]:
    """Upper ends of the ranges of negated numbers. A number that is frequent is a range of its own, for it begins where the one before ends."""
    size = values.size
    n_ranges = -(-size // PER_RANGE)
    rows = np.unique(np.random.default_rng(0).integers(0, size, min(size, SAMPLED * n_ranges)))
    sample = np.sort(-np.asarray(values[rows], dtype=np.float64))
    chosen = np.unique(sample[SAMPLED - 1 :: SAMPLED])
    for end in chosen.tolist():
        yield float(np.nextafter(end, -np.inf))
        yield end
    yield np.inf


def _rank_range(negated: np.ndarray, out: np.ndarray, slices: list[tuple[int, int]], before: int) -> int:
    """Replace the numbers of a range by their ranks; how many there are."""
    slices = [(start, stop) for start, stop in slices if stop > start]
    count = sum(stop - start for start, stop in slices)
    if not count:
        return 0
    if len({float(negated[place]) for start, stop in slices for place in (start, stop - 1)}) == 1:
        # One number, however frequent.
        for start, stop in slices:
            out[start:stop] = before + 1
        return count
    ordered = np.sort(np.concatenate([negated[start:stop] for start, stop in slices]))
    for start, stop in slices:
        out[start:stop] = before + 1 + np.searchsorted(ordered, np.array(negated[start:stop]))
    return count
