"""Hypothesis strategies for tables: shapes, types, memory orders, ties, extremes, gaps."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

EXTREMES = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.2e-308,
    1e-30,
    1.0,
    -1.0,
    1e12,
    1e30,
    -1e160,
    1e308,
    -1.7e308,
]
DTYPES = (np.float64, np.float32, np.float16, np.int64, np.int8, np.uint16, np.bool_, object)


@st.composite
def columns(draw, n_rows):
    """One numeric column: any floats, few values, extremes, a constant, or one outlier."""
    kind = draw(st.sampled_from(["any", "ties", "extremes", "constant", "outlier", "noise"]))
    if kind == "constant":
        return np.full(n_rows, draw(st.sampled_from(EXTREMES)))
    if kind == "noise":
        return np.random.default_rng(draw(st.integers(0, 9))).normal(size=n_rows)
    if kind == "outlier":
        return np.where(
            np.arange(n_rows) == draw(st.integers(0, n_rows - 1)),
            draw(st.sampled_from(EXTREMES)),
            3.0,
        )
    cells = {
        "any": st.floats(allow_nan=False, allow_infinity=False),
        "ties": st.integers(-2, 2).map(float),
        "extremes": st.sampled_from(EXTREMES),
    }[kind]
    return np.array(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))


@st.composite
def tables(draw, missing=True, max_rows=24, max_columns=5):
    """A C-ordered table of one numeric type; some have enough rows for the repeated-row path."""
    n_rows = draw(st.integers(2, max_rows))
    n_columns = draw(st.integers(1, max_columns))
    X = np.column_stack([draw(columns(n_rows)) for _ in range(n_columns)])
    dtype = draw(st.sampled_from(DTYPES))
    X = as_type(X, dtype)
    if missing and np.dtype(dtype).kind in "fO" and draw(st.booleans()):
        seed = draw(st.integers(0, 99))
        X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    return np.ascontiguousarray(
        np.tile(X, (-(-300 // n_rows), 1)) if draw(st.integers(0, 9)) == 9 else X
    )


def as_type(X, dtype):
    """Numbers of another type; those that it cannot hold become the nearest that it can."""
    if dtype is object:
        # Python's own whole numbers and floats side by side, as databases hand them over.
        cells = [[int(x) if x == int(x) and abs(x) < 2**53 else float(x) for x in row] for row in X]
        return np.array(cells, dtype=object)
    limits = (
        np.finfo(dtype)
        if np.dtype(dtype).kind == "f"
        else np.iinfo(dtype)
        if dtype is not np.bool_
        else None
    )
    if limits is None:
        return X > 0
    low, high = float(limits.min), float(limits.max)
    # The largest 64-bit whole number is no float.
    return np.clip(
        X, low, high if high < 2**62 else min(high, float(np.nextafter(high, 0)))
    ).astype(dtype)


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def strided(X):
    """Every second row and column of a larger table."""
    wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::2] = X
    return wide[::2, ::2]


NAMES = [f"c{k}" for k in range(5)]


def as_arrow(X):
    return pa.table(
        {
            name: pa.array(column)
            for name, column in zip(NAMES, np.ascontiguousarray(X.T), strict=False)
        }
    )


LAYOUTS = {
    "fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "other byte order": lambda X: X if X.dtype.kind == "O" else X.astype(X.dtype.newbyteorder()),
    "lists": lambda X: X.tolist() if X.dtype == np.float64 else X,  # Python's floats are these
    "pandas": lambda X: pd.DataFrame(X),
}
"""The same numbers in other orders and containers."""

TEXT = st.text(max_size=6)
CELLS = {
    "text": TEXT,
    "category": st.sampled_from(["red", "green", "blau", "", " "]),
    "boolean": st.booleans(),
    "date": st.dates(date(1, 1, 1), date(9999, 12, 31)),
    "time": st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)),
    "duration": st.timedeltas(timedelta(-9999), timedelta(9999)),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(),
    "number text": st.sampled_from(
        ["1.234,56", "1,234.56", "12 %", "$ 7", "-", "n/a", "03.04.2025", "1e400", "0012"]
    ),
}
MIXED = st.one_of(TEXT, st.integers(-9, 9), st.floats(), st.booleans(), st.none())


@st.composite
def frames(draw, max_rows=20):
    """A data frame of pandas or polars with columns of any kind, some cells missing."""
    n_rows = draw(st.integers(2, max_rows))
    kinds = draw(st.lists(st.sampled_from([*CELLS, "mixed"]), min_size=1, max_size=5))
    found = {}
    for k, kind in enumerate(kinds):
        cells = MIXED if kind == "mixed" else CELLS[kind]
        few = draw(
            st.lists(
                cells if draw(st.booleans()) else st.one_of(cells, st.none()),
                min_size=2,
                max_size=n_rows,
            )
        )
        found[f"{kind} {k}"] = [few[i % len(few)] for i in range(n_rows)]
    # A column that is always of use, so that not all tables are refused.
    found["x"] = [float(i % 7) for i in range(n_rows - 1)] + [90.0]
    if draw(st.booleans()):
        return pd.DataFrame(
            {name: pd.Series(column, dtype=object) for name, column in found.items()}
        ).infer_objects()
    return pl.DataFrame([pl.Series(name, column, strict=False) for name, column in found.items()])
