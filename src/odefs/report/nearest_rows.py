"""The nearest ordinary row of each listed row, for comparison side by side.

Nearest by the encoded features: centred, divided by their spread and clipped, so that one extreme
value does not decide alone. Hidden columns are left out, because a neighbour could reveal their
values.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from odefs.report.columns import collect_values, sample_rows
from odefs.report.scores import plain
from odefs.system.threads import one_blas_thread
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import Extent

MAX_CANDIDATES, MIN_CANDIDATES = 20_000, 1_000
"""Ordinary rows that are searched; of larger tables a random sample."""
MAX_PRODUCTS = 2e9
"""Limit on listed rows times ordinary rows times features, which bounds the time."""
SCALE_ROWS = 2_000
BOUND = 6.0
CLEAR_DIFFERENCE = 1.0
"""Numbers differ clearly if they are this far apart, in units of the column's spread."""


def collect_nearest(
    detection: TableDetection,
    extent: Extent,
    rows: Sequence[int],
    names: Sequence[object],
    columns: Sequence[str],
) -> dict[str, Any] | None:
    """Return the neighbours and, for each row, the index of its neighbour and what differs.

    ``differs`` are indices of ``columns``, the largest difference first. None if there is no
    ordinary row or no feature to compare.
    """
    drawn = extent.drawn
    ordinary = drawn[~detection.is_outlier[drawn] & ~np.isnan(detection.scores[drawn])]
    encoder = detection.encoder
    is_hidden = np.array([name in detection.hidden for name in encoder.columns], dtype=bool)
    used = np.flatnonzero(~is_hidden[encoder.sources])
    if ordinary.size < 2 or not used.size or not len(rows):
        return None
    room = int(MAX_PRODUCTS // (len(rows) * used.size))
    candidates = sample_rows(ordinary, min(MAX_CANDIDATES, max(MIN_CANDIDATES, room)), seed=4)
    own = np.array(rows, dtype=np.intp)
    sample = sample_rows(candidates, SCALE_ROWS, seed=5)

    def cells_of(numbers: np.ndarray) -> np.ndarray:
        # A missing number counts as what is usual in its column.
        return encoder.filled(detection.X[numbers])[:, used]

    middle, spread = _scaling(cells_of(sample))
    of_rows = _scaled(cells_of(own), middle, spread)
    of_candidates = _scaled(cells_of(candidates), middle, spread)
    found = _nearest(of_rows, of_candidates, own, candidates)
    apart = np.zeros((len(rows), encoder.sources.size))
    apart[:, used] = (of_rows - of_candidates[found]) ** 2
    kept, index = np.unique(candidates[found], return_inverse=True)
    return {
        "candidates": int(candidates.size),
        "is_sample": bool(candidates.size < extent.n_rows - extent.n_flagged),
        "rows": [
            {"name": plain(names[row]), "score": float(detection.scores[row])} for row in kept
        ],
        "values": collect_values(detection, columns, kept.tolist()) if columns else [],
        "index": [int(place) for place in index],
        "differs": _differs(
            detection, own, candidates[found], np.sqrt(encoder.by_column(apart)), columns
        ),
    }


def _nearest(
    rows: np.ndarray, candidates: np.ndarray, own: np.ndarray, numbers: np.ndarray
) -> np.ndarray:
    """Return the position of the nearest candidate of each row, which is never the row itself."""
    size = (candidates**2).sum(axis=1)
    found = np.empty(len(rows), dtype=np.intp)
    # The page has the same bytes for any number of threads.
    with one_blas_thread():
        for start in range(0, len(rows), 64):
            part = slice(start, start + 64)
            # Squared distances less |row|^2, which is the same for all candidates of a row.
            distances = size - 2 * rows[part] @ candidates.T
            distances[own[part][:, None] == numbers] = np.inf
            found[part] = distances.argmin(axis=1)
    return found


def _differs(
    detection: TableDetection,
    rows: np.ndarray,
    others: np.ndarray,
    apart: np.ndarray,
    columns: Sequence[str],
) -> list[list[int]]:
    """Return for each row the columns with clearly different values, the largest first."""
    place = {name: k for k, name in enumerate(detection.encoder.columns)}
    sizes = np.zeros((len(rows), len(columns)))
    for k, name in enumerate(columns):
        column = detection.table[name]
        data = column.category_codes if column.kind == "category" else column.values
        one, other = data[rows], data[others]
        # Missing numbers are NaN, which is unlike itself.
        is_other = (one != other) & ~((one != one) & (other != other))
        size = apart[:, place[name]]
        if column.kind in ("number", "time"):
            is_missing = (one != one) | (other != other)
            is_other &= (size >= CLEAR_DIFFERENCE) | is_missing
        # Different values can have equal features: the small term keeps them in the list, at its
        # end.
        sizes[:, k] = np.where(is_other, size + 1e-9, 0.0)
    order = np.argsort(-sizes, axis=1, kind="stable")
    return [
        [int(k) for k in line[: np.count_nonzero(size)]]
        for line, size in zip(order, sizes, strict=True)
    ]


def _scaling(sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the median and the spread of each feature; infinite where it does not vary."""
    blank = np.isnan(sample)
    # NumPy warns about the median of a column without values.
    known = np.where(blank.all(axis=0), 0.0, sample)
    middle = np.nan_to_num(np.nanmedian(known, axis=0))
    filled = np.where(blank, middle, sample)
    low, high = np.quantile(filled, [0.05, 0.95], axis=0)
    two_values = ((filled == low) | (filled == high)).all(axis=0)
    # 3.29 is the distance of these quantiles in standard deviations of a normal distribution.
    # Those of a column of two values are the values themselves, however rare one of them is.
    spread = np.where((high > low) & ~two_values, (high - low) / 3.29, filled.std(axis=0))
    return middle, np.where(spread > 0, spread, np.inf)


def _scaled(X: np.ndarray, middle: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return scaled features; missing cells are at the median."""
    scaled = (np.asarray(X, dtype=float) - middle) / spread
    return np.clip(np.nan_to_num(scaled, nan=0.0), -BOUND, BOUND)
