"""A column as the checks see it: numbers or times with their statistics, or text with its counts.

Text that mostly reads as numbers or dates counts as such, in the formats of the encoder.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from odefs.tables.checks.gather import ColumnTally, NumberTally
from odefs.tables.encoder.missing import numbers_in
from odefs.tables.encoder.text_formats import (
    TextFormat,
    is_missing_value,
    read_levels,
    read_zone,
    recognise,
    unit_of,
)
from odefs.tables.frames.columns import Kind
from odefs.tables.records.checks import Cell, CheckKind, Suspect

LEAST_CELLS = 20
"""Fewer values say too little about what is usual."""


def quantiles(ordered: np.ndarray, *shares: float) -> list[float]:
    """Return quantiles of values in ascending order, which need not be sorted again."""
    places = np.array(shares) * (ordered.size - 1)
    low = places.astype(np.int64)
    high = np.minimum(low + 1, ordered.size - 1)
    rest = places - low
    return ((1 - rest) * ordered[low] + rest * ordered[high]).tolist()


def name_words(name: str) -> list[str]:
    """Return the words of a name: ``patientAge_years`` is patient, age, years; % is percent."""
    # ``Yield %`` is a column of percentages, in which 930 is impossible, not just extreme. The pH
    # is one word, though a capital letter begins a word elsewhere.
    words = re.findall(r"(?<![A-Za-z])pH(?![a-z])|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|%", name)
    return ["percent" if word == "%" else word.lower() for word in words]


@dataclass(frozen=True, eq=False)
class TextFacts:
    """Distinct texts of a column in alphabetical order, and how often each occurs."""

    name: str
    n_rows: int
    levels: tuple[str, ...]
    counts: np.ndarray
    style: TextFormat | None = None
    """The format, if most of the cells are numbers or dates."""

    @classmethod
    def of(
        cls,
        tally: ColumnTally,
        style: TextFormat | None = None,
        na: Collection[str] = (),
        is_category: bool = False,
    ) -> "TextFacts | None":
        """Facts of a column; ``style`` is its format if a model has learned one.

        Cells of a category, such as a column of postal codes, are text whatever they look like.
        Cells that are read as a number in ``na`` are missing. A batch may be too short or have too
        many errors to infer the format, or fit another one: 03/04 may be read day first.
        """
        if not tally.levels:
            return None
        levels = tuple(sorted(tally.levels))
        counts = np.array([tally.levels[level] for level in levels])
        if style is None and not is_category:
            style = recognise(levels, counts)
        if style is not None:
            kept = [k for k, level in enumerate(levels) if not is_missing_value(level)]
            levels, counts = tuple(levels[k] for k in kept), counts[kept]
        if not levels:
            return None
        found = cls(tally.name, tally.n_rows, levels, counts, style)
        absent = numbers_in(na)
        if style is None or not absent:
            return found
        present = np.flatnonzero(~np.isin(found.read, absent))
        levels = tuple(levels[k] for k in present.tolist())
        return cls(tally.name, tally.n_rows, levels, counts[present], style) if levels else None

    @cached_property
    def n(self) -> int:
        """Number of cells that are not missing."""
        return int(self.counts.sum())

    @cached_property
    def read(self) -> np.ndarray:
        """Each text as a number in the column's format; NaN if it cannot be read."""
        assert self.style is not None
        return read_levels(self.levels, self.style)

    def suspect(
        self,
        kind: CheckKind,
        certainty: float,
        texts: Collection[str],
        usual: tuple[Cell, ...] = (),
        usual_count: int = 0,
    ) -> Suspect:
        return Suspect(
            kind,
            self.name,
            certainty,
            texts=frozenset(texts),
            usual=usual,
            usual_count=usual_count,
            of="category",
        )


