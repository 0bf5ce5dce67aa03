"""Dates of one column in several formats: ISO 8601, with names of months, and in digits.

Dates in digits, such as 03/04/2025, are read only if the column shows whether the day comes first:
each way of writing them needs a date with a day after the 12th.
"""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from odefs.tables.encoder.named_months import named_month_date
from odefs.tables.encoder.written_dates import NUMERIC, compact_date, iso_date, numeric_date

MONTHS = 12


def mixed_date(text: str, day_first: bool | None) -> float:
    """Parse to seconds since 1970; NaN if the text is not a date.

    ``day_first`` is the order of dates in digits; with ``None``, they cannot be read.
    """
    for read in (iso_date, named_month_date, compact_date):
        if not np.isnan(seconds := read(text)):
            return seconds
    return np.nan if day_first is None else numeric_date(text, day_first)


def day_order(texts: Iterable[str]) -> bool | None:
    """Whether the day comes first in dates in digits; ``None`` if that is not clear."""
    # By the mark between the numbers: 25.03.2025 does not tell what 03/04/2025 means.
    orders = defaultdict[str, set[bool]](set)
    for text in texts:
        match = NUMERIC.match(text.strip())
        if match is None:
            continue
        first, second = int(match["first"]), int(match["next"])
        of_mark = orders[match["mark"]]
        if min(first, second) <= MONTHS < max(first, second):
            of_mark.add(first > second)
    found = list(orders.values())
    is_clear = bool(found) and len(found[0]) == 1 and all(one == found[0] for one in found)
    return found[0].pop() if is_clear else None
