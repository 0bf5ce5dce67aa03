"""Checks of dates: those in the future, those before 1900, and those far from all others.

If all of them are centuries old, the column was read or written in a wrong format.
"""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from odefs.tables.checks.extreme_values import extreme_suspects
from odefs.tables.checks.facts import LEAST_CELLS, NumberFacts, name_words
from odefs.tables.frames.columns import SECONDS_PER_DAY
from odefs.tables.records.checks import Suspect

FIRST_DATE = datetime(1900, 1, 1, tzinfo=UTC).timestamp()
FIRST_COLUMN = datetime(1500, 1, 1, tzinfo=UTC).timestamp()
"""If all dates are earlier, years have lost their century, as in 0014-11-18."""
DATE_SHARE = 0.05
"""If more dates than these are early or in the future, the table is about the past or the future.
"""
PLANNED = frozenset(
    [
        *("due", "expiry", "expires", "expiration", "expected", "end", "until", "valid"),
        *("deadline", "planned", "plan", "forecast", "maturity", "next", "renewal", "scheduled"),
        "target",
    ]
)
"""Words in the names of columns whose dates may lie in the future."""


def date_suspects(facts: NumberFacts, today: float) -> list[Suspect]:
    """Return the suspects of a column of times; ``today`` is the start of the day."""
    lowest, highest = facts.lowest(), facts.highest()
    if facts.n < LEAST_CELLS or not lowest.size:
        return []
    if lowest[0] >= 0 and highest[0] < SECONDS_PER_DAY:
        return []  # times of day
    future, early = _future(facts, today), _early(facts) or _early_column(facts)
    low = early[0].below if early and early[0].kind == "early_date" else -np.inf
    high = future[0].above if future else np.inf
    extreme = extreme_suspects(facts, (), low, high)
    if future and not PLANNED.isdisjoint(name_words(facts.name)):
        # Planned dates are neither far nor named: they belong to the others.
        future = []
        extreme = [replace(one, usual=(one.usual[0], float(highest[0]))) for one in extreme]
    return [*future, *early, *extreme]


def _future(facts: NumberFacts, today: float) -> list[Suspect]:
    """Dates after the day that starts at ``today``, if they are few."""
    # The day itself is not in the future.
    end = today + SECONDS_PER_DAY
    if facts.highest()[0] < end or not _are_few(facts.sample >= end):
        return []
    return [facts.suspect("future_date", 0.9, above=np.nextafter(end, 0), usual=(today,))]


def _early(facts: NumberFacts) -> list[Suspect]:
    """Dates before 1900, if they are few."""
    if facts.lowest()[0] >= FIRST_DATE or not _are_few(facts.sample < FIRST_DATE):
        return []
    return [facts.suspect("early_date", 0.85, below=FIRST_DATE)]


def _early_column(facts: NumberFacts) -> list[Suspect]:
    """All dates, if they are before 1500."""
    lowest, highest = float(facts.lowest()[0]), float(facts.highest()[0])
    if highest >= FIRST_COLUMN:
        return []
    return [facts.suspect("early_column", 0.9, below=FIRST_COLUMN, usual=(lowest, highest))]


def _are_few(chosen: np.ndarray) -> bool:
    """Whether so few of the dates are chosen that they may be errors."""
    return int(np.count_nonzero(chosen)) <= max(1, DATE_SHARE * chosen.size)
