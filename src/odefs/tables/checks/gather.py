"""One pass over a table that gathers what the checks need, in bounded memory.

Counts, sums and extreme values are those of all rows. Quantiles come from a seeded sample, which
for tables of up to ``SAMPLE_ROWS`` rows is the table itself. Nothing depends on where the batches
of a table start. Rows are hashed, by which copies are found without comparing all pairs.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from odefs._progress import report_progress
from odefs.tables.checks.ids import IdTally, text_hashes
from odefs.tables.encoder.missing import without_words
from odefs.tables.encoder.roles import IDENTIFIER_NAME, as_category
from odefs.tables.frames.columns import Column, Columns
from odefs.tables.table import Table

SAMPLE_ROWS, MIN_SAMPLE_ROWS = 20_000, 1_000
SAMPLE_BYTES = 2**27
"""Memory limit for the sample: of wide tables it has fewer rows."""
MAX_LEVELS = 20_000
"""Texts with more distinct values are free text, and are not checked."""
MAX_IDS = 2**22
"""With more ids, in all columns together, only the declared column of ids is searched for repeated
ones, and in tables with more rows none: all are held in memory.
"""
PLACES = re.compile(r"(?i)(?:fips|zip|zip_?code|post_?code|postal_?code)$")
"""Names of codes of places, which several rows may share."""
KEPT = 64
"""Number of extreme values that are kept at either end of a column."""
CODES = (
    *(-9.0, -99.0, -999.0, -9999.0, -99999.0, -1.0, -8.0, -88.0, -888.0),
    *(99.0, 999.0, 9999.0, 99999.0, 999999.0, 88.0, 888.0, 8888.0, 9.0, 98.0, 998.0, 9998.0),
)
"""Numbers that stand for "missing", "unknown" or "does not apply" in many tables."""
SPECIAL = (0.0, *CODES)


@dataclass
class NumberTally:
    """Extreme values, counts and sum of the numbers or times in a column."""

    n: int = 0
    n_negative: int = 0
    n_positive: int = 0
    total: float = 0.0
    """Sum; its last digits depend on the batches, which the tolerance for sums of rows absorbs."""
    special: Counter[float] = field(default_factory=Counter)
    """Number of cells with each of the ``SPECIAL`` values, which the extreme values exclude."""
    lowest: np.ndarray = field(default_factory=lambda: np.empty(0))
    """In ascending order."""
    highest: np.ndarray = field(default_factory=lambda: np.empty(0))
    """In descending order."""
    lowest_positive: np.ndarray = field(default_factory=lambda: np.empty(0))
    """In ascending order: all of the lowest may be negative."""

    def add(self, values: np.ndarray, counts: np.ndarray | None = None) -> None:
        """Add known values; ``counts`` is the number of cells of each, by default one."""
        if not values.size:
            return
        low, high = values.min(), values.max()
        self.n += int(values.size if counts is None else counts.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            self.total += float(values.sum() if counts is None else values @ counts)
        if low < 0:
            self.n_negative += _count(values < 0, counts)
        self.n_positive += _count(values > 0, counts)
        ordinary = self._add_special(values, counts, low, high)
        if not ordinary.all():
            values = values[ordinary]
            counts = counts if counts is None else counts[ordinary]
        if counts is not None:
            values = np.repeat(values, np.minimum(counts, KEPT))
        lowest, highest = _ends(values)
        self.lowest = np.sort(np.concatenate([self.lowest, lowest]))[:KEPT]
        self.highest = np.sort(np.concatenate([self.highest, highest]))[::-1][:KEPT]
        # Zero is special, so these are all values that are not negative.
        positive = lowest if low >= 0 else _ends(values[values > 0])[0]
        self.lowest_positive = np.sort(np.concatenate([self.lowest_positive, positive]))[:KEPT]

    def _add_special(
        self, values: np.ndarray, counts: np.ndarray | None, low: float, high: float
    ) -> np.ndarray:
        """Count special values from ``low`` to ``high``; return which values are ordinary."""
        ordinary = np.ones(values.size, dtype=bool)
        for special in SPECIAL:
            if low <= special <= high and (is_special := values == special).any():
                self.special[special] += _count(is_special, counts)
                ordinary &= ~is_special
        return ordinary


def _count(chosen: np.ndarray, counts: np.ndarray | None) -> int:
    return int(np.count_nonzero(chosen) if counts is None else counts[chosen].sum())


def _ends(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest values, in any order."""
    if values.size <= 2 * KEPT:
        return values, values
    parted = np.partition(values, [KEPT - 1, values.size - KEPT])
    return parted[:KEPT], parted[-KEPT:]


