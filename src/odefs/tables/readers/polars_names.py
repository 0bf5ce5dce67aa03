"""Columns whose names polars takes for patterns: ``^...$`` stands for all columns that match, ``*`` for all.

Where a name is handed over as text (``select``, ``drop``, ``pl.col``) it is expanded; ``frame[name]`` takes it as it is. Methods of a series are computed on a column of its name, and end
with an error where a pattern does not match itself, as ``^a.*$`` does not.
"""

from typing import Any


def is_pattern(name: str) -> bool:
    return name == "*" or _is_expression(name)


def _is_expression(name: str) -> bool:
    return name.startswith("^") and name.endswith("$")


def nameless(series: Any) -> Any:
    """A series of polars or narwhals to compute with, under no name where its own is a pattern."""
    return series.alias("") if _is_expression(str(series.name)) else series
