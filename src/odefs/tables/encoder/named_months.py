"""Dates with English names of months: ``5 May 2013``, ``May 5, 2013 4:34 PM``, ``May 2013``."""

import re
from datetime import UTC, datetime, timedelta

import numpy as np

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?P<half>[AaPp])\.?(?:[Mm]\.?)?)?"
)
"""A time of day on a clock of 24 or of 12 hours."""

_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}[.,]? ?)?"
_DAY, _NAME = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<month>[A-Za-z]{3,9})\.?"
_REST = rf"(?:(?:, ?| |T|:){CLOCK})?(?: ?(?P<zone>Z|UTC|GMT|[-+]\d{{2}}:?\d{{2}}))?$"
PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{_WEEKDAY}{_DAY}[ ./-]{_NAME}[ ./,-] ?(?P<year>\d{{4}}|\d{{2}}){_REST}",
        rf"^{_WEEKDAY}{_NAME} {_DAY}(?:, ?| )(?P<year>\d{{4}}){_REST}",
        rf"^{_NAME}[ ./-](?P<year>\d{{4}})$",
    )
)

DEFAULTS = {"day": "1", "hour": "0", "minute": "0", "second": "0", "fraction": "0"}
"""Parts of a date that a text may lack."""


def hour_of_day(hour: int, half: str | None) -> int | None:
    """Return the hour of a clock of 24 hours; ``half`` is the letter of AM or PM, if given."""
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        return None
    return hour % 12 + (12 if half in "pP" else 0)


def full_year(year: str) -> int:
    """Return the year; two digits mean 1969 to 2068, as in the C library."""
    return int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= 69 else 2000)


def named_month_date(text: str) -> float:
    """Parse to seconds since 1970; NaN if the text is not such a date."""
    text = " ".join(text.split())
    match = next((found for pattern in PATTERNS if (found := pattern.match(text))), None)
    if match is None or (month := _month(match["month"])) is None:
        return np.nan
    part = DEFAULTS | {name: text for name, text in match.groupdict().items() if text}
    hour = hour_of_day(int(part["hour"]), part.get("half"))
    if hour is None:
        return np.nan
    day, minute, second = (int(part[name]) for name in ("day", "minute", "second"))
    try:
        when = datetime(full_year(part["year"]), month, day, hour, minute, second, tzinfo=UTC)
        when = when.replace(microsecond=int(part["fraction"][:6].ljust(6, "0")))
        return (when - _offset(part.get("zone"))).timestamp()
    except (ValueError, OverflowError):
        return np.nan


def _month(name: str) -> int | None:
    found = [number for number, full in enumerate(MONTHS, 1) if full.startswith(name.lower())]
    return found[0] if found else None


def _offset(zone: str | None) -> timedelta:
    """Return how far local time is ahead of UTC."""
    if zone is None or zone[0] not in "+-":
        return timedelta(0)
    ahead = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return -ahead if zone[0] == "-" else ahead
