"""How a column differs from the same column of the training table."""

from typing import NamedTuple

NOTABLE = 0.05
"""Change in the share of missing cells that is worth reporting."""


class ColumnDrift(NamedTuple):
    """Drift of one column: shares of all cells, before and now.

    Cells outside the training range, categories not seen in training, missing cells, and the part
    of the known numbers that has moved to the other side of a cut point.
    """

    column: str
    out_of_range: float
    unseen: list[str]
    unseen_share: float
    missing_before: float
    missing_now: float
    shift: float = 0.0
    """0 unless the distribution differs by more than chance."""
    cut: float | None = None
    """Where the distributions differ most, if they do."""
    above_before: float = 0.0
    """Share of the training values above it."""
    above_now: float = 0.0
    unit: str = ""
    """Unit of numbers that are text in the table; ``%`` if ``cut`` is a fraction, ``duration`` if
    it is seconds of one."""

    @property
    def largest(self) -> float:
        """The largest of the four differences, as a share of the rows."""
        change = abs(self.missing_now - self.missing_before)
        return max(self.out_of_range, self.unseen_share, change, self.shift)

    @property
    def is_notable(self) -> bool:
        return (
            self.out_of_range > 0
            or self.unseen_share > 0
            or self.shift > 0
            or abs(self.missing_now - self.missing_before) > NOTABLE
        )