@dataclass
class ColumnTally:
    """What is known of one column after some batches."""

    name: str
    n_rows: int = 0
    numbers: NumberTally | None = None
    n_infinite: int = 0
    is_time: bool = False
    whole: bool = True
    levels: Counter[str] | None = field(default_factory=Counter)
    """Number of cells of each text; ``None`` if there are too many distinct ones."""
    sample: list[Column] = field(default_factory=list)
    ids: IdTally | None = None
    """The ids of a column that may identify the rows; ``None`` for other columns."""

    def add(self, column: Column, sampled: np.ndarray, na: Collection[str]) -> None:
        """Add a batch, of whose rows some belong to the sample."""
        self.n_rows += len(column)
        if column.kind == "category":
            self._add_text(column, sampled, na)
        elif column.kind != "boolean":
            column = without_words(column, na)
            self.is_time = column.kind == "time"
            self.whole &= column.whole
            if column.infinite is not None:
                self.n_infinite += int(np.count_nonzero(~np.isnan(column.infinite)))
            self.numbers = self.numbers or NumberTally()
            known = column.values[~column.missing]
            self.numbers.add(known)
            if self.ids is not None:
                self.ids.add(column)
            self.sample.append(column.take(sampled))

    def _add_text(self, column: Column, sampled: np.ndarray, na: Collection[str]) -> None:
        if column.opaque or (self.levels is None and self.ids is None):
            return
        is_free = len(column.levels) > MAX_LEVELS
        column = column if is_free else without_words(column, na)
        if self.ids is not None:
            self.ids.add(column)
        # Without the levels of the other rows, which would be held for every batch.
        part = column.take(sampled)
        self.sample.append(without_words(part.compact(), na) if is_free else part)
        if self.levels is not None and not is_free:
            counts = np.bincount(
                column.category_codes[~column.missing], minlength=len(column.levels)
            )
            pairs = zip(column.levels, counts.tolist(), strict=True)
            self.levels.update({level: count for level, count in pairs if count})
        if is_free or (self.levels is not None and len(self.levels) > MAX_LEVELS):
            self.levels = None
            self.sample = [] if self.ids is None else self.sample


@dataclass(frozen=True, eq=False)
class Gathered:
    """What one pass has found out about a table."""

    n_rows: int
    columns: dict[str, ColumnTally]
    hashes: np.ndarray | None
    """A number for each row, the same for equal rows; ``None`` for very tall tables."""
    sample: list[Columns]
    """Sampled rows with the columns that were hashed, in batches."""


def numbers_rows(name: str) -> bool:
    """Whether a column is named like one that numbers the rows."""
    return IDENTIFIER_NAME.search(name) is not None and PLACES.search(name) is None


def gather(
    table: Table,
    names: Sequence[str],
    hashed: Sequence[str],
    na: Collection[str],
    seed: int,
    id: str | None = None,
    dates: Collection[str] = (),
) -> Gathered:
    """Read the columns ``names`` and ``hashed`` once; the latter make up a row.

    ``id`` is the column that identifies the rows, if one of ``names`` was declared to do so.
    Numbers in ``dates`` are dates such as 20250403.
    """
    n_rows = table.n_rows
    chosen = _sampled_rows(n_rows, len(names), seed)
    with_ids = _columns_of_ids(names, id, n_rows)
    tallies = {
        name: ColumnTally(name, ids=IdTally() if name in with_ids else None) for name in names
    }
    hashes = np.empty(n_rows, dtype=np.uint64) if n_rows <= MAX_HASHED_ROWS and hashed else None
    sample = []
    for start, batch in table.column_batches(list(dict.fromkeys((*names, *hashed)))):
        stop = start + batch.n_rows
        first, last = np.searchsorted(chosen, (start, stop))
        sampled = chosen[first:last] - start
        for name, tally in tallies.items():
            tally.add(dates_as_text(batch[name], dates), sampled, na)
        if hashes is not None:
            whole_rows = Columns(tuple(batch[name] for name in hashed), batch.n_rows)
            hashes[start:stop] = row_hashes(whole_rows)
            _tell_apart(hashes[start:stop], whole_rows, start)
            sample.append(whole_rows.take(sampled))
        report_progress(stop, n_rows)
    _name_repeated_ids(table, tallies, na, dates)
    return Gathered(n_rows, tallies, hashes, sample)


