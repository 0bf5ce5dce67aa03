"""What an encoder has learned of one column: plain values that a model file can hold."""

from dataclasses import dataclass

from odefs.tables.columns import Kind

RARE = "(rare)"
MISSING = "(missing)"
MAX_ENCODED = 1e6
"""Where encoded numbers are cut off, in their own unit: far is far, and squares stay finite in float32."""


@dataclass(frozen=True)
class ColumnSpec:
    """One input column as it was in training.

    Model files hold it part by part. A part that is added must have a default, which columns from earlier files get; one without would refuse these files.
    """

    name: str
    kind: Kind
    style: str
    levels: tuple[str, ...]
    """Categories with a column of their own."""
    grouped: int
    """How many rarer categories share a column."""
    fill: float
    """The median, in the place of missing numbers."""
    fill_level: str
    """The most common category, in the place of missing ones."""
    units: tuple[float, ...]
    """Numbers and times: what one unit is, of the value and of the time of day. Others: how far out each value lies."""
    marks_missing: bool
    by_hour: bool
    low: float
    high: float
    missing_share: float

    def feature_names(self) -> list[str]:
        if self.kind == "category":
            rare = [RARE] if self.grouped else []
            missing = [MISSING] if self.marks_missing else []
            return [f"{self.name}={level}" for level in (*self.levels, *rare, *missing)]
        names = [self.name]
        if self.by_hour:
            names.append(f"{self.name} (time of day)")
        return [*names, f"{self.name}={MISSING}"] if self.marks_missing else names
