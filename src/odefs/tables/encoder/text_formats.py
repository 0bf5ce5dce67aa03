"""Text formats of numbers and dates: decimal commas, thousands separators, currencies, percentages,
units, day-first dates, and words for "missing".

Formats are applied to the distinct values of a column. A format is chosen on a sample and applied
to all values; cells that it cannot read count as missing, with a note.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from odefs.tables.encoder.detection_limits import MIN_MEASURED, is_limit, without_sign
from odefs.tables.encoder.magnitudes import are_opposite, conversion, of_bare_numbers
from odefs.tables.encoder.mixed_dates import day_order, mixed_date
from odefs.tables.encoder.named_months import named_month_date
from odefs.tables.encoder.units import MIN_UNIT_SHARE, UNIT, common_unit, quantity, unit_key
from odefs.tables.encoder.written_dates import (
    compact_date,
    is_season,
    iso_date,
    numeric_date,
    plain_time,
    time_of_day,
)
from odefs.tables.encoder.written_numbers import (
    has_leading_zero,
    number_in,
    points_are_thousands,
)
from odefs.tables.frames.time_zones import zone_of_texts
from odefs.tables.records.notes import COMPACT_DATES

MISSING_WORDS = frozenset(["", "na", "n/a", "n.a.", "#n/a", "nan", "null", "-", "--", "?"])
MISSING_CODES = frozenset([".", "..", "..."])
"""Missing numbers and dates in files from Stata, SAS and the World Bank; other text may be so."""
MIN_READABLE_SHARE = 0.9
"""Share of rows that must be readable as numbers (or dates) to convert a column."""

SAMPLE_CELLS = 500

MIN_COMPACT_SHARE = 0.99
"""Share of rows that must be such dates: other numbers of eight digits rarely are."""


@dataclass(frozen=True)
class TextFormat:
    """How to read a column's text; :func:`format_named` finds it by its name in model files."""

    name: str
    kind: str
    read: Callable[[str], float]


def is_missing_word(text: str) -> bool:
    return text.strip().lower() in MISSING_WORDS


MOST_CLASSES = 10
"""Range of whole numbers up to which a column with limits is one of classes: 1, 2, 3 and >3."""


def is_missing_value(text: str) -> bool:
    """Whether a cell is missing in a column of numbers or dates."""
    return is_missing_word(text) or text.strip() in MISSING_CODES


_ALL = (
    TextFormat("numbers", "number", lambda text: number_in(text, ".")),
    TextFormat("numbers with decimal comma", "number", lambda text: number_in(text, ",")),
    TextFormat("ISO dates", "time", iso_date),
    TextFormat("day-first dates", "time", lambda text: numeric_date(text, day_first=True)),
    TextFormat("month-first dates", "time", lambda text: numeric_date(text, day_first=False)),
    TextFormat("dates with month names", "time", named_month_date),
    TextFormat("times of day", "time", time_of_day),
    TextFormat(COMPACT_DATES, "time", compact_date),
)
TEXT_FORMATS = {style.name: style for style in _ALL}
_DATES = tuple(style for style in _ALL if style.kind == "time" and "dates" in style.name)
_MIXED_DATES = "dates in several formats"
_OF_ORDER = {
    None: TextFormat(_MIXED_DATES, "time", lambda text: mixed_date(text, None)),
    True: TextFormat(f"{_MIXED_DATES}, day first", "time", lambda text: mixed_date(text, True)),
    False: TextFormat(f"{_MIXED_DATES}, month first", "time", lambda text: mixed_date(text, False)),
}
"""Formats of columns with dates in several formats, by whether the day comes first."""
_ORDER_OF = {"day-first dates": True, "month-first dates": False}
_BY_NAME = TEXT_FORMATS | {style.name: style for style in _OF_ORDER.values()}


_NUMBERS = (TEXT_FORMATS["numbers"], TEXT_FORMATS["numbers with decimal comma"])
_OF_NUMBERS = re.compile(
    rf"(?P<name>{'|'.join(style.name for style in _NUMBERS)})(?P<limits> or limits)?"
    rf"(?: \((?P<unit>{UNIT}|%)\))?"
)


def format_named(name: str) -> TextFormat | None:
    """Return the format of a name.

    Those of numbers may have limits and a unit, as in ``numbers or limits (kg)``.
    """
    match = _OF_NUMBERS.fullmatch(name)
    if match is None:
        return _BY_NAME.get(name)
    plain, unit = TEXT_FORMATS[match["name"]], match["unit"]
    style = plain if unit is None else _with_unit(plain.name, unit)
    return _with_limits(style) if match["limits"] else style


