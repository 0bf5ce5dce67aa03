"""Ids of a column, and how often each occurs.

Texts are counted by hashes of 8 bytes, since texts of millions of ids would not fit into memory. A
second pass over the column names the few texts that are repeated. Integers that float64 would round
are counted as text, with all their digits.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from odefs.tables.encoder.text_formats import is_missing_word
from odefs.tables.frames.columns import LARGE, Column

MAX_WORDS = 32
"""Frequent texts that may stand for missing ids or be labels, and do not count as repeats."""
MAX_REPEATED_SHARE = 0.02
"""With more repeats, ids are those of something else than the rows, and are not named."""


@dataclass
class IdTally:
    """Ids of one column after some batches."""

    numbers: list[np.ndarray] = field(default_factory=list)
    """Numbers or times without missing ones and those that are counted as text."""
    rounded: list[np.ndarray] = field(default_factory=list)
    """The integers that are counted as text, as float64 has them."""
    hashes: list[np.ndarray] = field(default_factory=list)
    """Hashes of the texts of each batch, and below how often each text occurs there."""
    counts: list[np.ndarray] = field(default_factory=list)
    texts: Counter[str] = field(default_factory=Counter)
    """Repeated texts with the number of their cells, once :meth:`name_repeated` has seen all."""
    n_missing: int = 0
    """Number of cells with words for missing among these."""

    def add(self, column: Column) -> None:
        if column.kind != "category":
            large = _is_exact_only(column)
            self.numbers.append(column.values[~(column.missing | large)])
            self.rounded.append(column.values[large])
        text, codes = _as_texts(column)
        counts = np.bincount(codes, minlength=len(text.levels))
        used = np.flatnonzero(counts)
        self.hashes.append(text_hashes(text.levels)[used])
        self.counts.append(counts[used])

    def text_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the hashes of all texts, and how often each occurs."""
        if not self.hashes:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        hashes, places = np.unique(np.concatenate(self.hashes), return_inverse=True)
        counts = np.bincount(places, weights=np.concatenate(self.counts))
        return hashes, counts.astype(np.int64)

    def repeated_hashes(self) -> np.ndarray:
        """Return the hashes of repeated texts; none if they are too many for ids of rows."""
        hashes, counts = self.text_counts()
        repeated = counts > 1
        rarer = np.sort(counts[repeated])[:-MAX_WORDS]
        is_id = int((rarer - 1).sum()) <= MAX_REPEATED_SHARE * int(counts.sum())
        return hashes[repeated & is_id]

    def name_repeated(self, column: Column, hashes: np.ndarray, na: Collection[str]) -> None:
        """Count the texts of a batch that have one of some hashes; ``na`` are no ids."""
        text, codes = _as_texts(column)
        counts = np.bincount(codes, minlength=len(text.levels))
        for place in np.flatnonzero(np.isin(text_hashes(text.levels), hashes)).tolist():
            level, count = text.levels[place], int(counts[place])
            if level in na or is_missing_word(level):
                self.n_missing += count
            else:
                self.texts[level] += count


def _is_exact_only(column: Column) -> np.ndarray:
    """Whether numbers are integers that float64 may round, so that only their text is exact."""
    if column.exact is None:
        return np.zeros(len(column), dtype=bool)
    return np.abs(column.values) >= LARGE


def _as_texts(column: Column) -> tuple[Column, np.ndarray]:
    """Return the column as text, and the codes of its known cells; of numbers, the large ones."""
    if column.kind == "category":
        return column, column.category_codes[~column.missing]
    if column.exact is None:
        return Column(column.name, "category"), np.empty(0, dtype=np.int32)
    return column.exact, column.exact.category_codes[_is_exact_only(column)]


def text_hashes(texts: Sequence[str]) -> np.ndarray:
    """Return one number per text; Python's own hash is fast, and differs between processes."""
    return np.fromiter(map(hash, texts), dtype=np.int64)
