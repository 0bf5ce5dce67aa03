"""Scores in the report: histogram, and thresholds with exact counts.

Flagged rows come first in order of descending score, so that a count determines which they are.
"""

from typing import overload

import numpy as np

from odefs.kernels.row_reductions import counts_above, median, row_chunks
from odefs.tables.messages.reasons import Cell

BINS = 60
STEPS = 400
LONG_TAIL = 30
"""The axis is logarithmic if the largest score exceeds the median by this factor."""


def collect_scores(
    scores: np.ndarray, is_outlier: np.ndarray, threshold: float
) -> dict[str, object]:
    """Return histogram and thresholds.

    ``choices`` are pairs of threshold and number of rows above it, ``chosen`` is the index of the
    current one.
    """
    low, middle, high = float(scores.min()), median(scores), float(scores.max())
    scale = "log" if low > 0 and high > LONG_TAIL * middle else "linear"
    if high <= low:
        edges = np.array([low - 0.5, low + 0.5])
    else:
        edges = _spaced(low, high, min(BINS, max(10, scores.size // 10)) + 1, scale)
    short = short_threshold(scores, is_outlier, threshold)
    edges = with_edge_at(short, edges, scale)
    spread = _spaced(low, high, STEPS, scale) if high > low else np.array([low])
    offered = sorted({_rounded(value, high - low, scale) for value in spread} | {short})
    limits = bin_limits(edges, short)
    # Scores of a table larger than memory are in a file, and are read in parts.
    counts = sum(np.histogram(scores[part], limits)[0] for part in row_chunks(scores.size))
    above = counts_above(scores, np.array(offered))
    return {
        "lowest": low,
        "median": middle,
        "highest": high,
        "threshold": float(threshold),
        "short_threshold": short,
        "scale": scale,
        "edges": [float(edge) for edge in edges],
        "counts": [int(count) for count in np.atleast_1d(counts)],
        "choices": [[value, int(count)] for value, count in zip(offered, above, strict=True)],
        "chosen": offered.index(short),
    }


def short_threshold(scores: np.ndarray, is_outlier: np.ndarray, threshold: float) -> float:
    """Return the shortest decimal number that flags the same rows as ``threshold``."""
    above, below = np.inf, -np.inf
    for part in row_chunks(scores.size):
        here, flags = np.asarray(scores[part]), np.asarray(is_outlier[part])
        above = min(above, float(here[flags].min(initial=np.inf)))
        below = max(below, float(here[~flags].max(initial=-np.inf)))
    for digits in range(1, 17):
        short = round(float(threshold), digits)
        # Rows are flagged above the threshold, so it may equal the highest score without a flag.
        if below <= short < above:
            return short
    return float(threshold)


@overload
def plain(value: float | None) -> float | None: ...
@overload
def plain(value: object) -> Cell: ...
def plain(value: object) -> Cell:
    """Return a name or cell for JSON."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return str(value)


def _spaced(low: float, high: float, count: int, scale: str) -> np.ndarray:
    spaced = np.geomspace(low, high, count) if scale == "log" else np.linspace(low, high, count)
    # Rounding in geomspace must not leave the lowest or highest score outside.
    spaced[0], spaced[-1] = low, high
    return spaced


def with_edge_at(threshold: float, edges: np.ndarray, scale: str) -> np.ndarray:
    """Move the nearest inner edge to the threshold, so that no bin has flagged rows and others."""
    if edges.size < 3 or not edges[0] < threshold < edges[-1]:
        return edges
    inner = edges[1:-1]
    distances = np.abs(np.log(inner / threshold) if scale == "log" else inner - threshold)
    moved = edges.copy()
    moved[1 + int(distances.argmin())] = threshold
    return moved


def bin_limits(edges: np.ndarray, threshold: float) -> np.ndarray:
    """Return edges to count by, which leave rows at the threshold in the bin below it.

    They are not flagged. The outer edges stay, or rows with the lowest score would be in no bin.
    """
    limits = edges.copy()
    limits[1:-1] = np.where(edges == threshold, np.nextafter(edges, edges[-1]), edges)[1:-1]
    return limits


def _rounded(value: float, span: float, scale: str) -> float:
    """Round to few digits that still distinguish neighbours."""
    size = value if scale == "log" else span
    digits = int(np.clip(3 - np.floor(np.log10(size)) if size > 0 else 3, 0, 15))
    return round(float(value), digits)


def mean_agreement(
    agreement: np.ndarray | None, is_outlier: np.ndarray
) -> dict[str, float | None] | None:
    """Return the mean agreement of components on flagged rows and on others, if known."""
    if agreement is None:
        return None
    counts, sums = np.zeros(2), np.zeros(2)
    for part in row_chunks(agreement.size):
        flags = np.asarray(is_outlier[part])
        for place, chosen in enumerate((flags, ~flags)):
            counts[place] += np.count_nonzero(chosen)
            sums[place] += np.asarray(agreement[part])[chosen].sum()
    flagged, others = (
        float(total / n) if n else None for total, n in zip(sums, counts, strict=True)
    )
    return {"flagged": flagged, "others": others}
