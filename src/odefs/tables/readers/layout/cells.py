"""Cells of a sheet or text file as text, and what they look like: a value, a unit, a note, a total.

Used to find the table in a file before any column has a type.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

LONGEST_VALUE = 40
"""Characters of a cell beyond which it is not a number or date."""
LONGEST_UNIT = 20
SENTENCE_WORDS = 4
"""Words from which on a text cell counts as a sentence."""
SAMPLED_ROWS = 40
"""Rows from which the kind of a column is judged."""
NUMERIC_SHARE = 0.8
"""A column is numeric if at least this share of its sampled cells are values."""
FIRST_YEAR, LAST_YEAR = 1900, 2100

ABSENT = frozenset(
    (*("", "-", "--", "\u2013", "\u2014", ".", "..", "..."), *("na", "n/a", "nan", "null", "none"))
).union(("?", "#n/a"))
"""Cells that stand for a missing value, in lower case."""
_NUMBER = re.compile(
    r"[-+(]?[-+]?\s?[$€£¥]?\s?[-+]?(\d[\d.,'\u2019\u00a0\u202f ]*|\.\d+)(e[-+]?\d{1,3})?"
    r"\s?[%‰€$£¥]?\)?",
    re.IGNORECASE | re.ASCII,
)
_DATE = re.compile(
    r"\d{1,4}([-./])\d{1,2}\1\d{1,4}([ T]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?",
    re.ASCII,
)
_BOOLEANS = frozenset(("true", "false"))
_BRACKETED = re.compile(r"[(\[][^()\[\]]+[)\]]")
_UNIT_BREAK = re.compile(r"[\s/·*^.\-0-9²³⁻¹]+")
_UNITS = frozenset(
    """
    kg g mg µg μg ug ng t lb lbs oz m cm mm km µm μm um nm ft in inch inches mi mile miles
    yd ha l ml cl dl µl μl gal s sec secs second seconds min mins minute minutes h hr hrs
    hour hours d day days week weeks month months year years yr yrs ms µs ns % ‰ percent pct
    ppm ppb eur usd gbp chf jpy cny sek nok dkk pln czk inr aud cad € $ £ ¥ k€ k$ m€ teur
    tusd mio mln million millions thousand thousands bn billion °c °f °k c f k ° deg degrees
    rad w kw mw gw wh kwh mwh v mv kv a ma ah mah ohm ω hz khz mhz ghz pa hpa kpa mpa bar
    mbar psi mmhg hg n kn j kj mj cal kcal mol mmol µmol μmol nmol db bpm rpm px pcs pc
    piece pieces unit units number count no iu u cfu kph mph kmh pts points cells bit byte
    bytes kb mb gb tb lux lm cd per sq cubic cu persons people tonnes tons ton kt mt gt
    """.split()  # noqa: SIM905 - a list of this length is unreadable
)
_NOTE = re.compile(
    r"(\*|†|‡|¹|²|³|©|\(?\d\)\s|\[\d\]|#"
    r"|(sources?|notes?|n\.?b\.?|remarks?|comments?|footnotes?|legend|data|copyright|disclaimer"
    r"|last updated?|updated|as of|generated|created|exported|printed|downloaded|end of|page"
    r"|quellen?|anmerkung(en)?|hinweise?|stand|erstellt|bemerkung(en)?|fu(ss|ß)noten?"
    r"|remarques?|nota|notas|fuentes?|fonti?|bron(nen)?|rows?)(\s*:|(\s+\S+){2}))",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"(grand |sub-?|overall )?(totals?|sums?|averages?|mean|summen?|gesamt(summe)?|insgesamt"
    r"|mittelwert|durchschnitt|somme|moyenne|totale|totaal|suma|media)( .{0,30})?:?|[Σ∑]",
    re.IGNORECASE,
)


def cleaned(cell: str | None) -> str | None:
    """Return the text of a cell without space around it, or ``None`` if nothing is left."""
    return (cell.strip() or None) if cell is not None else None


def is_absent(cell: str | None) -> bool:
    """Whether the cell is empty or stands for a missing value."""
    return cell is None or cell.lower() in ABSENT


def is_value(cell: str | None) -> bool:
    """Whether the cell is a number, date, time or boolean."""
    if cell is None or len(cell) > LONGEST_VALUE:
        return False
    return bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell) or cell.lower() in _BOOLEANS)


def is_year(cell: str | None) -> bool:
    """Whether the cell is a year, which is a value but also a usual name of a column."""
    # Cut: ``int`` raises an error for texts of more than 4,300 digits.
    return cell is not None and cell.isdecimal() and FIRST_YEAR <= int(cell[:9]) <= LAST_YEAR


def is_name(cell: str | None) -> bool:
    """Whether the cell may be part of a header."""
    return not is_absent(cell) and (not is_value(cell) or is_year(cell))


def is_unit(cell: str | None) -> bool:
    """Whether the cell is a unit of measurement, such as ``kg``, ``(m/s)`` or ``1000 EUR``."""
    if cell is None or len(cell) > LONGEST_UNIT:
        return False
    if _BRACKETED.fullmatch(cell):
        return True
    parts = [part for part in _UNIT_BREAK.split(cell.lower()) if part]
    return bool(parts) and all(part in _UNITS for part in parts)


def is_sentence(cell: str | None) -> bool:
    """Whether the cell is running text."""
    return cell is not None and len(cell.split()) >= SENTENCE_WORDS


def is_note(cell: str | None) -> bool:
    """Whether the cell starts like a note below a table, such as ``Source: ...``."""
    return cell is not None and _NOTE.match(cell) is not None


def is_total(cell: str | None) -> bool:
    """Whether the cell labels a row of totals or means."""
    return cell is not None and len(cell) <= LONGEST_VALUE and bool(_TOTAL.fullmatch(cell))


class Rows(Protocol):
    """Rows of cells, of the same length."""

    def __len__(self) -> int: ...
    def __getitem__(self, row: int, /) -> Sequence[str | None]: ...


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells as text, row by row, and which of them are not blank."""

    rows: Rows
    filled: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Sequence[str | None]]) -> "Grid":
        """Make a grid of rows, which may differ in length."""
        width = max(map(len, rows), default=0)
        cells = [[cleaned(cell) for cell in row] + [None] * (width - len(row)) for row in rows]
        filled = np.array([[cell is not None for cell in row] for row in cells], dtype=bool)
        return cls(cells, filled.reshape(len(cells), width))

    @cached_property
    def filled_rows(self) -> np.ndarray:
        """Which rows are not blank."""
        return np.asarray(self.filled.any(axis=1))

    def without_top(self, n_rows: int) -> "Grid":
        """Return the grid with its first rows blank."""
        filled = self.filled.copy()
        filled[:n_rows] = False
        return Grid(self.rows, filled) if n_rows else self

    def cell(self, row: int, column: int) -> str | None:
        return cleaned(self.rows[row][column])


@dataclass(frozen=True)
class Block:
    """A rectangle of cells; the last row and column are part of it."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int


def numeric_columns(grid: Grid, rows: range, columns: Sequence[int]) -> list[int]:
    """Return the columns whose cells in these rows are mostly numbers or dates."""
    found = []
    sample = sample_rows(grid, rows)
    for column in columns:
        cells = [cell for row in sample if not is_absent(cell := grid.cell(row, column))]
        if cells and sum(map(is_value, cells)) >= NUMERIC_SHARE * len(cells):
            found.append(column)
    return found


def sample_rows(grid: Grid, rows: range) -> list[int]:
    """Return the first rows that are not blank."""
    seen = range(rows.start, min(rows.stop, rows.start + 4 * SAMPLED_ROWS))
    filled = grid.filled_rows[seen.start : seen.stop]
    return [row for row, is_filled in zip(seen, filled, strict=True) if is_filled][:SAMPLED_ROWS]
