"""Numbers, dates and reasons as people read them."""

from datetime import UTC, datetime
from typing import Any

from odefs.tables.reasons import Reason

DAY = 86400


def say_value(value: Any, kind: str) -> str:
    """A cell as text."""
    if value is None:
        return "(missing)"
    if kind == "time":
        return _say_time(float(value))
    if kind == "boolean":
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _say_time(seconds: float) -> str:
    if 0 <= seconds < DAY:
        return f"{int(seconds) // 3600:02d}:{int(seconds) % 3600 // 60:02d}"
    try:
        when = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{seconds:.6g} s"
    return f"{when:%Y-%m-%d}" if seconds % DAY == 0 else f"{when:%Y-%m-%d %H:%M}"


def say_reason(reason: Reason, hidden: bool = False) -> str:
    """``amount = 1426.89``."""
    return f"{reason.column} = {'(hidden)' if hidden else say_value(reason.value, reason.kind)}"


def say_place(reason: Reason) -> str:
    """Where the value lies in its column."""
    if reason.percentile is not None:
        if reason.percentile >= 50:
            return f"above {_percent(reason.percentile)} of the rows"
        return f"below {_percent(100 - reason.percentile)} of the rows"
    if reason.frequency is not None:
        return f"so in {_percent(100 * reason.frequency)} of the rows"
    return ""


def say_usual(reason: Reason) -> str:
    """What ordinary rows like this one have there."""
    if reason.usual is None:
        return ""
    first, second = reason.usual
    if reason.kind in ("number", "time"):
        return f"rows like it have {say_value(first, reason.kind)} to {say_value(second, reason.kind)}"
    return f"{second:.0%} of the rows like it have {say_value(first, reason.kind)}"


def _percent(share: float) -> str:
    """Never rounded to all or none."""
    if 0 < share < 0.1:
        return "less than 0.1 %"
    if 99.9 < share < 100:
        return "more than 99.9 %"
    return f"{share:.3g} %"
