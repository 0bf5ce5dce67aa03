"""Column roles: the type of each column, and why one is left out: constant, empty, mostly missing,
an identifier, free text.

A column of measurements is never taken for an identifier: only integers that count or number the
rows or are named like an identifier, and text that differs from row to row, are. Some identifiers
occur twice, by mistake, and the items of an order share its number; foreign keys have few distinct
values and are used as categories.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from odefs.exceptions import TableError
from odefs.tables.encoder.column_notes import (
    half_numbers,
    infinite_cells,
    missing_codes,
    reading_notes,
)
from odefs.tables.encoder.missing import without_codes, without_words
from odefs.tables.encoder.serial_numbers import SerialTally
from odefs.tables.encoder.text_formats import (
    PLAIN,
    TEXT_FORMATS,
    TextFormat,
    are_compact_dates,
    are_mixed_dates,
    format_named,
    read_levels,
    read_zone,
    recognise,
)
from odefs.tables.encoder.time_names import known_times, number_name, time_names
from odefs.tables.frames.columns import LARGE, Column, Kind
from odefs.tables.messages import KIND_NAMES
from odefs.tables.records.notes import COMPACT_DATES, Exclusion, ExclusionKind, Note

# Codes of places, such as zip and fips, are not measurements either: a county would be an outlier
# because its code is high. By name only: measurements may all differ, too.
IDENTIFIER_NAME = re.compile(
    r"(?i:(?:^|[_\W])(?:id|ids|uuid|guid|key|index|idx|nr|no|rownum|row|serial"
    r"|fips|zip|zip_?code|post_?code|postal_?code)$)"
    r"|[a-z](?:Id|ID|Nr|No|Key)$"
)
ID_NAME = re.compile(r"(?i:(?:^|[_\W])(?:id|ids|uuid|guid)$)|[a-z](?:Id|ID)$")
"""Names of ids alone: an index, a number or a row may be a measurement."""
PLACE_NAME = re.compile(r"(?:fips|zip|zip_?code|post_?code|postal_?code)$", re.IGNORECASE)
"""Codes of places describe the rows that share them."""
IDENTIFIER_SHARE = 0.9
"""Least share of distinct values in a column that is named like an identifier and is one.

