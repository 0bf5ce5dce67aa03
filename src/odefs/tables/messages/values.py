"""Formatting of numbers, shares, sizes, times and cells."""

import math
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from itertools import accumulate
from typing import Any

from odefs.tables.frames.columns import DURATION, SECONDS_PER_DAY
from odefs.tables.frames.time_zones import zone_named
from odefs.tables.polars_names import readable

MISSING = "missing"
HIDDEN = "(hidden)"
KIND_NAMES = {
    "number": "numbers",
    "time": "dates or times",
    "boolean": "booleans",
    "category": "text",
}
"""Names of column kinds in messages."""
PLAIN_NAME = re.compile(r"[\w./%+:@-]+")
NAMED = 6
"""Maximum number of columns to name in a message; the others are counted."""


def number(value: float, digits: int = 6) -> str:
    """Format with at most ``digits`` digits, but all of those before the decimal point.

    Thousands are separated from 10,000 on, so that years have no separator.
    """
    if digits == 6 and 1 <= abs(value) < 10_000:
        return f"{value:.6g}"  # the same text as below, several times as fast
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1e15 or abs(value) < 1e-4:
        return f"{value:.4g}"
    digits = max(0, digits - max(1, math.floor(math.log10(abs(value))) + 1))
    text = f"{value:,.{digits}f}" if abs(value) >= 10_000 else f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def quantity(value: float, unit: str, digits: int = 6) -> str:
    """Format a number with its unit; fractions as percentages, seconds of durations as such."""
    if unit == DURATION:
        return duration(value)
    if unit == "%":
        return f"{number(100 * value, digits)}%"
    return f"{number(value, digits)} {unit}" if unit else number(value, digits)


def duration(seconds: float) -> str:
    """Format a duration: ``40 days, 0:00:00``."""
    try:
        # Python writes -5 seconds as "-1 day, 23:59:55".
        return f"{'-' if seconds < 0 else ''}{timedelta(seconds=abs(seconds))}"
    except OverflowError:
        return f"{seconds:.6g} s"


def year(seconds: object) -> int:
    """Return the year of a time in seconds since 1970."""
    assert isinstance(seconds, float)
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).year
    except OverflowError:  # before the year 1
        return math.floor(1970 + seconds / (365.2425 * SECONDS_PER_DAY))


def count(value: int, noun: str = "", nouns: str = "") -> str:
    """Format a number of things: ``count(1, "row") == "1 row"``."""
    text = f"{value:,}"
    return text if not noun else f"{text} {noun if value == 1 else nouns or noun + 's'}"


def score(value: float) -> str:
    return f"{value:.2f}" if value < 1000 else number(value)


def percent(share: float) -> str:
    """Format a share as a percentage; only 0 and 1 are displayed as 0% and 100%."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    points = 100 * share
    # Rounded down, because 99.96 must not be displayed as 100%.
    if 99 < points < 100:
        return f"{math.floor(10 * points) / 10:g}%"
    return (
        f"{points:.1f}%" if points < 10 and round(points, 1) != round(points) else f"{points:.0f}%"
    )


def exact_percent(share: float) -> str:
    """Format a share that the user has given."""
    return f"{100 * share:.4g}%"


def size(n_bytes: int) -> str:
    amount = float(n_bytes)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:,.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:,.1f} GB"


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Join: ``a, b and c``."""
    return (
        parts[0]
        if len(parts) == 1
        else f"{', '.join(parts[:-1])} {last} {parts[-1]}"
        if parts
        else ""
    )


def first_of(
    names: Sequence[str], shown: int = NAMED, longest: float = math.inf, total: int = 0
) -> str:
    """Join: ``a, b, c and 5 more``; names beyond the first have at most ``longest`` characters.

    ``total`` is their number if ``names`` are only the first of them.
    """
    lengths = accumulate(len(name) + len(", ") for name in names[:shown])
    shown = max(1, sum(length <= longest for length in lengths))
    n_more = max(total, len(names)) - min(shown, len(names))
    more = f" and {n_more:,} more" if n_more else ""
    return ", ".join(names[:shown]) + more


def shortened(text: str, longest: int) -> str:
    """Return text of at most ``longest`` characters; the middle of a longer one is left out."""
    if len(text) <= longest:
        return text
    text = text.strip()
    start = (longest - 1) // 2 + (longest - 1) // 4
    return f"{text[:start].rstrip()}…{text[start + 1 - longest :].lstrip()}"


def quoted_name(name: str) -> str:
    """Return a name as it is typed after an option, in quotation marks if a shell needs them."""
    if PLAIN_NAME.fullmatch(name):
        return name
    # cmd.exe knows only double quotation marks; a POSIX shell expands $ and ` inside them.
    return shlex.quote(name) if any(mark in name for mark in '"$`\\!') else f'"{name}"'


def without_controls(text: str) -> str:
    """Return text in one line, without control characters, which could manipulate a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c.isspace() else "" for c in readable(text))


def value(
    cell: Any, kind: str, digits: int = 6, context: Sequence[Any] = (), unit: str = ""
) -> str:
    """Format a cell of a column of the given kind.

    ``context`` are other values of the column, which distinguish times of day from dates. ``unit``
    is that of numbers, or the time zone of times.
    """
    if cell is None:
        return MISSING
    if kind == "boolean" and cell in (0, 1):
        return "yes" if cell else "no"
    if kind == "time":
        return _time(float(cell), context, unit)
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return quantity(float(cell), unit, digits)
    return str(cell)


def _time(seconds: float, context: Sequence[Any], zone: str) -> str:
    """A column whose values all lie within one day holds times of day; otherwise it holds dates.

    Times of day have no zone.
    """
    if not zone and all(0 <= second < SECONDS_PER_DAY for second in (seconds, *context)):
        return f"{int(seconds) // 3600:02d}:{int(seconds) % 3600 // 60:02d}"
    own, mark = zone_named(zone)
    # In its zone, the last day of the year 9999 may be in the next one.
    for at, shown in ((own, mark), (UTC, " UTC" if zone else "")):
        with suppress(OverflowError, ValueError, OSError):
            when, mark = datetime.fromtimestamp(seconds, at), shown
            break
    else:
        return f"{seconds:.6g} s"
    # Not %Y, which in some C libraries has no leading zeros.
    day = when.date().isoformat()
    return day if when.time() == time() and not mark else f"{day} {when:%H:%M}{mark}"


def span(
    bounds: Sequence[object],
    of: str,
    digits: int = 6,
    context: Sequence[object] = (),
    unit: str = "",
) -> str:
    """Format a range: ``3 to 5``, ``3 to 5 kg``, ``3% to 5%``; ``unit`` as in :func:`value`."""
    first, last = bounds
    among = (*bounds, *context) if of == "time" else ()
    high = value(last, of, digits, among, unit)
    if high == value(first, of, digits, among, unit):
        return high
    low = value(first, of, digits, among, unit if unit in ("%", DURATION) or of == "time" else "")
    return f"{low} to {high}"
