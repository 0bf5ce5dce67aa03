"""Column specification: what an encoder has learned about one column, in plain values."""

from dataclasses import dataclass

from odefs.tables.columns import Kind

RARE = "(rare)"
MISSING = "(missing)"
MAX_ENCODED = 1e6
"""Encoded numbers are clipped here, in their own unit, so that squares stay finite in float32."""


@dataclass(frozen=True)
class ColumnSpec:
    """One input column as it was in training.

    Model files store it field by field. A new field needs a default, which columns in older files
    get; without a default these files could not be read.
    """

    name: str
    kind: Kind
    style: str
    levels: tuple[str, ...]
    """Categories with their own column."""
    grouped: int
    """Number of rarer categories that share a column."""
    fill: float
    """The median, which replaces missing numbers."""
    fill_level: str
    """The most common category, which replaces missing ones."""
    units: tuple[float, ...]
    """Scale of the value and of the time of day; for booleans and categories, the distance of each
    value (:func:`odefs.tables.encoder.scale.distances_out`)."""
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
