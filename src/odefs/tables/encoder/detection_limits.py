"""Limits in place of numbers, such as ``<0.5`` and ``>= 100``, which laboratories report for values
that their method cannot measure.

Such a cell counts as the number behind the sign: missing, it would be a median value, which a value
below the limit is not. Columns of limits alone, such as the classes ``<=50K`` and ``>50K``, are
text.
"""

import re

LIMIT = re.compile(r"^\s*+(?:[<>]=?|=[<>]|[≤≥⩽⩾≦≧])\s*+(?=\D{0,5}\d)")
MIN_MEASURED = 3
"""Least number of distinct numbers without a sign; with fewer, the limits are classes."""


def is_limit(text: str) -> bool:
    """Whether the text is the sign of a limit and, probably, a number."""
    return LIMIT.match(text) is not None


def without_sign(text: str) -> str:
    """Return what is behind the sign of a limit, other text as it is."""
    return LIMIT.sub("", text, count=1)
