"""Fitting a :class:`TableEncoder` to a table of any size; above 100,000 rows it corrects roles that
a sample got wrong.

Kind, text format, median, tails and distribution of a column are learned from a seeded sample of
rows. The rows with the lowest and the highest value of every column are added to the sample, so
that a flag that is set once in a billion rows does not look constant. Scales, ranges, shares of
missing cells and counts of categories are those of all rows, and so is the number of distinct
values by which a column is an identifier or free text. A table with at most ``SAMPLE_ROWS`` rows is
used completely. What is usual in groups of rows is that of the sample.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from odefs._progress import report_progress
from odefs.engines.row_blocks import rows_at_once
from odefs.tables.encoder.distinct_values import DistinctValues
from odefs.tables.encoder.encode import ColumnSpec
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.missing import without_words
from odefs.tables.encoder.roles import (
    FREE_TEXT_SHARE,
    IDENTIFIER_NAME,
    IDENTIFIER_SHARE,
    SHARED_SHARE,
    SHARED_VALUES,
    names_shared_ids,
)
from odefs.tables.encoder.serial_numbers import SerialTally
from odefs.tables.encoder.statistics import Centre, ColumnSummary, equal_where_nominal, spec_of
from odefs.tables.frames.columns import LARGE, Column, Columns
from odefs.tables.records.notes import Exclusion
from odefs.tables.table import Table

SAMPLE_ROWS = 100_000
MAX_DISTINCT = 500_000
"""Distinct categories that are counted to tell repeated values from free text."""
MAX_COUNTED_VALUES = 20_000
"""Maximum number of distinct categories to count; for more, the counts of the sample are used."""


@dataclass
class ColumnExtremes:
    """Number of missing cells, lowest and highest value of a column, and the rows of these."""

    missing: int = 0
    low: float | str | None = None
    high: float | str | None = None
    rows: dict[str, int] = field(default_factory=dict)
    levels: set[str] = field(default_factory=set)
    """Distinct categories and integers beyond float64, at most one more than are counted."""
    numbers: DistinctValues = field(default_factory=DistinctValues)
    """Distinct numbers, of columns that are named like an identifier."""
    serial: SerialTally = field(default_factory=SerialTally)
    """Of columns of whole numbers."""

    def add(self, column: Column, start: int, na: Collection[str] = ()) -> None:
        """Update from a batch that starts at row ``start``."""
        self.missing += int(column.missing.sum())
        known = np.flatnonzero(~column.missing)
        if known.size:
            # Codes of categories are in alphabetical order.
            cells = (column.category_codes if column.kind == "category" else column.values)[known]
            self._extend(column, int(known[cells.argmin()]), int(known[cells.argmax()]), start)
            if column.kind == "category":
                self._add_levels(column, cells)
            elif column.kind == "number":
                self._add_numbers(column, known)
        if column.kind == "number":
            self.serial.add(without_words(column, na).values)

    def _add_numbers(self, column: Column, known: np.ndarray) -> None:
        # Nearly all ids of a sample differ even if most of them repeat in the table: a customer_id
        # with 39 % distinct values in 3,000,000 rows was once left out as unique.
        if IDENTIFIER_NAME.search(column.name):
            self.numbers.add(column.values[known])
        if column.exact is not None:
            # Only the large ones: a batch without them has no exact digits.
            large = known[np.abs(column.values[known]) >= LARGE]
            self._add_levels(column.exact, column.exact.category_codes[large])

    def _add_levels(self, column: Column, codes: np.ndarray) -> None:
        # One more than the limit is kept at most, so that a column of unique texts is recognised
        # in bounded memory.
        if len(self.levels) <= MAX_DISTINCT:
            used = np.unique(codes)[: MAX_DISTINCT + 1]
            self.levels.update(column.levels[code] for code in used.tolist())

    def is_free_text(self, n_rows: int) -> bool:
        """Whether most of the rows of the whole table differ; many categories are not counted."""
        n_distinct = len(self.levels)
        return n_distinct > MAX_DISTINCT or n_distinct > FREE_TEXT_SHARE * n_rows

    def is_identifier(self, n_known: float) -> bool:
        """Whether nearly all known cells of the whole table differ."""
        return self._n_distinct >= IDENTIFIER_SHARE * n_known

    def is_shared_identifier(self, n_known: float) -> bool:
        """Whether a few rows of the whole table have each of many values."""
        return self._n_distinct > SHARED_VALUES and self._n_distinct >= SHARED_SHARE * n_known

    @property
    def _n_distinct(self) -> float:
        """Number of distinct values; infinite if there are too many to count."""
        n_levels = len(self.levels)
        return np.inf if n_levels > MAX_DISTINCT else max(self.numbers.count, n_levels)

    def _extend(self, column: Column, low: int, high: int, start: int) -> None:
        for name, row, sign in (("low", low, 1), ("high", high, -1)):
            value, before = column.at(row), getattr(self, name)
            if before is None or (value < before if sign > 0 else value > before):
                setattr(self, name, value)
                self.rows[name] = start + row


def learn_encoder(encoder: ColumnEncoder, table: Table, names: Sequence[str], seed: int) -> None:
    """Fit the encoder to some columns of a table."""
    encoder.require_lists()
    n_rows = table.n_rows
    # Dropped columns are not read, but belong to the names of the training table.
    read = [name for name in names if encoder.is_read(name)]
    # By the number of rows, not by whether the table is in memory: both ways of reading must give
    # the same encoder.
    if n_rows <= SAMPLE_ROWS:
        rows = table.column_rows(np.arange(n_rows), read)
        encoder.learn_groups(rows, encoder.learn_columns(rows, names))
        return
    extremes = find_extremes(table, read, encoder.na_words)
    numbers = _sampled_rows(extremes.values(), n_rows, seed)
    sample = table.column_rows(numbers, read)
    encoder.learn_columns(sample, names)
    # Values that repeat in the table may each occur once in a sample.
    repeated = _wrongly_unique(encoder, extremes, sample, n_rows)
    shared = [
        name for name in repeated if _is_shared(encoder, extremes[name], sample[name], n_rows)
    ]
    repeated = [name for name in repeated if name not in shared]
    if repeated:
        encoder.learn_columns(sample, names, repeated)
    encoder.left_out_ |= dict.fromkeys(shared, Exclusion("shared_identifier"))
    encoder.notes_ = [note.of_sample(numbers) for note in encoder.notes_]
    _leave_out_counters(encoder, extremes, sample, n_rows)
    if encoder.specs_:
        encoder.specs_ = _specs_of_all_rows(encoder, table)
        # The notes so far have row numbers of the table already; ``of_sample`` below converts
        # those of the groups.
        encoder.notes_, notes = [], encoder.notes_
        encoder.learn_groups(sample, encoder.recognised(sample), sample.n_rows < table.n_rows)
        encoder.notes_ = [*notes, *(note.of_sample(numbers) for note in encoder.notes_)]


def find_extremes(
    table: Table, names: Sequence[str], na: Collection[str] = ()
) -> dict[str, ColumnExtremes]:
    """Find missing cells and extreme values of some columns in one pass over all rows.

    Numbers in ``na`` are no serial numbers.
    """
    found = {name: ColumnExtremes() for name in names}
    for start, batch in table.column_batches(names):
        for name in names:
            found[name].add(batch[name], start, na)
    return found


def _sampled_rows(extremes: Iterable[ColumnExtremes], n_rows: int, seed: int) -> np.ndarray:
    """Row numbers of the sample, ascending: random rows and those of the extreme values."""
    # The second number keeps this draw apart from those of other steps with the same seed.
    chosen = np.random.default_rng([seed, 7]).choice(n_rows, size=SAMPLE_ROWS, replace=False)
    ends = [row for known in extremes for row in known.rows.values()]
    return np.unique(np.concatenate([chosen, np.array(ends, dtype=np.int64)]))


def _wrongly_unique(
    encoder: ColumnEncoder, extremes: Mapping[str, ColumnExtremes], sample: Columns, n_rows: int
) -> list[str]:
    """Columns left out because their values differ in the sample, but not in the whole table."""
    repeated = []
    for name, why in encoder.left_out_.items():
        if why.kind in ("unique_text", "unique_codes", "mixed_dates"):
            differ = extremes[name].is_free_text(n_rows)
        elif why.kind == "serial_numbers":
            differ = sample[name].kind != "number" or extremes[name].serial.is_serial
        elif why.kind in ("unique_identifier", "nearly_unique_identifier"):
            differ = extremes[name].is_identifier(_n_known(encoder, sample[name], n_rows))
        elif why.kind == "shared_identifier":
            differ = extremes[name].is_shared_identifier(_n_known(encoder, sample[name], n_rows))
        else:
            continue
        if not differ:
            repeated.append(name)
    return repeated


def _n_known(encoder: ColumnEncoder, column: Column, n_rows: int) -> float:
    """Number of cells of the whole table that are not missing, judging by those of a sample."""
    return n_rows * float(1 - without_words(column, encoder.na_words).missing.mean())


def _is_shared(
    encoder: ColumnEncoder, extremes: ColumnExtremes, column: Column, n_rows: int
) -> bool:
    """Whether a column whose values differ in the sample has identifiers that a few rows share."""
    known = without_words(column, encoder.na_words)
    n_known = _n_known(encoder, column, n_rows)
    return names_shared_ids(known) and extremes.is_shared_identifier(n_known)


def _leave_out_counters(
    encoder: ColumnEncoder, extremes: Mapping[str, ColumnExtremes], sample: Columns, n_rows: int
) -> None:
    """Leave out columns that count or number the rows of the whole table."""
    wanted = {
        name for parameter in ("keep", "number", "category") for name in encoder.named(parameter)
    }
    for name in encoder.columns:
        if name in wanted:
            continue
        if _counts_rows(extremes[name], sample[name], n_rows):
            encoder.left_out_[name] = Exclusion("row_counter")
        elif extremes[name].serial.is_serial and sample[name].whole:
            encoder.left_out_[name] = Exclusion("serial_numbers")
    encoder.specs_ = [spec for spec in encoder.specs_ if spec.name not in encoder.left_out_]


def _counts_rows(extremes: ColumnExtremes, column: Column, n_rows: int) -> bool:
    """Whether integers have neither gaps nor repeats, judging by range and sample."""
    if column.kind != "number" or not column.whole or extremes.missing:
        return False
    low, high = extremes.low, extremes.high
    return low in (0, 1) and high == low + n_rows - 1 and column.n_distinct == len(column)


def _specs_of_all_rows(encoder: ColumnEncoder, table: Table) -> list[ColumnSpec]:
    """Return the specifications of the sample with scales, ranges and counts of all rows."""
    stretch = rows_at_once(len(encoder.specs_))
    seen = [
        ColumnSummary(stretch, Centre(spec.fill, spec.sigma, spec.cuts, spec.below))
        for spec in encoder.specs_
    ]
    for start, batch in table.column_batches(encoder.columns):
        read = encoder.recognised(batch)
        for summary, column in zip(seen, read, strict=True):
            # Beyond the limit the summary is not complete, and ``_exact`` does not use it.
            if len(summary.counts) <= MAX_COUNTED_VALUES:
                summary.add(_as_learned(batch[column.name], column, encoder.na_words))
        report_progress(start + read.n_rows, table.n_rows)
    return equal_where_nominal(
        [_exact(spec, summary, encoder) for spec, summary in zip(encoder.specs_, seen, strict=True)]
    )


def _as_learned(given: Column, read: Column, na: Collection[str]) -> Column:
    """Keep categorical text verbatim: ``read`` maps times to the names that the sample has."""
    return without_words(given, na) if given.kind == read.kind == "category" else read


def _exact(spec: ColumnSpec, seen: ColumnSummary, encoder: ColumnEncoder) -> ColumnSpec:
    if seen.n_missing == seen.n_rows or len(seen.counts) > MAX_COUNTED_VALUES:
        return spec
    return spec_of(
        spec.name,
        spec.kind,
        spec.style,
        seen,
        encoder.max_categories,
        encoder.mark_missing,
    )
