"""Values of columns: the limits between them, and the number of the value that each cell has.

Columns of many values are cut into bins. Neighbouring two-valued columns of which exactly one is on
in every row form one column.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

FEW_VALUES = 20
"""Columns with more values are continuous: their bins are coupled, but are not called rare."""

MAX_CELLS = 2**22
FEWEST_ROWS = 512
"""Rows that are looked at: as many as make ``MAX_CELLS`` cells, at least ``FEWEST_ROWS``."""

COLUMNS_AT_ONCE = 64
"""Columns that are copied side by side before they are sorted: one by one, each copy would read
the whole table.
"""


class Cuts(NamedTuple):
    """How the columns are cut into values."""

    cuts: np.ndarray
    """Ascending limits of each column, shape ``(n_cuts, n_columns)``, padded with infinity."""
    blocks: list[slice]
    """Columns that form one column each: one-hot blocks and single columns."""
    is_discrete: np.ndarray
    """Whether each block has few values."""
    n_values: np.ndarray
    """Number of values of each column."""
    largest_share: np.ndarray
    """Share of the most frequent value of each column."""


def some_rows(rows: np.ndarray) -> np.ndarray:
    """As many rows as are looked at, evenly spaced: rows may be sorted."""
    n_rows = max(FEWEST_ROWS, MAX_CELLS // max(1, rows.shape[1]))
    if n_rows >= len(rows):
        return rows
    return rows[np.linspace(0, len(rows) - 1, n_rows).astype(np.intp)]


def cut_columns(rows: np.ndarray, n_bins: int) -> Cuts:
    """Find the values of each column, and the columns that belong together."""
    found = [_limits(values, n_bins) for values in _sorted_columns(rows)]
    cuts = np.full((max(limits.size for limits, *_ in found), len(found)), np.inf)
    for column, (limits, *_) in enumerate(found):
        cuts[: limits.size, column] = limits
    n_values = np.array([n_values for _, n_values, _ in found])
    blocks = list(_blocks(rows, cuts[0], n_values))
    # At least five rows per value on average: in a small table every column has few values.
    few = min(FEW_VALUES, max(2, rows.shape[0] // 5))
    is_discrete = n_values[[block.start for block in blocks]] <= few
    return Cuts(cuts, blocks, is_discrete, n_values, np.array([share for *_, share in found]))


def _sorted_columns(rows: np.ndarray) -> Iterator[np.ndarray]:
    """The observed values of each column in ascending order."""
    for start in range(0, rows.shape[1], COLUMNS_AT_ONCE):
        columns = rows[:, start : start + COLUMNS_AT_ONCE].T.copy()
        columns.sort(axis=1)
        for values in columns:
            # NaN is sorted last.
            yield values[~np.isnan(values)] if np.isnan(values[-1:]).any() else values


def _limits(values: np.ndarray, n_bins: int) -> tuple[np.ndarray, int, float]:
    """Limits between the values of a column or between its bins, the number of values, and the
    share of the most frequent one. ``values`` is in ascending order.
    """
    first = np.flatnonzero(values[1:] != values[:-1]) + 1
    ends = np.concatenate([[0], first, [values.size]])
    share = float((ends[1:] - ends[:-1]).max()) / max(1, values.size)
    if first.size == 0:
        value = values[0] if values.size else values.dtype.type(0)
        # Two limits around the constant: smaller, equal and larger values have the numbers 0, 1
        # and 2, and ValueTable.by_column calls 0 and 2 rare. A value is above the first limit if
        # it is not smaller than the constant.
        return np.array([np.nextafter(value, -np.inf), value], dtype=np.float64), 1, share
    distinct = np.concatenate([values[:1], values[first]], dtype=np.float64)
    # Halved before they are added, since the sum of two huge values would overflow.
    between = distinct[:-1] / 2 + distinct[1:] / 2
    if distinct.size <= max(n_bins, FEW_VALUES):
        return between, distinct.size, share
    # Limits lie half-way between values: rounding must not decide on which side one falls.
    limits = np.linspace(distinct[0], distinct[-1], n_bins + 1)[1:-1]
    limits = between[np.unique(np.searchsorted(distinct, limits)) - 1]
    return limits, distinct.size, share


def _blocks(rows: np.ndarray, limits: np.ndarray, n_values: np.ndarray) -> Iterator[slice]:
    """Neighbouring columns of which exactly one is on in every row, and all others one by one."""
    n_rows, n_columns = rows.shape
    two_valued = np.flatnonzero(n_values == 2)
    on = np.zeros(rows.shape, dtype=bool)
    on[:, two_valued] = rows[:, two_valued] > limits_for(rows.dtype, limits[two_valued])
    # Columns with other than two values exceed n_rows by themselves and end every block.
    counts = np.full(n_columns, n_rows + 1)
    counts[two_valued] = np.count_nonzero(on[:, two_valued], axis=0)
    ends = np.cumsum(counts)
    start = 0
    while start < n_columns:
        stop = start + 1
        # Exactly one column of a block is on in every row, so that the counts of a block add up to
        # n_rows.
        end = int(np.searchsorted(ends, ends[start] - counts[start] + n_rows))
        is_full = start < end < n_columns and ends[end] - ends[start] + counts[start] == n_rows
        if is_full and (on[:, start : end + 1].sum(axis=1) == 1).all():
            stop = end + 1
        yield slice(start, stop)
        start = stop


def codes_of(rows: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Number of each cell's value in its column; 0 where the cell is missing."""
    codes = np.zeros(rows.shape, dtype=np.int8 if len(cuts) < 128 else np.int16)
    is_above = np.empty(rows.shape, dtype=bool)
    one_byte = is_above.view(np.int8)
    for limits in limits_for(rows.dtype, cuts):
        columns = np.flatnonzero(limits < np.inf)
        # No value is above the padding, which is infinite: where most columns are padded, comparing
        # the others alone is less work.
        if 2 * columns.size < limits.size:
            codes[:, columns] += rows[:, columns] > limits[columns]
        else:
            np.greater(rows, limits, out=is_above)
            codes += one_byte
    return codes


def limits_for(dtype: np.dtype, limits: np.ndarray) -> np.ndarray:
    """Limits in the type of the cells, above which the same cells lie.

    Limits in float64 would have every cell converted. A number of a narrower type is above a limit
    if it is above the largest number of that type which is not.
    """
    with np.errstate(over="ignore"):
        rounded = limits.astype(dtype)
    return np.where(rounded > limits, np.nextafter(rounded, dtype.type(-np.inf)), rounded)
