"""What is added to an error of scikit-learn's validation: who takes columns that hold no numbers, and cells that are missing."""

from typing import Any

SHOWN = 3
OF_CONVERSION = ("convert", "float()", "promoted")
"""What errors say where cells are no numbers; columns of objects may be, and then something else is wrong."""


def hint_for(X: Any, error: Exception) -> str | None:
    """A sentence that helps further; ``None`` where there is none."""
    if "contains NaN" in str(error):
        return "missing='ignore' scores rows with missing cells by the others, as they are."
    return _not_numbers(X, error)


def _not_numbers(X: Any, error: Exception) -> str | None:
    """A sentence that names such columns of a data frame of pandas or polars, and who takes them; ``None`` where there are none."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return None
    if not any(word in str(error) for word in OF_CONVERSION):
        return None
    found = [f"{name!r} ({dtype})" for name, dtype in zip(X.columns, dtypes, strict=True) if not _is_number(dtype)]
    if not found:
        return None
    more = ", ..." if len(found) > SHOWN else ""
    return f"Not numbers: {', '.join(found[:SHOWN])}{more}. odefs.detect takes such tables, and TableEncoder turns them into numbers."


def _is_number(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # of polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "") in ("b", "i", "u", "f", "c")
