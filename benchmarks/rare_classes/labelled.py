"""A table whose outliers are known, and how classes are thinned."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

CACHE = Path(__file__).parents[2] / ".wild"
OUTLIER_SHARE = 0.05


class Labelled(NamedTuple):
    """A table, and which of its rows are outliers. Tables of one family are variants of another."""

    name: str
    family: str
    frame: pl.DataFrame
    y: np.ndarray


def some(rng: np.random.Generator, rows: np.ndarray, most: int) -> np.ndarray:
    return rows if len(rows) <= most else rng.choice(rows, most, replace=False)
