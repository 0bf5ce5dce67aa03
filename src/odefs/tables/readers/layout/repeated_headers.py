"""Rows below a header that repeat it, as in files that were put together from several exports."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from odefs.tables.readers.layout.cells import cleaned, is_name

EXAMINED_ROWS = 200
"""Rows below the header in which names must not be ordinary values."""


@dataclass(frozen=True)
class HeaderNames:
    """The names in a header, without space around them; those of unnamed columns are empty."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, cells: Iterable[str]) -> "HeaderNames":
        return cls(tuple(cleaned(cell) or "" for cell in cells))

    @property
    def n_named(self) -> int:
        return sum(map(bool, self.names))

    @property
    def can_be_told(self) -> bool:
        """Whether most of the names could not be values, of two columns at least."""
        named = list(filter(None, self.names))
        return len(named) > 1 and 2 * sum(map(is_name, named)) > len(named)

    def n_equal(self, cells: Sequence[str | None]) -> int:
        """Return how many cells of a row are the name of their column."""
        pairs = zip(self.names, cells, strict=False)
        return sum(bool(name) and cleaned(cell) == name for name, cell in pairs)

    def is_repeated_by(self, n_equal: int) -> bool:
        """Whether a row with so many names in their columns repeats the header."""
        return 2 * n_equal > self.n_named

    def are_values(self, n_equal: Iterable[int]) -> bool:
        """Whether names occur among the values of rows, given the number of names in each.

        Then the header may be a row of a table without a header.
        """
        return any(n > 0 and not self.is_repeated_by(n) for n in n_equal)
