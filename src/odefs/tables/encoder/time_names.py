"""Names of times used as categories, and matching of times that were written differently.

A model may be trained on a csv file, whose texts are the names, and score a parquet file, or the
other way round. Older models use seconds since 1970 as names.
"""

import math
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import numpy as np

from odefs.tables.encoder.text_formats import PLAIN
from odefs.tables.frames.columns import SECONDS_PER_DAY

EPOCH = datetime(1970, 1, 1)
DATE, STAMP, CLOCK = "date", "date and time", "time of day"
_FORMS = {DATE: re.compile(r"^\d{4}-\d{2}-\d{2}$"), CLOCK: re.compile(r"^\d{1,2}:\d{2}(:\d{2})?$")}
_TIME = re.compile(r"^(\d{4}[-/]\d{2}[-/]\d{2}([ T]\d|$)|\d{1,2}:\d{2})")
_FRACTION = re.compile(r"(?<=^\d{2}:\d{2}:\d{2})\.\d+$")
_SECONDS = re.compile(r"^-?\d+(\.\d+)?$")


def number_name(value: float) -> str:
    """Return the category name of a number."""
    return f"{int(value)}" if value.is_integer() else repr(value)


def time_names(seconds: Sequence[float] | np.ndarray, known: Sequence[str] = ()) -> list[str]:
    """Return the category of each time.

    That is the one in ``known`` with the same meaning, otherwise a name in the format of ``known``,
    or by default in a format that suits all times.
    """
    values = [float(value) for value in seconds]
    meant = _meant(known)
    form = _form_of(known) or _form_for(values)
    return [meant.get(value) or _named(value, form) for value in values]


def known_times(levels: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Map texts to the category of a model with the same meaning but another notation."""
    if not known or not all(map(_TIME.match, known)):
        return {}
    meant, strange = _meant(known), set(levels).difference(known)
    found = {level: meant.get(_seconds(level)) for level in strange if _TIME.match(level)}
    return {level: name for level, name in found.items() if name is not None}


def _seconds(text: str) -> float:
    """Parse a time; times of day are truncated to seconds, as when read from frames."""
    return PLAIN["time"].read(_FRACTION.sub("", text))


def _meant(known: Sequence[str]) -> dict[float, str]:
    """Map times to the categories of a model, if all of these are times or all are seconds."""
    if known and all(map(_TIME.match, known)):
        # Reversed, so that of two names for the same time the first one is used.
        read = {name: _seconds(name) for name in reversed(known)}
        return {seconds: name for name, seconds in read.items() if not math.isnan(seconds)}
    if known and all(map(_SECONDS.match, known)):
        return {float(name): name for name in known}
    return {}


def _form_of(known: Sequence[str]) -> str | None:
    if not known or not all(map(_TIME.match, known)):
        return None
    return next((form for form, pattern in _FORMS.items() if all(map(pattern.match, known))), STAMP)


def _form_for(values: Sequence[float]) -> str:
    """Choose a format as in csv files: values within the first day of 1970 are times of day."""
    if all(0 <= value < SECONDS_PER_DAY for value in values):
        return CLOCK
    return DATE if all(value % SECONDS_PER_DAY == 0 for value in values) else STAMP


def _named(value: float, form: str) -> str:
    try:
        when = EPOCH + timedelta(microseconds=round(value * 1e6))
    except (OverflowError, ValueError):
        return number_name(value)  # the year does not have four digits
    if form == CLOCK and 0 <= value < SECONDS_PER_DAY:
        return f"{when:%H:%M:%S}"
    return (
        when.date().isoformat()
        if form == DATE and value % SECONDS_PER_DAY == 0
        else when.isoformat(sep=" ")
    )
