"""Rows below a header that repeat it, as in files that were put together from several exports."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from odefs.tables.readers.layout.cells import cleaned, is_name

EXAMINED_ROWS = 200
"""Rows below the header in which names must not be ordinary values."""


def n_filled(cells: Iterable[str | None]) -> int:
    """Return how many cells of a row are not empty."""
    return sum(bool(cleaned(cell)) for cell in cells)


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
    def are_recognisable(self) -> bool:
        """Whether most of the names could not be values, of two columns at least."""
        named = list(filter(None, self.names))
        return len(named) > 1 and 2 * sum(map(is_name, named)) > len(named)

    def n_equal(self, cells: Sequence[str | None]) -> int:
        """Return how many cells of a row are the name of their column."""
        pairs = zip(self.names, cells, strict=False)
        return sum(bool(name) and cleaned(cell) == name for name, cell in pairs)

    def is_repeated_by(self, n_equal: int, n_filled: int) -> bool:
        """Whether a row repeats the header, by its cells that equal their names and all it has.

        Cells may be empty, but a single other value makes it a row of the table.
        """
        return 2 * n_equal > self.n_named and n_equal == n_filled

    def are_values(self, n_equal: Iterable[int]) -> bool:
        """Whether names occur among the values of rows, given the number of names in each.

        Then the header may be a row of a table without a header.
        """
        return any(0 < 2 * n <= self.n_named for n in n_equal)
