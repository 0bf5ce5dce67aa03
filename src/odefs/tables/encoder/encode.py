"""What an encoder has learned about a column, and the encoding of cells as a float32 matrix.

The matrix is filled in blocks of rows: filled column by column, a tall matrix would pass through
memory once for each column.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from odefs.kernels.chunking import row_blocks
from odefs.scaling import TAIL_SIGMAS
from odefs.system.threads import available_threads, share_tasks
from odefs.tables.frames.columns import SECONDS_PER_DAY, Column, Kind

RARE = "(rare)"
MISSING = "(missing)"
MAX_ENCODED = 1e6
"""Encoded numbers are clipped here, in their own unit, so that squares stay finite in float32."""


@dataclass(frozen=True)
class ColumnSpec:
    """One input column as it was in training.

    Model files store it field by field. A new field needs a default, which columns in older files
    get; without a default these files could not be read.
    """

    name: str
    kind: Kind
    style: str
    levels: tuple[str, ...]
    """Categories with their own column."""
    grouped: int
    """Number of rarer categories that share a column."""
    fill: float
    """The median, which replaces missing numbers."""
    fill_level: str
    """The most common category, which replaces missing ones."""
    units: tuple[float, ...]
    """Scale of the value and of the time of day; for booleans and categories, the distance of each
    value (:func:`odefs.tables.encoder.statistics.distances_out`)."""
    marks_missing: bool
    by_hour: bool
    low: float
    high: float
    missing_share: float
    sigma: float = 0.0
    """Robust standard deviation, from which the tails begin; 0 for a column without tails."""
    centres: tuple[float, ...] = ()
    """With groups of rows: the centre of each group, and last that of the whole table."""
    scales: tuple[float, ...] = ()
    """The same for the scale, by which values relative to the centre are divided."""
    group_units: tuple[tuple[float, ...], ...] = ()
    """With groups of rows: for each group, and last for the whole table, the distance of each value
    (:mod:`odefs.tables.encoder.group_statistics`)."""
    group_usual: tuple[tuple[float, float], ...] = ()
    """What rows of each group usually have: both quartiles, or the place of the most frequent value
    (:func:`value_places`) and its share."""
    cuts: tuple[float, ...] = ()
    """Cut points between the values of a number or boolean, ascending
    (:mod:`odefs.tables.encoder.distribution`); empty in files of older versions."""
    below: tuple[int, ...] = ()
    """Training values at or below each cut point, and last the number of all that were counted."""

    def feature_names(self) -> list[str]:
        if self.kind == "category" and not self.group_units:
            rare = [RARE] if self.grouped else []
            missing = [MISSING] if self.marks_missing else []
            return [f"{self.name}={level}" for level in (*self.levels, *rare, *missing)]
        names = [self.name]
        if self.by_hour:
            names.append(f"{self.name} (time of day)")
        return [*names, f"{self.name}={MISSING}"] if self.marks_missing else names


def drawn_in(values: np.ndarray, median: float, sigma: float) -> np.ndarray:
    """Values relative to the median, those beyond ``TAIL_SIGMAS`` deviations drawn in.

    There, ``k`` deviations become ``TAIL_SIGMAS (1 + log(k / TAIL_SIGMAS))``, as with
    ``scaling="robust"``.
    """
    # The difference of two huge values is infinite, and so would be its logarithm.
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        centred = np.clip(values - median, -largest, largest)
    reach = TAIL_SIGMAS * sigma
    if not 0 < reach < np.inf:
        return centred
    far = np.flatnonzero(np.abs(centred) > reach)
    # As a difference of logarithms: the quotient may overflow.
    beyond = np.log(np.abs(centred[far])) - np.log(reach)
    centred[far] = np.sign(centred[far]) * reach * (1 + beyond)
    return centred


ENCODED = np.dtype(np.float32)
BLOCK_ROWS = 2**14
"""Adjacent columns share cache lines, which stay in cache for this many rows."""
TASKS_PER_THREAD = 4
"""With fewer blocks than this, columns are distributed over the threads, too."""

Filler = Callable[[slice, np.ndarray], None]
"""Writes some rows of a column into an array of zeros."""


def encoded(
    specs: Sequence[ColumnSpec],
    columns: Sequence[Column],
    n_rows: int,
    groups: np.ndarray | None = None,
    keep_missing: bool = False,
) -> np.ndarray:
    """Return the matrix with one or several columns for each input column.

    ``groups`` are the groups of the rows, if values are compared within groups. With
    ``keep_missing``, missing numbers, booleans and times are NaN.
    """
    widths = [len(spec.feature_names()) for spec in specs]
    # Zeros, because categories write only the cell of their value.
    out = np.zeros((n_rows, sum(widths)), dtype=ENCODED)
    places = [
        slice(end - width, end) for end, width in zip(accumulate(widths), widths, strict=True)
    ]
    fillers = [_filler(spec, column, groups) for spec, column in zip(specs, columns, strict=True)]
    n_threads, blocks = available_threads(), list(row_blocks(n_rows, BLOCK_ROWS))
    n_stretches = -(-TASKS_PER_THREAD * n_threads // max(1, len(blocks)))

    def fill(task: tuple[slice, slice]) -> None:
        rows, some = task
        for spec, column, filler, place in zip(
            specs[some], columns[some], fillers[some], places[some], strict=True
        ):
            cells = out[rows, place]
            filler(rows, cells)
            if keep_missing and spec.kind != "category":
                width = cells.shape[1] - spec.marks_missing
                cells[column.missing[rows], :width] = np.nan

    share_tasks(
        fill,
        [(rows, some) for rows in blocks for some in _stretches(len(specs), n_stretches)],
        n_threads,
    )
    return out


def usual_cells(specs: Sequence[ColumnSpec]) -> np.ndarray:
    """The cells of a row in which every number, boolean and time is missing and replaced.

    Relative to the median, and within groups, a replaced cell is 0.
    """
    cells = [np.zeros(len(spec.feature_names())) for spec in specs]
    for spec, own in zip(specs, cells, strict=True):
        if spec.kind == "boolean" and not spec.group_units:
            no, yes = spec.units[:2]
            own[0] = spec.fill * np.hypot(no, yes)
        elif spec.by_hour:
            own[1] = spec.fill % SECONDS_PER_DAY / spec.units[1]
    return np.concatenate(cells)


def _stretches(size: int, n_stretches: int) -> list[slice]:
    """Split a sequence into at most ``n_stretches`` slices of about the same length."""
    length = max(1, -(-size // n_stretches))
    return [slice(start, start + length) for start in range(0, size, length)]


def _filler(spec: ColumnSpec, column: Column, groups: np.ndarray | None) -> Filler:
    if groups is not None and spec.group_units:
        return _of_rarities(spec, column, groups)
    if groups is not None and spec.centres:
        return _of_compared_numbers(spec, column, groups)
    return _of_categories(spec, column) if spec.kind == "category" else _of_numbers(spec, column)


def within_group(spec: ColumnSpec, values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Values relative to the centre of their group, in units of its scale."""
    centres, scales = np.array(spec.centres), np.array(spec.scales)
    with np.errstate(over="ignore"):
        return np.asarray((values - centres[groups]) / scales[groups])


