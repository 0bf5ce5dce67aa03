"""Wide, noisy data with planted outliers in parquet partitions, as many rows as wanted: something
to try large runs on.

Partition ``p`` depends on the seed and ``p`` alone, so a larger table begins with the smaller one,
and partitions can be made on several machines.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from odefs._extras import needed_by
from odefs.datasets.store import DatasetError
from odefs.system.atomic_write import replacing

PARTITION_ROWS = 2**17
OUTLIER_SHARE = 0.005
SHIFT = 4.0


class Part(NamedTuple):
    """Rows, labels (1 = outlier)."""

    X: np.ndarray
    y: np.ndarray


def relevant_columns(n_columns: int, seed: int = 0) -> np.ndarray:
    """The columns in which outliers differ: one in twenty, three at least."""
    size = min(n_columns, max(3, n_columns // 20))
    return np.sort(np.random.default_rng([seed, 0]).choice(n_columns, size=size, replace=False))


def make_part(index: int, n_rows: int, n_columns: int, seed: int = 0) -> Part:
    """One partition: standard normal noise; an outlier is shifted by 4 up or down in every relevant
    column.
    """
    rng = np.random.default_rng([seed, 1, index])
    # Drawn in full and cut, so that a last short partition begins like a whole one.
    y = (rng.random(PARTITION_ROWS) < OUTLIER_SHARE).astype(np.uint8)[:n_rows]
    signs = rng.integers(0, 2, size=(PARTITION_ROWS, 1), dtype=np.int8)[:n_rows] * np.float32(2) - 1
    X = rng.standard_normal(size=(n_rows, n_columns), dtype=np.float32)
    X[:, relevant_columns(n_columns, seed)] += SHIFT * signs * y[:, None]
    return Part(X, y)


def parts(n_rows: int, n_columns: int, seed: int = 0) -> Iterator[Part]:
    """All partitions of a table."""
    for index, start in enumerate(range(0, n_rows, PARTITION_ROWS)):
        yield make_part(index, min(PARTITION_ROWS, n_rows - start), n_columns, seed)


def parts_in(folder: Path) -> list[Path]:
    """Partitions and labels of a table that was written there before."""
    return sorted([*folder.glob("part-*.parquet"), *(folder / "truth").glob("part-*.parquet")])


def write_wide(
    folder: Path, n_rows: int, n_columns: int = 50, seed: int = 0, force: bool = False
) -> int:
    """Write ``part-00000.parquet`` and so on (columns x0, x1, ...), and labels of the same names
    under ``truth``; the number of outliers.

    A folder with such files is refused, since what is left of a longer table would be taken for
    rows of this one; ``force`` deletes them first.
    """
    with needed_by("writing parquet files", "stream"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    before = parts_in(folder)
    if before and not force:
        raise DatasetError(
            f"{folder}: it holds {before[0].name} already; --force replaces all parts of that table."
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
        for place, table in tables.items():
            path = place / f"part-{index:05}.parquet"
            with replacing(path) as partial:
                # Noise does not compress; dictionaries and codecs would cost time only.
                pq.write_table(
                    table, partial, row_group_size=2**16, use_dictionary=False, compression="none"
                )
        n_outliers += int(part.y.sum())
    return n_outliers
