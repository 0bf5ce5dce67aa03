"""Column names that polars expands as patterns: ``^...$`` for matching columns, ``*`` for all.

Names passed as text (``select``, ``drop``, ``pl.col``) are expanded; ``frame[name]`` takes them
literally. Methods of a series run on a column of its name, and fail if the pattern does not match
itself, as ``^a.*$`` does not.
"""

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

SeriesT = TypeVar("SeriesT", "pl.Series", "nw.Series[Any]")


def is_pattern(name: str) -> bool:
    return name == "*" or _is_expression(name)


def _is_expression(name: str) -> bool:
    return name.startswith("^") and name.endswith("$")


def nameless(series: SeriesT) -> SeriesT:
    """Return the series without a name if its name is a pattern."""
    return series.alias("") if _is_expression(str(series.name)) else series