def _of_compared_numbers(spec: ColumnSpec, column: Column, groups: np.ndarray) -> Filler:
    """Like :func:`_of_numbers`, relative to the group; the time of day is that of the table."""

    def fill(rows: slice, out: np.ndarray) -> None:
        missing, values = column.missing[rows], column.values[rows]
        compared = np.where(missing, 0.0, within_group(spec, values, groups[rows]))
        with np.errstate(over="ignore"):
            scaled = drawn_in(compared, 0.0, spec.sigma) / spec.units[0]
        out[:, 0] = np.clip(scaled, -MAX_ENCODED, MAX_ENCODED)
        if spec.by_hour:
            known = np.where(missing, spec.fill, values)
            out[:, 1] = known % SECONDS_PER_DAY / spec.units[1]
        if spec.marks_missing:
            out[:, -1] = missing * spec.units[-1]

    return fill


def _of_rarities(spec: ColumnSpec, column: Column, groups: np.ndarray) -> Filler:
    """Fill one column with the distance of each value in its group; 0 for missing values."""
    # The last place, -1, is that of missing values.
    distances = np.pad(np.array(spec.group_units, dtype=ENCODED), ((0, 0), (0, 1)))
    places, _ = value_places(spec, column)

    def fill(rows: slice, out: np.ndarray) -> None:
        out[:, 0] = distances[groups[rows], places[rows]]
        if spec.marks_missing:
            out[:, -1] = column.missing[rows] * spec.units[-1]

    return fill


def value_places(spec: ColumnSpec, column: Column) -> tuple[np.ndarray, int]:
    """Place of each cell among the values of a boolean or category, -1 if missing; their number.

    The last place of a category is that of rare and unseen values.
    """
    if spec.kind == "boolean":
        known = np.where(column.missing, 0.0, column.values) != 0
        return np.where(column.missing, -1, known.astype(np.int64)), 2
    place = {level: code for code, level in enumerate(spec.levels)}
    rare = len(spec.levels)
    places = np.array([*(place.get(level, rare) for level in column.levels), -1], dtype=np.int64)
    return places[column.category_codes], rare + 1


def _of_numbers(spec: ColumnSpec, column: Column) -> Filler:
    def fill(rows: slice, out: np.ndarray) -> None:
        missing, values = column.missing[rows], column.values[rows]
        if missing.any():
            values = np.where(missing, spec.fill, values)
        if spec.kind == "boolean":
            # As far apart as two categories with these distances, which have a column each.
            no, yes = spec.units[:2]
            out[:, 0] = values * np.hypot(no, yes)
        else:
            # Relative to the median: float32 has too few digits for seconds since 1970.
            with np.errstate(over="ignore"):
                scaled = drawn_in(values, spec.fill, spec.sigma) / spec.units[0]
            out[:, 0] = np.clip(scaled, -MAX_ENCODED, MAX_ENCODED)
        if spec.by_hour:
            out[:, 1] = values % SECONDS_PER_DAY / spec.units[1]
        if spec.marks_missing:
            out[:, -1] = missing * spec.units[-1]

    return fill


def _of_categories(spec: ColumnSpec, column: Column) -> Filler:
    """Fill one column per category; an unseen category counts as rare, or sets no column."""
    place = {level: code for code, level in enumerate(spec.levels)}
    n_levels = len(spec.levels)
    rare = n_levels if spec.grouped else -1
    missing = n_levels + bool(spec.grouped) if spec.marks_missing else place[spec.fill_level]
    places = np.array(
        [*(place.get(level, rare) for level in column.levels), missing], dtype=np.int64
    )
    units = np.array(spec.units, dtype=ENCODED)

    def fill(rows: slice, out: np.ndarray) -> None:
        codes = places[column.category_codes[rows]]
        known = np.flatnonzero(codes >= 0)
        out[known, codes[known]] = units[codes[known]]

    return fill
