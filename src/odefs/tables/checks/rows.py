"""Rows of suspect cells, found in one pass, and checks of whole rows: copies, sums of others."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from odefs.tables.checks.facts import NumberFacts
from odefs.tables.checks.gather import Gathered, cell_hashes, dates_as_text
from odefs.tables.encoder.distinct_values import DistinctValues
from odefs.tables.encoder.missing import without_words
from odefs.tables.frames.columns import LARGE, Column, Columns
from odefs.tables.records.checks import Cell, CopiedRows, Suspect, ValueCheck
from odefs.tables.table import Table

ROWS_KEPT, SAMPLE_OF_COLUMN = 1_000, 3
"""Rows that a check names, and those of a check of a whole column; further ones are counted."""
COPY_SHARE = 0.02
"""If more rows are copies, the table has few combinations of values, and copies are ordinary."""
MIN_COPIED_COLUMNS = 4
SURPRISE = 5.0
"""How many more pairs of equal rows there must be than coincidence explains."""
PRIOR_PAIRS = 0.1
"""Added to the pairs that nearly agree, of which a small table may have none."""
MAX_COLUMNS = 16
"""Columns, evenly spaced, by which coincidences are estimated."""
MIN_ADDENDS = 5
SUM_TOLERANCE = 1e-7


@dataclass
class Located:
    """Number of the cells of a suspect, and the first of their rows and values."""

    suspect: Suspect
    count: int = 0
    rows: list[int] = field(default_factory=list)
    values: list[Cell] = field(default_factory=list)
    _numbers: DistinctValues = field(default_factory=DistinctValues)
    _texts: set[Cell] = field(default_factory=set)

    def add(self, column: Column, start: int) -> None:
        """Search a batch that starts at row ``start``."""
        found = np.flatnonzero(matches(column, self.suspect))
        self.count += found.size
        kept = found[: ROWS_KEPT - len(self.rows)]
        self.rows.extend((start + kept).tolist())
        self.values.extend(quoted_cells(column, kept, self.suspect))
        self._add_distinct(column, found)

    def _add_distinct(self, column: Column, found: np.ndarray) -> None:
        """Count distinct cells: those that are kept may be a part of them."""
        if self.suspect.texts is not None:
            used = np.unique(column.category_codes[found])
            self._texts.update(column.levels[code] for code in used.tolist())
        elif self.suspect.kind == "infinite_value":
            self._texts.update(quoted_cells(column, found, self.suspect))
        else:
            self._numbers.add(column.values[found])

    @property
    def n_distinct(self) -> int:
        return len(self._texts) + round(self._numbers.count)

    def check(self) -> ValueCheck:
        suspect = self.suspect
        # All rows of the table would hide those of other checks.
        kept = SAMPLE_OF_COLUMN if suspect.kind == "early_column" else ROWS_KEPT
        return ValueCheck(
            suspect.kind,
            suspect.column,
            self.count,
            tuple(self.rows[:kept]),
            values=tuple(self.values[:kept]),
            n_distinct=self.n_distinct,
            usual=suspect.usual,
            usual_count=suspect.usual_count,
            # Cells of text are quoted as they are, also where they were read as numbers; dates
            # keep their kind, since the others are compared as dates.
            of=suspect.of if suspect.texts is None or suspect.of == "time" else "category",
            unit=suspect.unit,
            certainty=suspect.certainty,
            suspect=suspect,
            code=suspect.numbers[0] if suspect.kind == "code" else None,
        )


def locate(
    table: Table,
    suspects: Sequence[Suspect],
    na: Collection[str] = (),
    dates: Collection[str] = (),
) -> list[Located]:
    """Find the cells of all suspects; those of text columns are compared as text.

    Cells with a value in ``na`` are missing; numbers in ``dates`` are dates.
    """
    located = [Located(suspect) for suspect in suspects]
    names = list(dict.fromkeys(suspect.column for suspect in suspects))
    if names:
        for start, batch in table.column_batches(names):
            read = {name: as_checked(batch[name], na, dates) for name in names}
            for one in located:
                one.add(read[one.suspect.column], start)
    return [one for one in located if one.count]


def as_checked(column: Column, na: Collection[str], dates: Collection[str]) -> Column:
    """Return a column as the checks compare its cells; arguments as in :func:`locate`."""
    return without_words(dates_as_text(column, dates), na)


def matches(column: Column, suspect: Suspect) -> np.ndarray:
    """Return which cells of a column, read by :func:`as_checked`, the suspect describes."""
    if suspect.texts is not None:
        is_named = [level in suspect.texts for level in column.levels]
        return np.array([*is_named, False])[column.category_codes]
    if suspect.kind == "infinite_value":
        infinite = column.infinite
        return np.zeros(len(column), dtype=bool) if infinite is None else ~np.isnan(infinite)
    values = column.values
    with np.errstate(invalid="ignore"):
        found = (values < suspect.below) | (values > suspect.above)
    # Repeated ids may be many numbers.
    found &= ~np.isin(values, suspect.excluded)
    is_suspect = np.isin(values, suspect.numbers)
    if suspect.exact and column.exact is not None:
        named = np.array([*(level in suspect.exact for level in column.exact.levels), False])
        # Neighbours of a large integer are the same number in float64.
        large = np.abs(values) >= LARGE
        is_suspect = np.where(large, named[column.exact.category_codes], is_suspect)
    return found | is_suspect


def quoted_cells(column: Column, rows: np.ndarray, suspect: Suspect) -> list[Cell]:
    """Return cells as they are quoted: infinity and integers of many digits are text."""
    if suspect.kind == "infinite_value" and column.infinite is not None:
        return [str(column.infinite[row]) for row in rows.tolist()]  # JSON has no such number
    if not suspect.exact or column.exact is None:
        return list(column.cells(rows))
    texts = [column.exact.at(row) for row in rows.tolist()]
    cells = zip(texts, column.cells(rows), strict=True)
    return [text if text in suspect.exact else cell for text, cell in cells]


def rows_of(checks: Collection[ValueCheck]) -> np.ndarray:
    """Numbers of all rows that some checks name, in ascending order."""
    return np.unique(np.array([row for check in checks for row in check.rows], dtype=np.int64))


def copied_rows(gathered: Gathered) -> ValueCheck | None:
    """Return the rows that repeat an earlier row, if they are rarer than chance would make them."""
    hashes = gathered.hashes
    width = len(gathered.sample[0].columns) if gathered.sample else 0
    if hashes is None or width < MIN_COPIED_COLUMNS or hashes.size < MIN_ADDENDS:
        return None
    # Stable: of equal rows, the first in the table counts as the original.
    order = np.argsort(hashes, kind="stable")
    repeats = hashes[order[1:]] == hashes[order[:-1]]
    places = np.flatnonzero(repeats) + 1
    if not 0 < places.size <= max(1, COPY_SHARE * hashes.size):
        return None
    if _pairs(hashes) < SURPRISE * _coincidences(gathered):
        return None
    copies = _with_originals(order, places)
    rows = copies.rows
    return ValueCheck(
        "copied_row",
        None,
        rows.size,
        tuple(rows[:ROWS_KEPT].tolist()),
        certainty=0.7 if rows.size <= 0.005 * hashes.size else 0.55,
        copies=copies,
    )


def _with_originals(order: np.ndarray, places: np.ndarray) -> CopiedRows:
    """Return the rows at ascending ``places`` of ``order`` and, before each run, its original."""
    is_first = np.diff(places, prepend=places[0] - 2) > 1
    originals = order[places[is_first] - 1][np.cumsum(is_first) - 1]
    rows = order[places]
    by_row = np.argsort(rows)
    return CopiedRows(rows[by_row], originals[by_row])


def _pairs(hashes: np.ndarray) -> float:
    """Number of pairs of equal rows."""
    _, counts = np.unique(hashes, return_counts=True)
    return float((counts * (counts - 1.0)).sum() / 2)


def _coincidences(gathered: Gathered) -> float:
    """Estimate how many pairs of rows are equal by chance.

    Pairs that agree in all columns but one would also agree in that one as often as any two rows
    do. The largest estimate over some columns counts.
    """
    sample = gathered.sample
    width, n_rows = len(sample[0].columns), sum(part.n_rows for part in sample)
    cells = [_hashes_of(sample, k) for k in range(width)]
    total = np.asarray(np.sum(cells, axis=0, dtype=np.uint64))
    equal, possible = _pairs(total), n_rows * (n_rows - 1) / 2
    chosen = np.unique(np.linspace(0, width - 1, min(width, MAX_COLUMNS)).astype(int))
    # Hashes of rows are sums over columns: without the summand of a column, they are those of the
    # rows without it.
    expected = max(
        (_pairs(total - cells[k]) - equal + PRIOR_PAIRS) * _pairs(cells[k]) / max(possible, 1)
        for k in chosen
    )
    return expected * (gathered.n_rows / max(n_rows, 1)) ** 2


def _hashes_of(sample: Sequence[Columns], k: int) -> np.ndarray:
    return np.concatenate([cell_hashes(part.columns[k], k) for part in sample])


def sum_suspects(columns: Sequence[NumberFacts]) -> list[Suspect]:
    """Return the highest value of each column where it equals the sum of all others.

    Of a column with mostly negative numbers, it is the lowest.
    """
    found = []
    for facts in columns:
        tally = facts.tally
        # A single negative number must not hide the total of a column of positive ones.
        n_addends = max(tally.n_positive, tally.n_negative)
        if facts.of == "time" or n_addends <= MIN_ADDENDS:
            continue
        ends = facts.highest() if tally.n_positive == n_addends else facts.lowest()
        end = float(ends[0])
        # The total includes the value itself.
        if abs(tally.total - 2 * end) <= SUM_TOLERANCE * abs(end) and ends[1] != end:
            found.append(facts.suspect("sum_row", 0.9, (end,)))
    return found


def rows_above_others(
    table: Table, rows: Sequence[int], columns: Sequence[NumberFacts]
) -> frozenset[int]:
    """Return those of some rows that have the highest value in most columns of numbers."""
    n_highest = np.zeros(len(rows), dtype=np.int64)
    n_known = np.zeros(len(rows), dtype=np.int64)
    cells = table.column_rows(np.array(rows), [facts.name for facts in columns])
    for facts, column in zip(columns, cells, strict=True):
        values = column.values
        if facts.text is not None:
            read = dict(zip(facts.text.levels, facts.text.read.tolist(), strict=True))
            values = np.array([read.get(str(column.at(k)), np.nan) for k in range(len(rows))])
        n_highest += values >= facts.highest()[0]
        n_known += ~np.isnan(values)
    return frozenset(np.array(rows)[2 * n_highest > n_known].tolist())


def sum_rows(located: Sequence[Located]) -> list[ValueCheck]:
    """Return rows that are the sum of the others in at least two columns."""
    by_row: dict[int, list[Located]] = {}
    for one in located:
        for row in one.rows if one.suspect.kind == "sum_row" else ():
            by_row.setdefault(row, []).append(one)
    return [
        ValueCheck(
            "sum_row",
            None,
            1,
            (row,),
            summed=tuple(one.suspect.column for one in parts),
            certainty=0.9,
        )
        for row, parts in sorted(by_row.items())
        if len(parts) >= 2
    ]
