"""What is added to an error of scikit-learn's validation where the reason is a column that holds no numbers."""

from typing import Any

SHOWN = 3


def not_numbers(X: Any, error: Exception) -> str | None:
    """A sentence that names such columns of a data frame of pandas or polars, and who takes them; ``None`` where there are none."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return None
    # Objects may be numbers, and then something else is wrong.
    may_be_objects = "convert" in str(error)
    found = [
        f"{name!r} ({dtype})"
        for name, dtype in zip(X.columns, dtypes, strict=True)
        if not _is_number(dtype) and (may_be_objects or getattr(dtype, "kind", "") != "O")
    ]
    if not found:
        return None
    more = ", ..." if len(found) > SHOWN else ""
    return f"Not numbers: {', '.join(found[:SHOWN])}{more}. odefs.detect takes such tables, and TableEncoder turns them into numbers."


def _is_number(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # of polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "") in ("b", "i", "u", "f", "c")