def unit_of(name: str) -> str:
    """Return the unit in the name of a format; empty if it has none."""
    match = _OF_NUMBERS.fullmatch(name)
    return "" if match is None else match["unit"] or ""


def has_limits(name: str) -> bool:
    """Whether the format of a name reads limits such as ``<0.5`` as numbers."""
    match = _OF_NUMBERS.fullmatch(name)
    return match is not None and match["limits"] is not None


def _with_limits(style: TextFormat) -> TextFormat:
    """Return a format of numbers that also reads limits, as the number behind the sign."""
    name, unit, of_unit = style.name.partition(" (")
    return TextFormat(
        f"{name} or limits{unit}{of_unit}", "number", lambda text: style.read(without_sign(text))
    )


def _with_unit(name: str, unit: str) -> TextFormat:
    """Return the format of numbers with a unit; numbers without one are in the same unit.

    Magnitudes are converted to that of the column, in which numbers without one are ones.
    Percentages are read as fractions, plain numbers among them as they are.
    """
    plain, key, bare = TEXT_FORMATS[name].read, unit_key(unit), of_bare_numbers(unit)
    if unit == "%":
        return TextFormat(f"{name} (%)", "number", plain)

    def read(text: str) -> float:
        found = quantity(text)
        if found is None:
            return np.nan if "%" in text else plain(text) * bare
        factor = conversion(unit_key(found.unit), key)
        return np.nan if factor is None else plain(found.number) * factor

    return TextFormat(f"{name} ({unit})", "number", read)


PLAIN = {
    "number": TEXT_FORMATS["numbers"],
    "time": TextFormat("ISO dates or times of day", "time", plain_time),
}
"""Formats for text in columns that were not text in training: one cell does not determine one."""


def recognise(
    levels: Sequence[str], counts: np.ndarray, is_number: bool = False
) -> TextFormat | None:
    """Return the format that reads a column's distinct values, or ``None`` if they are just text.

    ``counts`` is the number of occurrences of each value. ``is_number`` if the column is known to
    hold numbers.
    """
    places = [i for i, level in enumerate(levels) if not is_missing_value(level)]
    known, occurring = [levels[i] for i in places], counts[places]
    limits = _format_of_limits(known, occurring, is_number)
    return _recognised(known, occurring, is_number) if limits is None else limits


def _format_of_limits(
    known: Sequence[str], counts: np.ndarray, is_number: bool
) -> TextFormat | None:
    """Return the format of numbers some of which are limits; ``None`` for other columns."""
    measured = [text for text in known if not is_limit(text)]
    if len(measured) == len(known):
        return None
    found = _recognised([without_sign(text) for text in known], counts, is_number)
    if found is None or found.kind != "number":
        return None
    values = {value for text in measured if not np.isnan(value := found.read(text))}
    if is_number:
        return _with_limits(found) if values else None
    if len(values) < max(MIN_MEASURED, len(known) - len(measured)):
        return None
    # Whole numbers close together next to ">3" are classes.
    is_narrow = max(values) - min(values) < MOST_CLASSES
    are_classes = is_narrow and all(value == round(value) for value in values)
    return None if are_classes else _with_limits(found)


