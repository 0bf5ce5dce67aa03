"""Numbers, dates and reasons as people read them."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from odefs.inspection.reason import Reason
from odefs.tables.columns import SECONDS_PER_DAY
from odefs.tables.readers.file_names import readable


def number(value: float, digits: int = 6) -> str:
    """At most so many digits, but all those before the point; thousands are set apart from 10,000 on, so that years stay years."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1e15 or abs(value) < 1e-4:
        return f"{value:.4g}"
    digits = max(0, digits - max(1, math.floor(math.log10(abs(value))) + 1))
    text = f"{value:,.{digits}f}" if abs(value) >= 10_000 else f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def without_controls(text: str) -> str:
    """Text that a terminal only shows: what would move its cursor or colour it is taken out, breaks become spaces."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c.isspace() else "" for c in readable(text))


def say_value(value: Any, kind: str, beside: Sequence[Any] = ()) -> str:
    """A cell as text. ``beside`` are further values of its column, which tell times of day from dates."""
    if value is None:
        return "(missing)"
    if kind == "time":
        return _say_time(float(value), beside)
    if kind == "boolean":
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def _say_time(seconds: float, beside: Sequence[Any]) -> str:
    """A time of day is seconds within a day, in a column of such: the first day of 1970 is a date where dates are usual."""
    if all(0 <= second < SECONDS_PER_DAY for second in (seconds, *beside)):
        return f"{int(seconds) // 3600:02d}:{int(seconds) % 3600 // 60:02d}"
    try:
        when = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{seconds:.6g} s"
    return f"{when:%Y-%m-%d}" if seconds % SECONDS_PER_DAY == 0 else f"{when:%Y-%m-%d %H:%M}"


def say_reason(reason: Reason, hidden: bool = False) -> str:
    """``amount = 1426.89``, in one line whatever names and values hold."""
    beside = reason.usual if reason.kind == "time" and reason.usual else ()
    said = "(hidden)" if hidden else say_value(reason.value, reason.kind, beside)
    return without_controls(f"{reason.column} = {said}")


def say_place(reason: Reason) -> str:
    """Where the value lies in its column."""
    if reason.percentile is not None and reason.beyond is not None:
        return f"{'above' if reason.percentile >= 50 else 'below'} {_percent(reason.beyond)} of the rows"
    if reason.frequency is not None:
        return f"so in {_percent(100 * reason.frequency)} of the rows"
    return ""


def say_usual(reason: Reason) -> str:
    """What ordinary rows like this one have there."""
    if reason.usual is None:
        return ""
    first, second = reason.usual
    if reason.kind in ("number", "time"):
        low, high = (say_value(bound, reason.kind, reason.usual) for bound in (first, second))
        return f"rows like it have {low} to {high}"
    return f"{second:.0%} of the rows like it have {say_value(first, reason.kind)}"


def _percent(share: float) -> str:
    """Never rounded to all or none."""
    if 0 < share < 0.1:
        return "less than 0.1 %"
    if 99.9 < share < 100:
        return "more than 99.9 %"
    return f"{share:.3g} %"


def ordinary(median: float) -> str:
    """What an ordinary row scores: the mean of the training rows, unless a few far ones have moved it away from the middle."""
    if 0.8 <= median <= 1.25:
        return "An ordinary row scores 1.0."
    said = f"{median:.2g}" if median < 0.1 else f"{median:.2f}" if median < 1000 else number(median)
    return f"Half of the rows score {said} or less; training rows average 1.0."


NAMED = 6


def noise(columns: Sequence[str]) -> str:
    """Which columns count little because they look like noise; empty where none does."""
    if not columns:
        return ""
    more = f" and {len(columns) - NAMED:,} more" if len(columns) > NAMED else ""
    return f"Taken for noise (related to no other column, no far values) and counted a tenth: {', '.join(columns[:NAMED])}{more}."


def trusted(share: float, was_given: bool = False, beside_noise: bool = False) -> str:
    """How far the model relied on the columns it has learned; behind :func:`noise` where there are noise columns."""
    which = "All others" if beside_noise else "All columns"
    if share == 0 and was_given:
        return f"{which} count alike in the score, as asked for."
    if share == 0:
        return f"{which} count alike in the score: looking at fewer of them was not found to be safe."
    if share == 1:
        return "The score comes from columns like these alone."
    return f"Columns like these have {share:.0%} of the score, all columns together the rest."
