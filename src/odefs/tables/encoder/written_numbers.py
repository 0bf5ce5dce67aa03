"""Numbers as texts write them: decimal marks, thousands separators, signs, currencies, %.

Parsing only: which of the two decimal marks a column has is decided in
:mod:`odefs.tables.encoder.text_formats`.
"""

import re
from collections.abc import Sequence

import numpy as np

CURRENCY = r"(?:[$€£¥₹₪₩₽₺₴₫₱฿]|USD|EUR|GBP|CHF|JPY|INR|CAD|AUD)"
# Possessive quantifiers (*+) prevent catastrophic backtracking on long runs of spaces.
_SIGN = re.compile(
    rf"^(?P<open>\()?\s*+(?P<minus>[-+\u2212])?\s*+{CURRENCY}?\s*+(?P<minus2>[-+\u2212])?"
    r"(?P<body>[\d.,'\u2019\s  ]*\d[.,]?(?:[eE][-+]?\d+)?)\s*+(?P<after>[-\u2212])?\s*+"
    rf"(?P<percent>%)?\s*+{CURRENCY}?\s*+(?P<close>\))?$"
)
_COMMA = re.compile(r"^(?:\d{1,3}(?:[.'\u2019\s  ]\d{3})+|\d+)?(?:,\d+)?$")
_POINT = re.compile(r"^(?:\d{1,3}(?:[,'\u2019\s  ]\d{3})+|\d*)(?:\.\d*)?(?:[eE][-+]?\d+)?$")
_AMOUNT = re.compile(r"\d[.,]\d+\s*$")
_SIMPLE = {mark: re.compile(rf"^-?\d+(?:\{mark}\d+)?$") for mark in ".,"}
_THOUSANDS = re.compile(r"^[1-9]\d{0,2}(?:\.\d{3})+$")
_MARKS = re.compile(r"['\u2019\s  ]")
_LEADING_ZERO = re.compile(r"^[-+]?0\d")


def number_in(text: str, decimal: str) -> float:
    """Parse a number with the given decimal mark; NaN if it is not a number."""
    if _SIMPLE[decimal].match(text):
        return float(text.replace(",", "."))
    match = _SIGN.match(text.strip())
    if match is None or not _is_one_sign(match):
        return np.nan
    body = match["body"].strip()
    if not (_COMMA if decimal == "," else _POINT).match(body):
        return np.nan
    body = _MARKS.sub("", body)
    body = body.replace(".", "").replace(",", ".") if decimal == "," else body.replace(",", "")
    try:
        value = float(body)
    except ValueError:
        return np.nan
    value = -value if _is_negative(match) else value
    return value / 100 if match["percent"] else value


def _is_one_sign(match: re.Match[str]) -> bool:
    """Whether parentheses are closed, and a minus behind is the only sign of an amount.

    Without decimals or thousands it may be a grade (``2-``) or the start of a range.
    """
    if match["after"] is None:
        return (match["open"] is None) == (match["close"] is None)
    is_alone = not any(match[name] for name in ("open", "close", "minus", "minus2", "percent"))
    return is_alone and _AMOUNT.search(match["body"]) is not None


def _is_negative(match: re.Match[str]) -> bool:
    """Whether a number is in parentheses, or has a minus before or behind."""
    minus = match["minus"], match["minus2"], match["after"]
    return match["open"] is not None or not {"-", "\u2212"}.isdisjoint(minus)


def has_leading_zero(text: str) -> bool:
    """Whether the text is a code such as 00123."""
    return bool(_LEADING_ZERO.match(text)) and text.strip().isdigit()


def points_are_thousands(levels: Sequence[str]) -> bool:
    """Whether points separate thousands, as in 952 and 1.032.

    Every point is followed by three digits, and numbers below a thousand have no point.
    """
    bodies = _number_bodies(levels)
    if len(bodies) < len(levels) or "," in "".join(bodies):
        return False
    pointed = [body for body in bodies if "." in body]
    plain = [body for body in bodies if "." not in body]
    if not pointed or not plain:
        return False
    return all(map(_THOUSANDS.match, pointed)) and max(map(len, plain)) <= 3


def _number_bodies(levels: Sequence[str]) -> list[str]:
    """Return the digits and marks of the values that are numbers, without sign and currency."""
    matches = [_SIGN.match(level.strip()) for level in levels]
    return [match["body"].strip() for match in matches if match]
