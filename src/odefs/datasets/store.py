"""Where datasets lie: ``$ODEFS_DATA``, then the user's cache; and how they get there."""

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
from odefs.system.atomic_write import replacing

TIMEOUT = 60


class DatasetError(Exception):
    """A dataset cannot be had; the message is one sentence for the user."""


class Dataset(NamedTuple):
    """Rows, labels (1 = outlier) and column names."""

    X: np.ndarray
    y: np.ndarray
    feature_names: np.ndarray


def cache_folder() -> Path:
    """The user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "odefs"


def folders() -> list[Path]:
    """Where to look, in order."""
    named = os.environ.get("ODEFS_DATA")
    return [*([Path(named)] if named else []), cache_folder()]


def find(name: str) -> Path | None:
    """The file of a dataset, if it is on this machine."""
    for folder in folders():
        if (folder / f"{name}.npz").is_file():
            return folder / f"{name}.npz"
    return None


def load(name: str) -> Dataset:
    """A dataset of the paper by name, from ``$ODEFS_DATA`` or the cache."""
    entry = _entry(name)
    path = find(name)
    if path is None:
        note = f" ({entry.note})" if entry.note else ""
        raise DatasetError(
            f"dataset {name!r} is not on this machine: 'odefs datasets get {name}' downloads it from {entry.url}{note}"
        )
    data = read(path)
    check(entry, data.X, data.y)
    return data


def read(path: Path) -> Dataset:
    """An npz file with ``X``, ``y`` and perhaps ``feature_names``."""
    try:
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
    """Labels as 0 and 1; anything else is refused, for a guess might turn the meaning round."""
    values = np.asarray(values).ravel()
    found = set(np.unique(values).tolist())
    if not found <= {0, 1}:
        shown = ", ".join(map(repr, sorted(found, key=str)[:4]))
        raise DatasetError(f"{where}: labels must be 0 (normal) and 1 (outlier), these are {shown}")
    return values.astype(np.uint8)


def digest(arrays: Mapping[str, np.ndarray]) -> str:
    """sha256 over name, dtype, shape and bytes of the arrays; an npz file's own bytes change with
    zip and library versions.
    """
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def blob_id(content: bytes) -> str:
    """What ``git hash-object`` says of a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def download(name: str, url: str | None = None) -> Path:
    """Fetch a dataset from its public source, convert, check, and put it into the cache."""
    entry = _entry(name)
    address = url or entry.url
    content = _fetch(address, name)
    try:
        found = blob_id(source_file(entry.converter, content))
        arrays = CONVERTERS[entry.converter](content)
    except Exception as error:
        raise DatasetError(
            f"dataset {name!r}: what came from {address} cannot be converted ({error})"
        ) from error
    if entry.blob and found != entry.blob:
        raise DatasetError(
            f"dataset {name!r}: what came from {address} is another file (git's id is {found}, expected was {entry.blob}); "
            "--url names another address"
        )
    check(entry, arrays.X, arrays.y)
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.npz"
    with replacing(path) as partial, open(partial, "wb") as file:
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
    if X.shape != entry.shape or int(y.sum()) != entry.outliers:
        found = f"{X.shape[0]} x {X.shape[1]} with {int(y.sum())} outliers"
        wanted = f"{entry.shape[0]} x {entry.shape[1]} with {entry.outliers}"
        raise DatasetError(
            f"dataset {entry.name!r}: these rows are {found}, expected were {wanted}"
        )
    if entry.digest is not None and digest({"X": X, "y": y}) != entry.digest:
        raise DatasetError(f"dataset {entry.name!r}: the values are not the expected ones")


def _entry(name: str) -> Entry:
    if name not in BY_NAME:
        raise DatasetError(f"dataset {name!r} is not one of {', '.join(BY_NAME)}")
    return BY_NAME[name]
