"""Checks of dates: in the future, before 1900, and far from all others."""

from datetime import UTC, datetime

import numpy as np

from odefs.tables.checks.extreme_values import extreme_suspects
from odefs.tables.checks.facts import LEAST_CELLS, NumberFacts
from odefs.tables.checks.numbers import name_words
from odefs.tables.checks.record import Suspect
from odefs.tables.columns import SECONDS_PER_DAY

FIRST_DATE = datetime(1900, 1, 1, tzinfo=UTC).timestamp()
DATE_SHARE = 0.05
"""If more dates than these are early or in the future, the table is about the past or the future.
"""
PLANNED = frozenset(
    [
        *(
            "due",
            "expiry",
            "expires",
            "expiration",
            "expected",
            "end",
            "until",
            "valid",
            "deadline",
        ),
        *("planned", "plan", "forecast", "maturity", "next", "renewal", "scheduled", "target"),
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
    found = []
    end = today + SECONDS_PER_DAY
    limit = max(1, DATE_SHARE * facts.sample.size)
    low, high = -np.inf, np.inf
    if highest[0] >= end and np.count_nonzero(facts.sample >= end) <= limit:
        high = np.nextafter(end, 0)
        if PLANNED.isdisjoint(name_words(facts.name)):
            found.append(facts.suspect("future_date", 0.9, above=high, usual=(today,)))
    if lowest[0] < FIRST_DATE and np.count_nonzero(facts.sample < FIRST_DATE) <= limit:
        low = FIRST_DATE
        found.append(facts.suspect("early_date", 0.85, below=low))
    return [*found, *extreme_suspects(facts, (), low, high)]