def _recognised(known: Sequence[str], counts: np.ndarray, is_number: bool) -> TextFormat | None:
    """Return the format of distinct values of which none is missing."""
    if not known or _are_codes_or_seasons(known):
        return None
    step = max(1, len(known) // SAMPLE_CELLS)
    texts, weights = known[::step], counts[::step]
    if not is_number and are_compact_dates(texts, weights):
        return TEXT_FORMATS[COMPACT_DATES]
    found = _format_without_unit(known, texts, weights)
    if (dates := _mixed_dates(known, found, texts, weights)) is not None:
        return dates
    if found is None:
        return _format_with_unit(known, texts, weights, is_number)
    return _of_percentages(found, texts, weights)


def _mixed_dates(
    known: Sequence[str], single: TextFormat | None, texts: Sequence[str], weights: np.ndarray
) -> TextFormat | None:
    """Return the format that reads dates in several formats, if they can be told apart.

    ``single`` is the format that reads most of the sample ``texts`` of the ``known`` values, if one
    does. Other dates of the column need not be lost.
    """
    if single is None:
        mixed = _OF_ORDER[day_order(known)] if are_mixed_dates(texts, weights) else None
        return mixed and _best_format(texts, weights, [mixed])
    if single not in _DATES or single.name == COMPACT_DATES:
        return None
    others = [text for text in known if np.isnan(single.read(text))]
    mixed = _OF_ORDER[_ORDER_OF.get(single.name, day_order(others))]
    return mixed if any(not np.isnan(mixed.read(text)) for text in others) else None


def _are_codes_or_seasons(levels: Sequence[str]) -> bool:
    """Whether values that look like numbers or dates are names."""
    # One code with leading zeros shows that all values are codes, as ``TextTypes`` decides too.
    return any(map(has_leading_zero, levels)) or all(map(is_season, levels))


def _format_without_unit(
    known: Sequence[str], texts: Sequence[str], weights: np.ndarray
) -> TextFormat | None:
    """Return the format that reads the sample ``texts`` of the ``known`` values, if one does."""
    # All values are needed here: a single 1.5 shows that the points are decimal.
    if points_are_thousands(known):
        return TEXT_FORMATS["numbers with decimal comma"]
    return _best_format(texts, weights, tuple(TEXT_FORMATS.values()))


def _of_percentages(style: TextFormat, texts: Sequence[str], weights: np.ndarray) -> TextFormat:
    """Return the format of numbers with the unit %, if nearly all cells have it."""
    n_percent = float((weights * ["%" in text for text in texts]).sum())
    are_percentages = style in _NUMBERS and n_percent >= MIN_UNIT_SHARE * float(weights.sum())
    return _with_unit(style.name, "%") if are_percentages else style


def _format_with_unit(
    known: Sequence[str], texts: Sequence[str], weights: np.ndarray, is_number: bool
) -> TextFormat | None:
    """Return the format that reads the sample ``texts`` as numbers with a unit, if one does."""
    unit = common_unit(texts, weights, is_number)
    if unit is None:
        return None
    bare = [one.number for text in texts if (one := quantity(text))]
    if any(map(has_leading_zero, bare)):
        return None
    names = [style.name for style in (_NUMBERS[1:] if points_are_thousands(bare) else _NUMBERS)]
    found = _best_format(texts, weights, [_with_unit(name, unit) for name in names])
    # Amounts of credit and debit, or degrees north and south, are not comparable as numbers.
    # All values are searched, because the sample may lack the few of the other direction.
    return None if found and _are_opposite(known, found) else found


def _are_opposite(levels: Sequence[str], style: TextFormat) -> bool:
    unit = unit_key(unit_of(style.name))
    others = {unit_key(one.unit) for text in levels if (one := quantity(text))}
    return are_opposite({unit, *others})


def are_compact_dates(levels: Sequence[str], counts: np.ndarray) -> bool:
    """Whether nearly all cells are dates such as 20250403, of more than two days."""
    is_date = ~np.isnan([compact_date(level) for level in levels])
    share = float((counts * is_date).sum())
    return int(is_date.sum()) > 2 and share >= MIN_COMPACT_SHARE * float(counts.sum())


def are_mixed_dates(levels: Sequence[str], counts: np.ndarray) -> bool:
    """Whether nearly all cells are dates, in formats of which none reads nearly all."""
    step = max(1, len(levels) // SAMPLE_CELLS)
    weights = counts[::step]
    is_date = [any(not np.isnan(one.read(text)) for one in _DATES) for text in levels[::step]]
    return float((weights * is_date).sum()) >= MIN_READABLE_SHARE * float(weights.sum()) > 0


def _best_format(
    texts: Sequence[str], weights: np.ndarray, styles: Sequence[TextFormat]
) -> TextFormat | None:
    """Return the format that reads most of the texts, if it reads enough of them."""
    best: tuple[float, TextFormat] | None = None
    for style in styles:
        read = ~np.isnan([style.read(text) for text in texts])
        share = float((weights * read).sum() / weights.sum())
        # The first format wins ties: a point is a decimal mark, and 03/04 is 3 April, unless
        # other values of the column contradict.
        if share >= MIN_READABLE_SHARE and (best is None or share > best[0]):
            best = share, style
    return None if best is None else best[1]


def read_levels(levels: Sequence[str], style: TextFormat) -> np.ndarray:
    """Parse each distinct value; NaN for missing values and unreadable text."""
    return np.array(
        [np.nan if is_missing_value(level) else style.read(level) for level in levels],
        dtype=np.float64,
    )


def read_zone(levels: Sequence[str], read: np.ndarray, style: TextFormat) -> str:
    """Return the time zone of dates, given each distinct value as text and as it was read."""
    if style.kind != "time":
        return ""
    return zone_of_texts(levels[k] for k in np.flatnonzero(np.isfinite(read)).tolist())
