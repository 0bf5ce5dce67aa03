"""Ids that occur more than once, although ids of their column do not repeat.

Ids drawn at random, such as those of customers in a table of orders, repeat by chance. Those that
number rows do not: their values lie close together, and far fewer are equal than chance would make.
A column that the user declares to identify the rows needs no such evidence.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from odefs.tables.checks.facts import LEAST_CELLS
from odefs.tables.checks.gather import ColumnTally
from odefs.tables.checks.ids import IdTally
from odefs.tables.records.checks import Suspect

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


@dataclass(frozen=True, eq=False)
class _Repeats:
    """Repeated ids of a column, and what tells whether they are errors."""

    suspect: Suspect
    """Describes their cells."""
    counts: np.ndarray
    """Number of cells of each repeated id."""
    n_cells: int
    """Number of cells with ids, repeated or not."""
    numbers: np.ndarray
    """Distinct numbers of the ids or of a sample of them; none if the ids have no numbers."""

    @property
    def are_few(self) -> bool:
        """Whether hardly any of enough ids is repeated."""
        n_repeated = int((self.counts - 1).sum())
        return self.n_cells >= LEAST_CELLS and n_repeated <= max(1, REPEATED_SHARE * self.n_cells)

    @property
    def are_numbered(self) -> bool:
        """Whether far fewer of the numbers are repeated than chance would repeat."""
        if not self.numbers.size:
            return False
        # Expected number of equal pairs, if the ids were drawn at random from their range.
        by_chance = self.n_cells * (self.n_cells - 1) / 2 / _size_of_range(self.numbers)
        n_pairs = float((self.counts * (self.counts - 1.0)).sum() / 2)
        return SURPRISE * n_pairs < by_chance


def repeated_ids(tally: ColumnTally, is_declared: bool = False) -> list[Suspect]:
    """Return the repeated ids of a column that is an identifier by its name or by declaration.

    Ids that are declared to identify the rows may be random: repeats are few, and that is all.
    They may also be dates or fractions.
    """
    if tally.ids is None:
        return []
    if tally.numbers is None:
        found = _repeated_texts(tally, tally.ids, is_declared)
    elif is_declared or tally.whole:
        found = _repeated_numbers(tally, tally.ids)
    else:
        return []
    if not found.counts.size or not found.are_few or not (is_declared or found.are_numbered):
        return []
    return [replace(found.suspect, usual_count=found.counts.size)]


def _repeated_numbers(tally: ColumnTally, ids: IdTally) -> _Repeats:
    numbers, counts = np.unique(np.concatenate(ids.numbers), return_counts=True)
    rounded = np.concatenate(ids.rounded)
    exact = {text: count for text, count in ids.texts.items() if count > 1}
    suspect = Suspect(
        "repeated_id",
        tally.name,
        0.85,
        tuple(numbers[counts > 1].tolist()),
        exact=frozenset(exact),
        of="time" if tally.is_time else "number",
        unit=tally.sample[0].unit,
    )
    n_cells = int(counts.sum()) + rounded.size
    counts = np.array([*counts[counts > 1].tolist(), *exact.values()])
    return _Repeats(suspect, counts, n_cells, np.unique(np.concatenate([numbers, rounded])))


def _repeated_texts(tally: ColumnTally, ids: IdTally, is_declared: bool) -> _Repeats:
    levels, counts = _sampled_texts(tally)
    form, numbers = _form_and_numbers(levels, counts)
    # Declared ids of several forms are all compared.
    is_any = is_declared and not numbers.size
    found = {
        text: count
        for text, count in ids.texts.items()
        if count > 1 and (is_any or (numbers.size and _form(text) == form))
    }
    suspect = Suspect("repeated_id", tally.name, 0.85, texts=frozenset(found), of="category")
    # Labels and remarks are no ids.
    n_others = ids.n_missing + ids.texts.total() - sum(found.values())
    n_cells = int(sum(part.sum() for part in ids.counts)) - n_others
    return _Repeats(suspect, np.array([*found.values()]), n_cells, numbers)


def _sampled_texts(tally: ColumnTally) -> tuple[list[str], np.ndarray]:
    """Return the distinct texts in the sample, and how often each occurs there."""
    cells = Counter[str]()
    for part in tally.sample:
        counts = np.bincount(part.category_codes[~part.missing], minlength=len(part.levels))
        used = np.flatnonzero(counts).tolist()
        cells.update({part.levels[k]: int(counts[k]) for k in used})
    return list(cells), np.array([*cells.values()], dtype=np.int64)


def _form(text: str) -> str:
    """Return a text without its digits."""
    return DIGITS.sub("0", text)


def _form_and_numbers(levels: Sequence[str], counts: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the form of texts that differ in digits only, and the numbers in them.

    R-2026-0017 is number 20260017. A few other texts are left out; with more of them, there are no
    numbers.
    """
    cells = Counter[str]()
    forms = [_form(level) for level in levels]
    for form, count in zip(forms, counts.tolist(), strict=True):
        cells[form] += count
    ((usual, n_usual),) = cells.most_common(1) or [("", 0)]
    if cells.total() - n_usual > max(2, OTHER_SHARE * cells.total()):
        return usual, np.empty(0)
    of_form = [level for level, form in zip(levels, forms, strict=True) if form == usual]
    return usual, _joined_digits(of_form)


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