def _name_repeated_ids(
    table: Table,
    tallies: Mapping[str, ColumnTally],
    na: Collection[str],
    dates: Collection[str],
) -> None:
    """Find the texts of repeated ids, of which the hashes are known; hardly any column has some."""
    tallied = {name: tally.ids for name, tally in tallies.items() if tally.ids is not None}
    hashes = {name: ids.repeated_hashes() for name, ids in tallied.items()}
    names = [name for name, found in hashes.items() if found.size]
    for _, batch in table.column_batches(names) if names else ():
        for name in names:
            column = dates_as_text(batch[name], dates)
            tallied[name].name_repeated(column, hashes[name], na)


def dates_as_text(column: Column, dates: Collection[str]) -> Column:
    """Return dates that are stored as numbers as text, which is read in the encoder's formats."""
    return as_category(column) if column.kind == "number" and column.name in dates else column


def _sampled_rows(n_rows: int, n_columns: int, seed: int) -> np.ndarray:
    """Return the rows of the sample in ascending order."""
    # The cells of a row are held twice: by column, and as a row.
    room = max(MIN_SAMPLE_ROWS, SAMPLE_BYTES // (16 * max(1, n_columns)))
    size = min(n_rows, SAMPLE_ROWS, room)
    if n_rows <= size:
        return np.arange(n_rows)
    # The second number keeps this draw apart from those of other steps with the same seed.
    rng = np.random.default_rng([seed, 11])
    return np.sort(rng.choice(n_rows, size=size, replace=False))


def _columns_of_ids(names: Sequence[str], id: str | None, n_rows: int) -> set[str]:
    """Return the columns whose ids are held in memory, of which there may not be too many."""
    # Zip codes and the like are named as identifiers, but several rows may share one.
    found = {name for name in names if name == id or numbers_rows(name)}
    if len(found) * n_rows > MAX_IDS:
        found &= {id}
    return found if n_rows <= MAX_IDS else set()


MAX_HASHED_ROWS = 2**24
"""Taller tables are not searched for copies: the hashes would take more than 128 MiB."""
MISSING = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)


def _tell_apart(hashes: np.ndarray, table: Columns, start: int) -> None:
    """Give rows without a value different hashes: they are blank, not copies."""
    blank = np.flatnonzero(np.all([column.missing for column in table], axis=0))
    hashes[blank] = _mixed((blank + start).astype(np.uint64) * _FACTORS[0])


def row_hashes(table: Columns) -> np.ndarray:
    """Return one number per row: equal rows have equal numbers within one process."""
    total = np.zeros(table.n_rows, dtype=np.uint64)
    for place, column in enumerate(table):
        total += cell_hashes(column, place)
    return total


def cell_hashes(column: Column, place: int) -> np.ndarray:
    """Return one number per cell; it depends on the place of the column."""
    # An odd factor, so that no two hashes of cells become equal. Without the place, rows in which
    # two columns have exchanged their values would count as copies.
    own = np.uint64((2 * place + 1) * 0xD6E8FEB86659FD93 % 2**64)
    if column.exact is not None:
        column = column.exact
    if column.kind == "category":
        # They differ between processes, which does no harm.
        cells = _mixed(np.append(text_hashes(column.levels), 0).view(np.uint64))
        cells[-1] = MISSING
        return (cells * own)[column.category_codes]
    # Adding zero turns -0.0 into 0.0.
    cells = _mixed((column.values + 0.0).view(np.uint64))
    cells[column.missing] = MISSING
    return cells * own


def _mixed(bits: np.ndarray) -> np.ndarray:
    """Spread the differences between numbers over all bits (the finaliser of SplitMix64)."""
    for factor, shift in zip(_FACTORS, (np.uint64(30), np.uint64(27)), strict=True):
        bits = (bits ^ (bits >> shift)) * factor
    return bits ^ (bits >> np.uint64(31))
