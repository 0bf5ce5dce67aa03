"""Calendar years as whole numbers: those in the future, and numbers that are not years.

A column holds years if its name says so and nearly all of its numbers may be some.
"""

from collections.abc import Collection
from datetime import UTC, datetime

import numpy as np

from odefs.tables.checks.dates import PLANNED
from odefs.tables.checks.facts import NumberFacts, name_words
from odefs.tables.records.checks import Suspect

NAMES = frozenset(["yr", "built"])
"""Words of names of years, next to those that begin or end with "year"."""
AMOUNTS = frozenset(["per", "yearly", "years"])
"""Words in names of amounts per year, and of numbers of years."""
FIRST_YEAR, FIRST_OF_OTHERS = 1000.0, 1500.0
"""A smaller number is not a year if all others are of the second one or later; tables of history
have years of all sizes.
"""
SHARE = 0.01
"""If more cells are too large or too small, the table is about the future or the past."""


def year_suspects(facts: NumberFacts, today: float, named: Collection[float]) -> list[Suspect]:
    """Return years in the future and numbers before all years, without ``named`` ones.

    ``today`` is the start of the day.
    """
    if facts.of == "time" or not _are_years(facts.name):
        return []
    # Zeros stand for "never".
    known = {*named, 0.0}
    # Models and seasons are named after the next year.
    last = datetime.fromtimestamp(today, UTC).year + 1.0
    rest = facts.typical(known)
    early, late = rest < FIRST_YEAR, rest > last
    years = rest[~early & ~late]
    others = years != np.round(years)
    if not years.size or max(map(np.count_nonzero, (early, late, others))) > SHARE * rest.size:
        return []
    highest, lowest = facts.highest(known), facts.lowest(known)
    excluded = tuple(sorted(known))
    found = []
    if highest[0] > last and PLANNED.isdisjoint(name_words(facts.name)):
        found.append(
            facts.suspect("future_date", 0.9, above=last, usual=(last - 1,), excluded=excluded)
        )
    if lowest[0] < FIRST_YEAR and years.min() >= FIRST_OF_OTHERS:
        found.append(
            facts.suspect(
                "impossible_value",
                0.95,
                below=FIRST_YEAR,
                usual=(FIRST_YEAR, last),
                excluded=excluded,
            )
        )
    return found


def _are_years(name: str) -> bool:
    """Whether a column is named like one of years: ``Year.Built``, ``pub_year``, ``yearacc``."""
    words = name_words(name)
    is_year = any(
        word in NAMES or word.startswith("year") or word.endswith("year") for word in words
    )
    return is_year and AMOUNTS.isdisjoint(words)
