"""Dates and times written in digits: ISO 8601, day or month first, times of day, seasons.

Those with names of months are in :mod:`odefs.tables.encoder.named_months`.
"""

import re
from datetime import UTC, datetime

import numpy as np

from odefs.tables.encoder.named_months import CLOCK, full_year, hour_of_day

NUMERIC = re.compile(
    r"^(?P<first>\d{1,2})(?P<mark>[./-])(?P<next>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})"
    rf"(?:[ T]{CLOCK})?$"
)
_ISO = re.compile(r"^\d{4}[-/]\d{2}[-/]\d{2}")
_MONTH = re.compile(r"^(?P<year>\d{4})[-/](?P<month>\d{2})$", re.ASCII)
_TIME = re.compile(rf"^{CLOCK}$")
_COMPACT = re.compile(r"^(?:1[89]|20)\d{6}$", re.ASCII)


def iso_date(text: str) -> float:
    text = text.strip()
    if _MONTH.match(text):
        text += "-01"
    if not _ISO.match(text):
        return np.nan
    try:
        when = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return np.nan
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def compact_date(text: str) -> float:
    text = text.strip()
    return iso_date(f"{text[:4]}-{text[4:6]}-{text[6:]}") if _COMPACT.match(text) else np.nan


def numeric_date(text: str, day_first: bool) -> float:
    match = NUMERIC.match(text.strip())
    if match is None:
        return np.nan
    part = match.groupdict("0")
    day, month = (part["first"], part["next"]) if day_first else (part["next"], part["first"])
    hour = hour_of_day(int(part["hour"]), match["half"])
    if hour is None:
        return np.nan
    minute, second = int(part["minute"]), int(part["second"])
    try:
        when = datetime(
            full_year(part["year"]), int(month), int(day), hour, minute, second, tzinfo=UTC
        )
        return when.replace(microsecond=int(part["fraction"][:6].ljust(6, "0"))).timestamp()
    except ValueError:
        return np.nan


def time_of_day(text: str) -> float:
    """Parse to whole seconds, as columns of type time are read."""
    match = _TIME.match(text.strip())
    if match is None:
        return np.nan
    hour = hour_of_day(int(match["hour"]), match["half"])
    minute, second = int(match["minute"]), int(match["second"] or 0)
    if hour is None or hour >= 24 or minute >= 60 or second >= 60:
        return np.nan
    return float(hour * 3600 + minute * 60 + second)


def plain_time(text: str) -> float:
    seconds = iso_date(text)
    return time_of_day(text) if np.isnan(seconds) else seconds


def is_season(text: str) -> bool:
    """Whether the text names two years, as 2009-10 does, which is not October 2009."""
    match = _MONTH.match(text.strip())
    return match is not None and int(match["month"]) == (int(match["year"]) + 1) % 100
