"""Checks of text: numbers among words, words among numbers, labels of totals."""

import re

import numpy as np

from odefs.tables.checks.facts import LEAST_CELLS, TextFacts
from odefs.tables.checks.record import Suspect
from odefs.tables.encoder.text_formats import TEXT_FORMATS, read_levels

FEW_NUMBERS, FEW_TEXTS = 0.01, 0.02
"""More such cells belong to the column, e.g. to codes of which most are numbers."""
FREE_TEXT_SHARE = 0.5
"""With more distinct values, cells are names or titles, in which numbers are ordinary."""
DIGITS = re.compile(r"\d")
TOTALS = re.compile(r"(?:(?:grand|overall|sub)[ -]?)?totals?:?", re.IGNORECASE)
TOTAL_SHARE = 0.35
"""Totals of a few groups may be a third of the rows."""
SUMMARIES = re.compile(r"sum:?|overall|all|average|mean", re.IGNORECASE)
"""Also labels of totals, but ordinary words where they occur more than once."""


def text_suspects(facts: TextFacts) -> list[Suspect]:
    """Return the suspects of a column of text, except spellings."""
    return [one for one in (_unreadable(facts), _numbers(facts), _totals(facts)) if one is not None]


def _unreadable(facts: TextFacts) -> Suspect | None:
    """Text in a column of numbers or dates."""
    if facts.style is None or facts.n < LEAST_CELLS:
        return None
    is_lost = np.isnan(facts.read)
    if not 0 < facts.counts[is_lost].sum() <= max(2, FEW_TEXTS * facts.n):
        return None
    lost = [facts.levels[k] for k in np.flatnonzero(is_lost)]
    return facts.suspect("text_in_numbers", 0.9, lost, usual=(facts.style.name,))


def _numbers(facts: TextFacts) -> Suspect | None:
    """A few numbers in a column of words."""
    if facts.style is not None or facts.n < LEAST_CELLS:
        return None
    if len(facts.levels) > FREE_TEXT_SHARE * facts.n:
        return None
    has_digits = np.array([bool(DIGITS.search(level)) for level in facts.levels])
    places = np.flatnonzero(has_digits)
    read = read_levels([facts.levels[k] for k in places], TEXT_FORMATS["numbers"])
    is_number = np.zeros(len(facts.levels), dtype=bool)
    is_number[places[~np.isnan(read)]] = True
    n_numbers = int(facts.counts[is_number].sum())
    n_with_digits = int(facts.counts[has_digits & ~is_number].sum())
    if not 0 < n_numbers <= max(2, FEW_NUMBERS * facts.n) or n_with_digits > 0.1 * facts.n:
        return None
    numbers = [facts.levels[k] for k in np.flatnonzero(is_number)]
    return facts.suspect("number_in_text", 0.7, numbers)


def _totals(facts: TextFacts) -> Suspect | None:
    """Rows labelled as totals among the data."""
    counts = dict(zip(facts.levels, facts.counts.tolist(), strict=True))
    is_long = facts.n >= LEAST_CELLS
    labels = [
        level for level, count in counts.items() if _is_total(level.strip(), is_long and count == 1)
    ]
    count = sum(counts[label] for label in labels)
    if not labels or count > TOTAL_SHARE * facts.n or len(facts.levels) < 3:
        return None
    # In a column of names, "Total" may be one of them.
    is_name = len(facts.levels) > 0.9 * facts.n
    return facts.suspect("total_row", 0.5 if is_name else 0.95, labels)


def _is_total(label: str, is_single: bool) -> bool:
    """Whether a cell is the label of a total; some words are only if a single cell has them."""
    return bool(TOTALS.fullmatch(label) or (is_single and SUMMARIES.fullmatch(label)))