@dataclass(frozen=True, eq=False)
class NumberFacts:
    """Numbers or times of a column."""

    name: str
    of: Kind
    whole: bool
    tally: NumberTally
    sample: np.ndarray
    """Sampled values in ascending order."""
    text: TextFacts | None = None
    """The column as text, if it was read from text."""
    typed_unit: str = ""
    """Time zone of a column of times; of durations, that they are."""

    @classmethod
    def of_numbers(cls, tally: ColumnTally) -> "NumberFacts | None":
        if tally.numbers is None:
            return None
        cells = np.concatenate([part.values for part in tally.sample])
        of: Kind = "time" if tally.is_time else "number"
        known = np.sort(cells[~np.isnan(cells)])
        unit = tally.sample[0].unit
        return cls(tally.name, of, tally.whole, tally.numbers, known, typed_unit=unit)

    @classmethod
    def of_text(cls, facts: TextFacts, tally: ColumnTally) -> "NumberFacts | None":
        """Numbers or dates that were stored as text; ``None`` for other text."""
        if facts.style is None:
            return None
        known = np.isfinite(facts.read)
        numbers = NumberTally()
        numbers.add(facts.read[known], facts.counts[known])
        place = dict(zip(facts.levels, facts.read.tolist(), strict=True))
        cells = np.concatenate(
            [
                np.array([*(place.get(level, np.nan) for level in part.levels), np.nan])[
                    part.category_codes
                ]
                for part in tally.sample
            ]
        )
        values = facts.read[known]
        whole = bool((values == np.round(values)).all())
        of: Kind = "time" if facts.style.kind == "time" else "number"
        return cls(facts.name, of, whole, numbers, np.sort(cells[np.isfinite(cells)]), facts)

    @property
    def n(self) -> int:
        """Number of cells that are not missing."""
        return self.tally.n

    @property
    def unit(self) -> str:
        """The unit in the cells of a column that was read from text, or of its type."""
        text = self.text
        if text is None or text.style is None:
            return self.typed_unit
        if self.of == "time":
            return read_zone(text.levels, text.read, text.style)
        return unit_of(text.style.name)

    @cached_property
    def n_distinct(self) -> int:
        """Number of distinct values in the sample."""
        return 1 + int(np.count_nonzero(np.diff(self.sample))) if self.sample.size else 0

    def lowest(self, without: Collection[float] = ()) -> np.ndarray:
        """Lowest values in ascending order, repeated as often as they occur, up to a limit."""
        return np.sort(np.concatenate([self.tally.lowest, self._special(without)]))

    def lowest_from_zero(self, without: Collection[float] = ()) -> np.ndarray:
        """Lowest values that are not negative, as :meth:`lowest` returns those of all."""
        special = self._special(without)
        return np.sort(np.concatenate([self.tally.lowest_positive, special[special >= 0]]))

    def highest(self, without: Collection[float] = ()) -> np.ndarray:
        """Highest values in descending order."""
        return np.sort(np.concatenate([self.tally.highest, self._special(without)]))[::-1]

    def _special(self, without: Collection[float]) -> np.ndarray:
        kept = {v: n for v, n in self.tally.special.items() if v not in without}
        return np.repeat(list(kept), [min(n, 64) for n in kept.values()]) if kept else np.empty(0)

    def typical(self, without: Collection[float] = ()) -> np.ndarray:
        """Sampled values without some, in ascending order."""
        return self.sample[~np.isin(self.sample, list(without))] if without else self.sample

    def suspect(
        self,
        kind: CheckKind,
        certainty: float,
        numbers: Collection[float] = (),
        below: float = -np.inf,
        above: float = np.inf,
        usual: tuple[Cell, ...] = (),
        excluded: Collection[float] = (),
    ) -> Suspect:
        """Describe cells that equal one of some numbers or lie outside of bounds.

        Cells that equal an ``excluded`` number are left out.
        """
        texts = None
        if self.text is not None:
            read = self.text.read
            beyond = ((read < below) | (read > above)) & ~np.isin(read, list(excluded))
            # Infinite cells count as missing.
            chosen = (np.isin(read, list(numbers)) | beyond) & np.isfinite(read)
            texts = frozenset(self.text.levels[k] for k in np.flatnonzero(chosen))
        return Suspect(
            kind,
            self.name,
            certainty,
            tuple(numbers),
            tuple(excluded),
            below,
            above,
            texts,
            usual,
            of=self.of,
            unit=self.unit,
        )
