"""What a model file holds of its training rows, so that reasons compare other rows with them.

For each column up to 257 ordered numbers, or the counts of its values, and a random sample of
ordinary rows. All of it is bounded, whatever the number of training rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs.persist.header_values import Arrays, as_list, as_object, need, need_count, require
from odefs.tables.encoder.encode import RARE, ColumnSpec
from odefs.tables.frames.columns import Column, Columns
from odefs.tables.reasons.value_positions import ColumnValues, Position, kept_places

MAX_NUMBERS, MAX_SAMPLE = 257, 256
"""Most numbers of a column, which bound 256 equal shares of it, and most rows of the sample."""
MIN_HELD, MAX_CELLS = 32, 2**18
"""Of wide tables fewer are held, so that all columns together have about so many cells."""
ORDERED = ("number", "time")


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Values of each column in training, and a sample of ordinary training rows."""

    specs: Mapping[str, ColumnSpec]
    columns: Mapping[str, ColumnValues]
    """By name; empty if the file has none, as that of a pipeline."""
    sample: Columns
    """Ordinary rows; none if the file has none, or if values are compared within groups."""

    def positions(self, name: str, cells: Sequence[Any]) -> list[Position]:
        """Positions of cells among the training rows; ``None`` is a missing cell."""
        if name in self.columns:
            return self.columns[name].positions(cells)
        return [_position_by_range(self.specs[name], cell) for cell in cells]


def _position_by_range(spec: ColumnSpec, cell: Any) -> Position:
    """The position of a cell that training did not have; nothing is known of others."""
    percentile = frequency = None
    if spec.kind in ORDERED and cell is not None:
        percentile = 100.0 if cell > spec.high else 0.0 if cell < spec.low else None
    elif spec.kind == "category" and cell is not None and not spec.grouped:
        frequency = None if cell in spec.levels else 0.0
    return Position(percentile, None if percentile is None else 0.0, frequency, is_common=False)


def training_rows_of(
    specs: Sequence[ColumnSpec], table: Columns, ordinary: np.ndarray
) -> TrainingRows:
    """Summarise training rows, all or a sample; ``ordinary`` are those that are not outliers."""
    n_held = MAX_CELLS // max(1, len(specs))
    n_numbers, n_sample = (max(MIN_HELD, min(most, n_held)) for most in (MAX_NUMBERS, MAX_SAMPLE))
    columns = {spec.name: _summary(spec, table[spec.name], n_numbers) for spec in specs}
    # With groups, usual values are those of the group, which the encoder holds.
    rows = np.flatnonzero(ordinary) if table.groups is None else np.empty(0, dtype=np.intp)
    if rows.size > n_sample:
        rows = np.sort(np.random.default_rng(0).choice(rows, n_sample, replace=False))
    cells = np.array([_held_cells(spec, table[spec.name].take(rows)) for spec in specs])
    return TrainingRows({spec.name: spec for spec in specs}, columns, _sample(specs, cells))


def _summary(spec: ColumnSpec, column: Column, n_numbers: int) -> ColumnValues:
    values, n_rows = ColumnValues.of(column), len(column)
    if spec.kind in ORDERED:
        n_known = values.ordered.size
        kept = kept_places(n_known, n_numbers)
        ordered = values.ordered[kept] if n_known > 1 else np.array([spec.low, spec.high])
        # A sample of the rows may lack the extreme values.
        ordered[0], ordered[-1] = min(ordered[0], spec.low), max(ordered[-1], spec.high)
        return ColumnValues(spec.kind, n_rows, ordered, values.counts)
    missing, cells = values.counts[None], _counted_cells(spec)
    others = n_rows - missing - sum(values.counts.get(cell, 0) for cell in cells)
    # The same for rare values.
    counts = {cell: max(1, values.counts.get(cell, 0)) for cell in cells}
    uncounted = min(n_rows, max(others, spec.grouped))
    return ColumnValues(spec.kind, n_rows, np.empty(0), {None: missing, **counts}, uncounted)


def _counted_cells(spec: ColumnSpec) -> tuple[object, ...]:
    """The values whose rows are counted."""
    if spec.kind == "category":
        return spec.levels
    return tuple(dict.fromkeys((spec.low, spec.high)))


def _held_cells(spec: ColumnSpec, column: Column) -> np.ndarray:
    """Cells as numbers: categories by their place in the specification, rare ones behind them."""
    if spec.kind != "category":
        return np.asarray(column.values, dtype=np.float64)
    places = {level: float(place) for place, level in enumerate(spec.levels)}
    rare = float(len(spec.levels))
    known = [places.get(level, rare) for level in column.levels]
    return np.array([*known, np.nan])[column.category_codes]


