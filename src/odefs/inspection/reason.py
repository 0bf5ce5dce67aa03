"""A reason: one column that made a row stand out, as returned by ``reasons()``."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Reason:
    """A column that made a row stand out.

    Explanations of estimators know the first four fields. Detections also know the column's kind
    and how the value compares with the other rows.

    Attributes
    ----------
    column : str
        Name of the column.
    value : object
        The row's value there; None if it is missing.
    contribution : float
        The part of the row's outlier score that comes from this column.
    excess : float
        The contribution above the usual one of this column; reasons are sorted by it.
    kind : {"number", "boolean", "category", "time", ""}
        Kind of the column; empty if unknown.
    share : float or None
        The contribution divided by the row's score.
    percentile : float or None
        Percentage of the column's values that are lower, plus half of the equal ones; for numbers
        and times.
    frequency : float or None
        Share of the rows that have this value; for categories, booleans and missing values.
    usual : tuple or None
        Lower and upper quartile among similar ordinary rows; for categories and booleans the most
        common value there and its share.
    equal : float or None
        Percentage of the column's values that are equal; for numbers and times.
    """

    column: str
    value: object
    contribution: float
    excess: float
    kind: str = ""
    share: float | None = None
    percentile: float | None = None
    frequency: float | None = None
    usual: tuple[Any, Any] | None = None
    equal: float | None = None

    @property
    def beyond(self) -> float | None:
        """Percentage of the column's values that are less extreme.

        These are the lower values for a high value, and the higher values for a low one.
        """
        if self.percentile is None:
            return None
        return round(max(self.percentile, 100 - self.percentile) - (self.equal or 0) / 2, 6)
