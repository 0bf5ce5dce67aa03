"""Ids that occur more than once, although ids of their column do not repeat.

Ids drawn at random, such as those of customers in a table of orders, repeat by chance. Those that
number rows do not: their values lie close together, and far fewer are equal than chance would make.
A column that the user declares to identify the rows needs no such evidence.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from odefs.tables.checks.facts import LEAST_CELLS
from odefs.tables.checks.gather import ColumnTally
from odefs.tables.checks.record import Suspect

REPEATED_SHARE = 0.01
"""Largest share of ids that are repeated."""
SURPRISE = 5.0
"""How many more pairs of equal ids there would be by chance."""
OTHER_SHARE = 0.02
"""Largest share of cells that are not written like the ids: labels of totals, remarks."""
GAP_SHARE = 0.02
"""Share of the gaps between ids that are left out of their range."""
LONGEST = 15
"""Most digits of an id; float64 has as many."""
DIGITS = re.compile(r"\d+", re.ASCII)


def repeated_ids(tally: ColumnTally, is_declared: bool = False) -> list[Suspect]:
    """Return the repeated ids of a column that is an identifier by its name or by declaration.

    Ids that are declared to identify the rows may be random: repeats are few, and that is all.
    """
    if tally.ids and tally.whole:
        numbers, counts = np.unique(np.concatenate(tally.ids), return_counts=True)
        found = Suspect("repeated_id", tally.name, 0.85, tuple(numbers[counts > 1].tolist()))
    elif tally.levels:
        levels, counts = list(tally.levels), np.array(list(tally.levels.values()))
        numbers, is_id = _numbers_in(levels, counts)
        if is_declared and not numbers.size:
            is_id = np.ones(len(levels), dtype=bool)
        texts = frozenset(levels[k] for k in np.flatnonzero(is_id & (counts > 1)))
        counts = counts[is_id]
        found = Suspect("repeated_id", tally.name, 0.85, texts=texts, of="category")
    else:
        return []
    n_ids = int((counts > 1).sum())
    are_ids = _are_few(counts) and (is_declared or _are_numbered(numbers, counts))
    return [replace(found, usual_count=n_ids)] if n_ids and are_ids else []


def _numbers_in(levels: Sequence[str], counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers in texts that differ in digits only, and which of the texts have them.

    R-2026-0017 is number 20260017. A few other texts are left out; with more of them, all are.
    """
    forms = [DIGITS.sub("0", level) for level in levels]
    usual, n_others = _usual_form(forms, counts)
    none = np.empty(0), np.zeros(len(levels), dtype=bool)
    if n_others > max(2, OTHER_SHARE * int(counts.sum())):
        return none
    is_id = np.array([form == usual for form in forms])
    numbers = _joined_digits([levels[k] for k in np.flatnonzero(is_id).tolist()])
    return (numbers, is_id) if numbers.size else none


def _usual_form(forms: Sequence[str], counts: np.ndarray) -> tuple[str, int]:
    """Return the form of most cells, and the number of cells of other forms."""
    cells = Counter[str]()
    for form, count in zip(forms, counts.tolist(), strict=True):
        cells[form] += count
    usual, n_usual = cells.most_common(1)[0]
    return usual, cells.total() - n_usual


def _joined_digits(ids: Sequence[str]) -> np.ndarray:
    """Return all digits of each id as one number; none if they are too many, or there are none.

    The ids have one form. Of R-2026-17 and R-2026-117, the first is number 2026017.
    """
    digits = [DIGITS.findall(id) for id in ids]
    widths = [max(map(len, part)) for part in zip(*digits, strict=True)]
    if not 0 < sum(widths) <= LONGEST:
        return np.empty(0)
    padded = (
        "".join(part.zfill(width) for part, width in zip(parts, widths, strict=True))
        for parts in digits
    )
    return np.array([float(number) for number in padded])


def _size_of_range(numbers: np.ndarray) -> float:
    """Return how many numbers there are from the lowest to the highest, without a few wide gaps.

    Numbers start again each year (R-2025-0950, R-2026-0001), and one may be mistyped.
    """
    gaps = np.sort(np.diff(np.sort(numbers)))
    return 1.0 + float(gaps[: gaps.size - max(1, int(GAP_SHARE * gaps.size))].sum())


def _are_few(counts: np.ndarray) -> bool:
    """Whether hardly any of enough ids is repeated."""
    n_cells = int(counts.sum())
    n_repeated = n_cells - counts.size
    return n_cells >= LEAST_CELLS and n_repeated <= max(1, REPEATED_SHARE * n_cells)


def _are_numbered(numbers: np.ndarray, counts: np.ndarray) -> bool:
    """Whether far fewer of the numbers are repeated than chance would repeat."""
    if not numbers.size:
        return False
    n_cells = int(counts.sum())
    # Expected number of equal pairs, if the ids were drawn at random from their range.
    by_chance = n_cells * (n_cells - 1) / 2 / _size_of_range(numbers)
    n_pairs = float((counts * (counts - 1.0)).sum() / 2)
    return SURPRISE * n_pairs < by_chance