Not 1: a single id that is repeated by mistake would turn all others into rare categories, which
rank above ordinary rows.
"""
SHARED_SHARE, SHARED_VALUES = 0.25, 50
"""Least share of distinct values in a column that is named like an identifier of which a few rows
have each value, and most values of one that is not: these are categories."""
FREE_TEXT_SHARE = 0.5
FEW_LEVELS = 20
MOSTLY_MISSING = 0.5
"""With more missing cells, the fill value would dominate and every known value would be unusual."""

FIRST_DATE, LAST_DATE = 18_000_101, 20_991_231
"""Numbers that may be dates such as 20250403."""

DIGITS = re.compile(r"^\s*[-+]?\d{1,4000}\s*$", re.ASCII)
"""Integers that ``int`` converts: it raises an error beyond 4,300 digits."""

NUMBER = re.compile(r"\d+", re.ASCII)

BOOLEAN_WORDS = {
    "true": 1.0,
    "yes": 1.0,
    "y": 1.0,
    "t": 1.0,
    "1": 1.0,
    "false": 0.0,
    "no": 0.0,
    "n": 0.0,
    "f": 0.0,
    "0": 0.0,
}


@dataclass(frozen=True)
class Overrides:
    """Column types set by the user, which override inferred ones."""

    number: frozenset[str] = frozenset()
    category: frozenset[str] = frozenset()
    keep: frozenset[str] = frozenset()
    na: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Role:
    """A column as it will be used, its text format, why it is left out, and notes on it."""

    column: Column
    style: str = ""
    left_out: Exclusion | None = None
    notes: tuple[Note, ...] = ()


def assign_role(column: Column, overrides: Overrides) -> Role:
    """Infer the type of a column and decide whether it is used."""
    text = without_words(column, overrides.na)
    forced = text.name in (overrides.number | overrides.category)
    column, style, notes = _read_by_content(text, overrides, forced)
    left_out = _useless(column, forced, column.name in overrides.keep)
    if left_out == Exclusion("empty") and not text.missing.all():
        left_out = Exclusion("no_numbers")
    if not left_out and column.kind == "number":
        notes += [*missing_codes(column), *infinite_cells(column)]
        if not forced and column.whole and IDENTIFIER_NAME.search(column.name):
            if style:
                # Keep the text: another table's categories are not parsed as numbers either.
                # The notes on the numbers no longer apply.
                column, style, notes = text, "", []
            else:
                column = as_category(column)
            notes.append(Note("identifier_as_category", column.name))
    return Role(column, style, left_out, tuple(notes))


def _read_by_content(
    column: Column, overrides: Overrides, forced: bool
) -> tuple[Column, str, list[Note]]:
    """Return the column as numbers, times or categories, its text format, and notes on it."""
    is_category = column.name in overrides.category
    if column.kind == "number" and not forced and _are_compact_dates(column):
        column = as_category(column)
    if column.kind == "category" and not is_category:
        return _recognised(column, overrides.na, forced)
    if column.kind != "category" and (is_category or (not forced and _is_rounded(column))):
        column = as_category(column)
    return column, "", []


def apply_style(
    column: Column, kind: Kind, style: str, na: Collection[str] = (), levels: Sequence[str] = ()
) -> Column:
    """Read a column of another table as the training table's column was read.

    ``levels`` are the categories seen in training. Every cell is read on its own, so that a row
    does not depend on the rows around it; a cell that cannot be read is missing.
    """
    column = without_words(column, na)
    if kind == "category" and column.kind == "category":
        return _same_times(column, levels)
    if kind == "category":
        return replace(as_category(column, levels), n_infinite=column.n_infinite)
    if column.missing.all():
        empty = np.full(len(column), np.nan)
        return Column(column.name, kind, empty, n_infinite=column.n_infinite)
    if column.kind == "number" and style == COMPACT_DATES:
        column = as_category(column)
    if column.kind == "category":
        return _read_as(column, kind, style, na)
    alike = {column.kind, kind} <= {"number", "boolean"}
    if column.kind != kind and not alike:
        raise TableError(
            f"column {column.name!r} held {KIND_NAMES[kind]} in training "
            f"and holds {KIND_NAMES[column.kind]} here."
        )
    return column


def _read_as(column: Column, kind: Kind, style: str, na: Collection[str]) -> Column:
    """Parse text as numbers, times or booleans."""
    if kind == "boolean":
        values = np.array(
            [*(BOOLEAN_WORDS.get(level.strip().lower(), np.nan) for level in column.levels), np.nan]
        )
        return Column(column.name, "boolean", values[column.category_codes])
    return without_words(_converted(column, format_named(style) or PLAIN[kind]), na)


def guessed_format(column: Column, kind: Kind) -> str:
    """Return the format of text that was not text in training; empty for the plain format."""
    if column.kind != "category" or kind not in ("number", "time"):
        return ""
    counts = np.bincount(column.category_codes[~column.missing], minlength=len(column.levels))
    found = recognise(column.levels, counts)
    return found.name if found is not None and found.kind == kind else ""


def as_category(column: Column, levels: Sequence[str] = ()) -> Column:
    """Convert numbers and times to categories, one per distinct value.

    Integers keep all digits, also those that float64 would round; times are written as in csv
    files. ``levels`` are the categories of a model, which determine the format of times: a batch
    may have too few to infer it.
    """
    if column.exact is not None:
        return column.exact
    known, codes = np.unique(column.values[~column.missing], return_inverse=True)
    is_time = column.kind == "time"
    names = time_names(known, levels) if is_time else [number_name(float(value)) for value in known]
    out = np.full(len(column), -1, dtype=np.int32)
    out[~column.missing] = codes
    return _named(column.name, out, names)


def _named(name: str, codes: np.ndarray, names: Sequence[str]) -> Column:
    """Make categories from codes into names, some of which may be equal."""
    levels = tuple(sorted(set(names)))
    place = {level: code for code, level in enumerate(levels)}
    places = np.array([*(place[level] for level in names), -1], dtype=np.int32)
    return Column(name, "category", codes=places[codes], levels=levels)


def _same_times(column: Column, levels: Sequence[str]) -> Column:
    """Rename times as in the model."""
    same = known_times(column.levels, levels)
    if not same:
        return column
    return _named(
        column.name, column.category_codes, [same.get(level, level) for level in column.levels]
    )


def _recognised(
    column: Column, na: Collection[str], forced: bool
) -> tuple[Column, str, list[Note]]:
    counts = np.bincount(
        column.category_codes[column.category_codes >= 0], minlength=len(column.levels)
    )
    style = recognise(column.levels, counts, forced) if len(column.levels) else None
    if style is None and forced:
        style = TEXT_FORMATS["numbers"]
    if (
        style is not None
        and style.kind == "number"
        and not forced
        and _have_long_digits(column.levels, counts)
    ):
        return column, "", []
    if style is None:
        return column, "", half_numbers(column, counts)
    column = without_codes(column)
    read = _converted(column, style)
    notes = reading_notes(column, read, style, int((~column.missing).sum()))
    return without_words(read, na), style.name, notes


def _are_compact_dates(column: Column) -> bool:
    """Whether integers are dates such as 20250403."""
    known = column.values[~column.missing]
    # Most columns need no more than this.
    if not column.whole or not known.size or not FIRST_DATE <= np.median(known) <= LAST_DATE:
        return False
    days, counts = np.unique(known, return_counts=True)
    return are_compact_dates([number_name(float(day)) for day in days], counts)


def _is_rounded(column: Column) -> bool:
    """Whether most cells are integers beyond 2**53 and float64 merges some: codes, not numbers."""
    if column.exact is None:
        return False
    known = column.values[~column.missing]
    # Large measurements that float64 tells apart stay numbers.
    merged = column.exact.n_distinct > np.unique(known).size
    return bool(column.n_infinite) or (
        merged and bool((np.abs(known) >= LARGE).sum() > 0.5 * known.size)
    )


def _have_long_digits(levels: Sequence[str], counts: np.ndarray) -> bool:
    """Like :func:`_is_rounded`, for text."""
    long = [
        len(level) >= 16 and bool(DIGITS.match(level)) and abs(int(level)) >= LARGE
        for level in levels
    ]
    merged = len(
        {float(level) for level, is_long in zip(levels, long, strict=True) if is_long}
    ) < sum(long)
    return merged and bool(counts[np.array(long, dtype=bool)].sum() > 0.5 * counts.sum())


def _converted(column: Column, style: TextFormat) -> Column:
    read = read_levels(column.levels, style)
    values = np.append(read, np.nan)[column.category_codes]
    infinite = np.isinf(values)  # e.g. 1e999
    values[infinite] = np.nan
    known = values[~np.isnan(values)]
    whole = bool(known.size and (known == np.round(known)).all())
    return Column(
        column.name,
        "time" if style.kind == "time" else "number",
        values,
        whole=whole,
        n_infinite=int(infinite.sum()),
        zone=read_zone(column.levels, read, style),
    )


def _useless(column: Column, forced: bool, keep: bool) -> Exclusion | None:
    missing = float(column.missing.mean())
    if column.opaque:
        return Exclusion("opaque_cells")
    if missing == 1:
        return Exclusion("empty")
    if missing == 0 and column.is_constant:
        return Exclusion("constant")
    if forced or keep:
        return None
    if missing > MOSTLY_MISSING:
        kind: ExclusionKind = "one_value_or_missing" if column.is_constant else "mostly_missing"
        return Exclusion(kind, missing)
    return _identifier(column)


def _identifier(column: Column) -> Exclusion | None:
    """Return why a column identifies rows instead of describing them, or ``None``."""
    is_named = bool(IDENTIFIER_NAME.search(column.name))
    if column.kind == "category":
        found = _identifying_text(column)
    elif column.kind == "number" and column.whole:
        found = _identifying_numbers(column, is_named)
    else:
        return None
    if found is None and is_named and _nearly_all_differ(column):
        return Exclusion("nearly_unique_identifier")
    if found is None and names_shared_ids(column) and _few_share_each(column):
        return Exclusion("shared_identifier")
    if found is None and column.kind == "number" and SerialTally().add(column.values).is_serial:
        return Exclusion("serial_numbers")
    return found


def _identifying_numbers(column: Column, is_named: bool) -> Exclusion | None:
    if not _all_differ(column):
        return None
    if (np.diff(np.sort(column.values)) == 1).all() and column.values.min() in (0, 1):
        return Exclusion("row_counter")
    return Exclusion("unique_identifier") if is_named else None


def _identifying_text(column: Column) -> Exclusion | None:
    n_rows, distinct = len(column), column.n_distinct
    all_differ = distinct == n_rows - int(column.missing.sum()) and distinct > 2
    if not all_differ and (distinct <= FREE_TEXT_SHARE * n_rows or distinct <= FEW_LEVELS):
        return None
    if are_mixed_dates(column.levels, np.ones(len(column.levels))):
        return Exclusion("mixed_dates")
    digits = all(level.isdigit() for level in column.levels)
    return Exclusion("unique_codes" if digits else "unique_text")


def _all_differ(column: Column) -> bool:
    """Whether there are more than two integers, none missing or repeated.

    They are sorted only if their range has room for that many.
    """
    n_rows, values = len(column), column.values
    # Halves, because the range may overflow.
    has_room = n_rows > 2 and values.max() / 2 - values.min() / 2 >= (n_rows - 1) / 2
    return bool(has_room) and column.n_distinct == n_rows


def _nearly_all_differ(column: Column) -> bool:
    """Whether there are more than two known cells, hardly any of them repeated."""
    n_known = len(column) - int(column.missing.sum())
    return n_known > 2 and column.n_distinct >= IDENTIFIER_SHARE * n_known


def names_shared_ids(column: Column) -> bool:
    """Whether a column is named like an identifier, and has numbers, or numbers in one form.

    ``2015-000330`` and ``C-17`` are such texts; words and codes of several forms may be categories.
    """
    if not IDENTIFIER_NAME.search(column.name) or PLACE_NAME.search(column.name):
        return False
    if column.kind != "category":
        return column.kind == "number" and column.whole and bool(ID_NAME.search(column.name))
    counts = np.bincount(column.category_codes[~column.missing], minlength=len(column.levels))
    forms = Counter[str]()
    for level, count in zip(column.levels, counts.tolist(), strict=True):
        forms[NUMBER.sub("0", level.strip())] += count
    ((form, n_cells),) = forms.most_common(1)
    # Text that is read as numbers needs the name that numbers need.
    is_text = form.strip("0.,' ") != "" or ID_NAME.search(column.name) is not None
    return is_text and "0" in form and n_cells >= IDENTIFIER_SHARE * counts.sum()


def _few_share_each(column: Column) -> bool:
    """Whether there are many values, each in a few rows."""
    n_known = len(column) - int(column.missing.sum())
    return column.n_distinct > SHARED_VALUES and column.n_distinct >= SHARED_SHARE * n_known