def _sample(specs: Sequence[ColumnSpec], cells: np.ndarray) -> Columns:
    """Columns of rows whose cells are given as numbers, one line for each column."""
    columns = [
        Column(
            spec.name,
            spec.kind,
            codes=np.where(np.isnan(own), -1, own).astype(np.int32),
            levels=(*spec.levels, RARE),
        )
        if spec.kind == "category"
        else Column(spec.name, spec.kind, own)
        for spec, own in zip(specs, cells, strict=True)
    ]
    return Columns(tuple(columns), cells.shape[1])


def put_training(rows: TrainingRows) -> tuple[dict[str, object], dict[str, np.ndarray]]:
    """Plain values and arrays of a file; none if nothing is known of the rows."""
    if not rows.columns:
        return {}, {}
    held = list(rows.columns.values())
    ordered = [values.ordered for values in held if values.kind in ORDERED]
    longest = max((len(numbers) for numbers in ordered), default=0)
    numbers = np.full((len(ordered), longest), np.nan)
    for line, own in zip(numbers, ordered, strict=True):
        line[: own.size] = own
    specs = rows.specs.values()
    cells = np.array([_held_cells(spec, rows.sample[spec.name]) for spec in specs])
    plain: dict[str, object] = {
        "n_rows": held[0].n_rows,
        "counts": [[*values.counts.values(), values.uncounted] for values in held],
    }
    return plain, {"training_numbers": numbers, "training_sample": cells}


def get_training(
    stored: object, arrays: Mapping[str, np.ndarray], specs: Sequence[ColumnSpec]
) -> TrainingRows:
    """Validate what a file holds of the training rows; files of pipelines hold nothing."""
    by_name, left = {spec.name: spec for spec in specs}, Arrays(arrays)
    if stored is None:
        left.require_empty()
        return TrainingRows(by_name, {}, _sample(specs, np.empty((len(specs), 0))))
    found = as_object(stored, "its training rows are not an object")
    n_rows, counts = need_count(found, "n_rows", 1, 2**48), need(found, "counts", list)
    require(len(counts) == len(specs), "not every column has counts of its training rows")
    numbers = left.take("training_numbers", "f")
    n_ordered = sum(spec.kind in ORDERED for spec in specs)
    require(
        numbers.shape[:1] == (n_ordered,) and numbers.ndim == 2 and _are_ordered(numbers),
        "the ordered numbers of its training rows are not in order",
    )
    lines = iter(numbers.astype(np.float64))
    columns = {
        spec.name: _read_values(spec, n_rows, own, lines)
        for spec, own in zip(specs, counts, strict=True)
    }
    cells = left.take("training_sample", "f").astype(np.float64)
    left.require_empty()
    require(
        cells.ndim == 2 and len(cells) == len(specs) and cells.shape[1] <= MAX_SAMPLE,
        "the sample of its training rows has another shape",
    )
    for spec, own in zip(specs, cells, strict=True):
        require(_fits(spec, own), f"the sample of its column {spec.name!r} does not fit it")
    return TrainingRows(by_name, columns, _sample(specs, cells))


def _read_values(
    spec: ColumnSpec, n_rows: int, stored: object, lines: Iterator[np.ndarray]
) -> ColumnValues:
    problem = f"the counts of its column {spec.name!r} are not counts of its values"
    counts: list[Any] = as_list(stored, problem)
    cells = () if spec.kind in ORDERED else _counted_cells(spec)
    are_counts = all(type(count) is int and 0 <= count <= n_rows for count in counts)
    require(are_counts and len(counts) == len(cells) + 2, problem)
    missing, *known, uncounted = counts
    ordered = np.empty(0)
    if spec.kind in ORDERED:
        line = next(lines)
        ordered = line[~np.isnan(line)]
        require(ordered.size, f"its column {spec.name!r} has no numbers of training rows")
    by_cell = {None: missing, **dict(zip(cells, known, strict=True))}
    return ColumnValues(spec.kind, n_rows, ordered, by_cell, uncounted)


def _are_ordered(numbers: np.ndarray) -> bool:
    """Whether each line has finite numbers in ascending order, then missing ones."""
    is_sorted = np.array_equal(np.sort(numbers, axis=1), numbers, equal_nan=True)
    return is_sorted and numbers.shape[1] <= MAX_NUMBERS and not np.isinf(numbers).any()


def _fits(spec: ColumnSpec, cells: np.ndarray) -> bool:
    known = cells[~np.isnan(cells)]
    if spec.kind in ORDERED:
        return bool(np.isfinite(known).all())
    n_values = 2 if spec.kind == "boolean" else len(spec.levels) + 1
    return bool(np.isin(known, np.arange(n_values)).all())
