"""Local storage of datasets (``$ODEFS_DATA``, then the user's cache) and their download."""

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from odefs.datasets.convert import CONVERTERS, source_file
from odefs.datasets.registry import BY_NAME, Entry
from odefs.system.atomic_write import atomic_write

TIMEOUT = 60


class DatasetError(Exception):
    """A dataset is not available; the message is one sentence for the user."""


class Dataset(NamedTuple):
    """Rows, labels (1 = outlier) and column names."""

    X: np.ndarray
    y: np.ndarray
    feature_names: np.ndarray


def cache_folder() -> Path:
    """Return the folder of odefs in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "odefs"


def folders() -> list[Path]:
    """Return the folders to search, in order."""
    named = os.environ.get("ODEFS_DATA")
    return [*([Path(named)] if named else []), cache_folder()]


def find(name: str) -> Path | None:
    """Return the file of a dataset, or ``None`` if it is not on this machine."""
    for folder in folders():
        if (folder / f"{name}.npz").is_file():
            return folder / f"{name}.npz"
    return None


def load(name: str) -> Dataset:
    """Load a dataset of the paper by name, from ``$ODEFS_DATA`` or the cache."""
    entry = _entry(name)
    path = find(name)
    if path is None:
        note = f" ({entry.note})" if entry.note else ""
        raise DatasetError(
            f"dataset {name!r} is not on this machine: 'odefs datasets get {name}' downloads it "
            f"from {entry.url}{note}"
        )
    data = read(path)
    check(entry, data.X, data.y)
    return data


def read(path: Path) -> Dataset:
    """Read an npz file with ``X``, ``y`` and optionally ``feature_names``."""
    try:
        # Unpickling can execute code, and the file may come from others.
        with np.load(path, allow_pickle=False) as arrays:
            X, y = arrays["X"], read_labels(arrays["y"], str(path))
            names = (
                arrays["feature_names"]
                if "feature_names" in arrays
                else [f"x{k}" for k in range(X.shape[1])]
            )
            return Dataset(X, y, np.asarray(names))
    except (OSError, KeyError, ValueError) as error:
        raise DatasetError(f"{path}: not an npz file with X and y ({error})") from error


def read_labels(values: np.ndarray, where: str) -> np.ndarray:
    """Return labels as 0 and 1; other values are rejected, because guessing could swap their
    meaning.
    """
    values = np.asarray(values).ravel()
    found = set(np.unique(values).tolist())
    if not found <= {0, 1}:
        shown = ", ".join(map(repr, sorted(found, key=str)[:4]))
        raise DatasetError(
            f"{where}: labels must be 0 (normal) or 1 (outlier), but these are {shown}"
        )
    return values.astype(np.uint8)


def digest(arrays: Mapping[str, np.ndarray]) -> str:
    """Return the SHA-256 of name, dtype, shape and bytes of the arrays.

    The bytes of an npz file itself change with zip and library versions.
    """
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def blob_id(content: bytes) -> str:
    """Return the id that ``git hash-object`` gives a file."""
    # Builds of Python that forbid SHA-1 for security (FIPS) allow it as an identifier.
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def download(name: str, url: str | None = None) -> Path:
    """Download a dataset from its public source, convert and check it, and store it in the
    cache.
    """
    entry = _entry(name)
    address = url or entry.url
    content = _fetch(address, name)
    try:
        found = blob_id(source_file(entry.converter, content))
        arrays = CONVERTERS[entry.converter](content)
    # Parsers fail in many ways on a file that is not what was expected.
    except Exception as error:
        raise DatasetError(
            f"dataset {name!r}: the file from {address} cannot be converted ({error})"
        ) from error
    if entry.blob and found != entry.blob:
        raise DatasetError(
            f"dataset {name!r}: the file at {address} has changed (git blob id {found}, expected "
            f"{entry.blob}); use --url to download it from another address"
        )
    check(entry, arrays.X, arrays.y)
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.npz"
    # An open file, because NumPy appends .npz to a name without that suffix.
    with atomic_write(path) as partial, open(partial, "wb") as file:
        np.savez_compressed(file, **arrays._asdict())
    return path


def _fetch(url: str, name: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            content: bytes = answer.read()
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise DatasetError(f"dataset {name!r} cannot be downloaded from {url}: {error}") from error
    return content


def check(entry: Entry, X: np.ndarray, y: np.ndarray) -> None:
    """Check shape, number of outliers and digest of a dataset."""
    if X.shape != entry.shape or int(y.sum()) != entry.outliers:
        found = f"{X.shape[0]} x {X.shape[1]} with {int(y.sum())} outliers"
        wanted = f"{entry.shape[0]} x {entry.shape[1]} with {entry.outliers}"
        raise DatasetError(f"dataset {entry.name!r} has {found}, but {wanted} were expected")
    if entry.digest is not None and digest({"X": X, "y": y}) != entry.digest:
        raise DatasetError(f"dataset {entry.name!r}: the values differ from the expected ones")


def _entry(name: str) -> Entry:
    if name not in BY_NAME:
        raise DatasetError(f"dataset {name!r} is not one of {', '.join(BY_NAME)}")
    return BY_NAME[name]
