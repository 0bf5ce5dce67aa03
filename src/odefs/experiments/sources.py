"""Where a job's rows come from: a dataset of the paper, the user's own file, or a generator."""

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import numpy as np

from odefs.datasets.registry import BY_NAME
from odefs.datasets.store import DatasetError, find, load, read, read_labels
from odefs.datasets.synthetic import make_shifted

LABELS = ("label", "y", "outlier", "class")
SYNTHETIC = "shifted"


class Source(NamedTuple):
    """Rows, labels, and the relevant columns where they are known."""

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray | None


@lru_cache(maxsize=2)
def open_source(name: str, seed: int) -> Source:
    """``NAME`` of the registry, ``shifted?n_rows=1000&...``, a path to an npz file (X, y), or to a csv file with a label column.

    The seed matters to generators only. ``file.csv:column`` names the label column.
    """
    base, _, query = name.partition("?")
    if base == SYNTHETIC:
        options: dict[str, Any] = {key: float(v) if "." in v else int(v) for key, v in parse_qsl(query)}
        made = make_shifted(**options, seed=seed)
        return Source(made.X, made.y, made.relevant)
    if name in BY_NAME:
        data = load(name)
        return Source(data.X, data.y, None)
    path, _, label = name.partition(":")
    if path.endswith(".npz"):
        data = read(Path(path))
        return Source(data.X, data.y, None)
    if path.endswith((".csv", ".parquet")):
        return _read_table(Path(path), label)
    raise DatasetError(f"dataset {name!r} is neither one of {', '.join(BY_NAME)} nor an npz, csv or parquet file")


def is_here(name: str) -> bool:
    """Whether a dataset can be used on this machine without a download."""
    if name in BY_NAME:
        return find(name) is not None
    return name.partition("?")[0] == SYNTHETIC or Path(name.partition(":")[0]).is_file()


def _read_table(path: Path, label: str) -> Source:
    from odefs.tables.columns import TableError
    from odefs.tables.encoder import TableEncoder
    from odefs.tables.read import read_table

    try:
        frame = read_table(path).frame
    except TableError as error:
        raise DatasetError(str(error)) from error
    label = label or next((name for name in LABELS if name in frame.columns), "")
    if label not in frame.columns:
        raise DatasetError(f"{path}: there is no label column; name it as in {path.name}:column (1 = outlier)")
    y = read_labels(frame[label].to_numpy(), str(path))
    return Source(TableEncoder().fit_transform(frame.drop(label)), y, None)
