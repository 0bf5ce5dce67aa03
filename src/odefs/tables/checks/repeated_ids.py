"""Ids that occur more than once, although ids of their column do not repeat.

Ids drawn at random, such as those of customers in a table of orders, repeat by chance. Those that
number rows do not: their values lie close together, and far fewer are equal than chance would make.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from odefs.tables.checks.facts import LEAST_CELLS
from odefs.tables.checks.gather import ColumnTally, numbers_rows
from odefs.tables.checks.record import Suspect

REPEATED_SHARE = 0.01
"""Largest share of ids that are repeated."""
SURPRISE = 5.0
"""How many more pairs of equal ids there would be by chance."""
LONGEST = 15
"""Most digits of an id; float64 has as many."""
DIGITS = re.compile(r"\d+", re.ASCII)


def repeated_ids(tally: ColumnTally) -> list[Suspect]:
    """Return the repeated ids of a column that is named like an identifier."""
    if not numbers_rows(tally.name):
        return []
    if tally.ids and tally.whole:
        numbers, counts = np.unique(np.concatenate(tally.ids), return_counts=True)
        found = Suspect("repeated_id", tally.name, 0.85, tuple(numbers[counts > 1].tolist()))
    elif tally.levels:
        levels, counts = list(tally.levels), np.array(list(tally.levels.values()))
        numbers = _numbers_in(levels)
        texts = frozenset(levels[k] for k in np.flatnonzero(counts > 1))
        found = Suspect("repeated_id", tally.name, 0.85, texts=texts, of="category")
    else:
        return []
    n_ids = int((counts > 1).sum())
    return [replace(found, usual_count=n_ids)] if n_ids and _are_numbered(numbers, counts) else []


def _numbers_in(levels: Sequence[str]) -> np.ndarray:
    """Return the numbers in texts such as A-0017 that differ in one number only; else nothing."""
    found = [DIGITS.findall(level) for level in levels]
    rests = {DIGITS.sub("", level) for level in levels}
    if len(rests) > 1 or any(len(digits) != 1 or len(digits[0]) > LONGEST for digits in found):
        return np.empty(0)
    return np.array([float(digits[0]) for digits in found])


def _are_numbered(numbers: np.ndarray, counts: np.ndarray) -> bool:
    """Whether hardly any of the numbers is repeated, and far fewer than chance would repeat."""
    n_cells = int(counts.sum())
    if not numbers.size or n_cells < LEAST_CELLS:
        return False
    n_repeated = n_cells - counts.size
    by_chance = n_cells * (n_cells - 1) / 2 / (numbers.max() - numbers.min() + 1)
    n_pairs = float((counts * (counts - 1.0)).sum() / 2)
    return n_repeated <= max(1, REPEATED_SHARE * n_cells) and SURPRISE * n_pairs < by_chance
