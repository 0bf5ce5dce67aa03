"""Data sources of jobs: a dataset of the paper, a user's file, or a generator."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import numpy as np

from odefs.datasets.registry import BY_NAME
from odefs.datasets.store import DatasetError, find, folders, load, read, read_labels
from odefs.datasets.synthetic import make_shifted

LABELS = ("label", "y", "outlier", "class")
SYNTHETIC = "shifted"
CHANGES = {"noise", "rows"}
"""Settings allowed after the question mark of a dataset that is not generated: see
:func:`changed`.
"""


class Source(NamedTuple):
    """Rows, labels, and the relevant columns if known."""

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray | None


@lru_cache(maxsize=2)
def open_source(name: str, seed: int, content: str = "") -> Source:
    """Open a dataset by name.

    A name is a dataset of the registry, ``shifted?n_rows=1000&...``, a path to an npz file (X, y),
    or a path to a csv file with a label column (``file.csv:column`` names it). Paths may be
    relative to the dataset folders. ``NAME?noise=100&rows=60000`` changes a dataset, see
    :func:`changed`. The seed affects only generators and changes. ``content`` is the result of
    :func:`content_of`: a file that has changed is read again.
    """
    base, query = split_name(name)
    options: dict[str, Any] = {key: float(v) if "." in v else int(v) for key, v in parse_qsl(query)}
    if base == SYNTHETIC:
        made = make_shifted(**options, seed=seed)
        return Source(made.X, made.y, made.relevant)
    if query:
        return changed(open_source(base, seed, content), seed, **options)
    if name in BY_NAME:
        data = load(name)
        return Source(data.X, data.y, None)
    path = name.partition(":")[0]
    if path.endswith(".npz"):
        data = read(_file(path))
        return Source(data.X, data.y, None)
    if is_table(name):
        return _read_table(name)
    raise DatasetError(
        f"dataset {name!r} is neither one of {', '.join(BY_NAME)} nor an npz, csv or parquet file"
    )


def is_table(name: str) -> bool:
    """Return whether a dataset is a table, which is encoded, and not a matrix."""
    return name.partition(":")[0].endswith((".csv", ".parquet"))


def changed(source: Source, seed: int, noise: int = 0, rows: int = 0) -> Source:
    """Return a seeded sample of ``rows`` rows, with columns of uniform noise added.

    All rows are kept if there are fewer; ``noise`` is a percentage of the number of columns.
    """
    rng = np.random.default_rng(seed)
    X, y = source.X, source.y
    if 0 < rows < len(y):
        chosen = np.sort(rng.choice(len(y), size=rows, replace=False))
        X, y = X[chosen], y[chosen]
    added = rng.random((len(y), round(X.shape[1] * noise / 100)), dtype=np.float32)
    return Source(np.hstack([X.astype(np.float32), added]), y, None)


def split_name(name: str) -> tuple[str, str]:
    """Split a name into the dataset and its settings after the question mark.

    The settings are empty if the question mark belongs to a file name.
    """
    base, _, query = name.partition("?")
    # File names may contain question marks too.
    settings = {key for key, _ in parse_qsl(query)}
    is_change = bool(settings) and settings <= CHANGES
    return (base, query) if base == SYNTHETIC or is_change else (name, "")


def content_of(name: str) -> str:
    """Return a digest that identifies a user's file in records; empty for other datasets."""
    name, _ = split_name(name)
    if name in BY_NAME or name == SYNTHETIC:
        return ""
    with open(_file(name.partition(":")[0]), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_here(name: str) -> bool:
    """Return whether a dataset can be used on this machine without a download."""
    name, _ = split_name(name)
    if name in BY_NAME:
        return find(name) is not None
    return name == SYNTHETIC or _file(name.partition(":")[0]).is_file()


def _file(path: str) -> Path:
    """Return the path as given, or in a dataset folder, so that records contain no machine's
    paths.
    """
    places = [Path(path), *(folder / path for folder in folders())]
    return next((place for place in places if place.is_file()), places[0])


def _read_table(name: str) -> Source:
    from odefs.tables.encoder.transformer import TableEncoder

    frame, y = open_frame(name)
    return Source(TableEncoder().fit_transform(frame), y, None)


def open_frame(name: str) -> tuple[Any, np.ndarray]:
    """Return a dataset that is a table as a data frame without its labels, and the labels."""
    import narwhals as nw

    from odefs.exceptions import TableError
    from odefs.tables.frames.convert import column_cells
    from odefs.tables.readers.open import open_table

    given, _, label = name.partition(":")
    path = _file(given)
    if not path.is_file():
        raise DatasetError(
            f"dataset {given!r} is not on this machine: store it as {given} in the folder that "
            "ODEFS_DATA names"
        )
    try:
        table = open_table(path).table
    except TableError as error:
        raise DatasetError(str(error)) from error
    label = label or next((name for name in LABELS if name in table.names), "")
    if label not in table.names:
        raise DatasetError(
            f"{path}: there is no label column; name it as in {path.name}:column (1 = outlier)"
        )
    frame = table.take(np.arange(table.n_rows), table.names)
    y = read_labels(np.asarray(column_cells(frame, label)), str(path))
    names = [name for name in table.names if name != label]
    return nw.from_native(frame, eager_only=True).select(names).to_native(), y
