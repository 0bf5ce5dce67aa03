"""Synthetic data with known relevant columns: that of the paper, and wide tables of any length.

The wide tables are noise with planted outliers in parquet partitions, for testing large runs.
Partition ``p`` depends only on the seed and ``p``, so a larger table starts with the rows of a
smaller one, and partitions can be generated on several machines.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from odefs._extras import require_extra
from odefs.datasets.store import DatasetError
from odefs.system.atomic_write import atomic_write

PARTITION_ROWS = 2**17
OUTLIER_SHARE = 0.005
SHIFT = 4.0


class Synthetic(NamedTuple):
    """Rows, labels (1 = outlier), and the relevant columns."""

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray


def make_shifted(
    n_rows: int = 10_000,
    n_columns: int = 100,
    n_relevant: int = 20,
    outlier_share: float = 0.05,
    shift: float = 0.2,
    spread: float = 0.2,
    seed: int = 0,
) -> Synthetic:
    """Draw inliers from N(1, spread), and outliers from N(1 + shift, spread) in relevant columns.

    This is the paper's setting for its figures. It writes N(1, 0.2); reading 0.2 as the standard
    deviation agrees better with its figures than reading it as the variance. It gives no share of
    outliers: 5 % is our choice.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(1.0, spread, size=(n_rows, n_columns))
    y = np.zeros(n_rows, dtype=np.uint8)
    y[rng.choice(n_rows, size=max(1, round(outlier_share * n_rows)), replace=False)] = 1
    relevant = np.sort(rng.choice(n_columns, size=n_relevant, replace=False))
    X[np.ix_(np.flatnonzero(y), relevant)] += shift
    return Synthetic(X.astype(np.float32), y, relevant)


class Part(NamedTuple):
    """Rows and labels (1 = outlier)."""

    X: np.ndarray
    y: np.ndarray


def relevant_columns(n_columns: int, seed: int = 0) -> np.ndarray:
    """Return the columns in which outliers differ: one in twenty, at least three."""
    size = min(n_columns, max(3, n_columns // 20))
    # A generator of its own, so that the columns are the same for every partition.
    return np.sort(np.random.default_rng([seed, 0]).choice(n_columns, size=size, replace=False))


def make_part(index: int, n_rows: int, n_columns: int, seed: int = 0) -> Part:
    """Generate one partition of standard normal noise with outliers.

    An outlier is shifted by 4 up or down in every relevant column.
    """
    rng = np.random.default_rng([seed, 1, index])
    # Drawn in full and cut, so that a last short partition starts with the rows of a full one.
    y = (rng.random(PARTITION_ROWS) < OUTLIER_SHARE).astype(np.uint8)[:n_rows]
    signs = rng.integers(0, 2, size=(PARTITION_ROWS, 1), dtype=np.int8)[:n_rows] * np.float32(2) - 1
    X = rng.standard_normal(size=(n_rows, n_columns), dtype=np.float32)
    X[:, relevant_columns(n_columns, seed)] += SHIFT * signs * y[:, None]
    return Part(X, y)


def parts(n_rows: int, n_columns: int, seed: int = 0) -> Iterator[Part]:
    """Yield all partitions of a table."""
    for index, start in enumerate(range(0, n_rows, PARTITION_ROWS)):
        yield make_part(index, min(PARTITION_ROWS, n_rows - start), n_columns, seed)


def parts_in(folder: Path) -> list[Path]:
    """Return the partitions and label files that an earlier call wrote to ``folder``."""
    return sorted([*folder.glob("part-*.parquet"), *(folder / "truth").glob("part-*.parquet")])


def write_wide(
    folder: Path, n_rows: int, n_columns: int = 50, seed: int = 0, force: bool = False
) -> int:
    """Write the partitions of a table and return the number of outliers.

    Files are named ``part-00000.parquet`` and so on (columns x0, x1, ...); labels have the same
    names under ``truth``. A folder that already contains such files is rejected, because leftovers
    of a longer table would be read as rows of this one; ``force`` deletes them first.
    """
    with require_extra("writing parquet files", "stream"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    before = parts_in(folder)
    if before and not force:
        raise DatasetError(
            f"{folder} already contains {before[0].name}; use --force to replace all parts of "
            "that table."
        )
    for file in before:
        file.unlink()
    (folder / "truth").mkdir(parents=True, exist_ok=True)
    n_outliers = 0
    for index, part in enumerate(parts(n_rows, n_columns, seed)):
        tables = {
            folder: pa.table({f"x{k}": part.X[:, k] for k in range(n_columns)}),
            folder / "truth": pa.table({"outlier": part.y}),
        }
        for target, table in tables.items():
            path = target / f"part-{index:05}.parquet"
            with atomic_write(path) as partial:
                # Noise does not compress; dictionaries and codecs would only take time.
                pq.write_table(
                    table, partial, row_group_size=2**16, use_dictionary=False, compression="none"
                )
        n_outliers += int(part.y.sum())
    return n_outliers
