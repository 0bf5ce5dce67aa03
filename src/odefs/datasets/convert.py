"""Conversion of source files to ``X``, ``y`` and column names.

A nominal column becomes one column per value that occurs, in the order of the file's header, with a
missing value last as a value of its own. This gives the paper's number of columns on every one-hot
dataset.
"""

import io
import tarfile
import zipfile
from typing import Any, NamedTuple

import numpy as np

MISSING_MARK = "?"
# As the sources spell them, for example 'ad.' in advertisements and '50000+.' in census.
OUTLIER_LABELS = {"1", "1.0", "yes", "Active", "ad.", "50000+.", "outlier"}


class Arrays(NamedTuple):
    """Converted dataset; small non-negative integers are uint8, everything else is float32."""

    X: np.ndarray
    y: np.ndarray
    feature_names: np.ndarray


def advertisements(content: bytes) -> Arrays:
    """Convert UCI's zip: 1558 columns, of which the three continuous ones are dropped.

    '?' in the binary columns becomes 0. Column names come from the zip's ad.names; without it, or
    if it names other columns, columns are numbered instead.
    """
    # Every byte is a character of latin-1, so decoding cannot fail.
    lines = _zipped(content, "ad.data").decode("latin-1").splitlines()
    cells = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]
    values = [[0 if cell == MISSING_MARK else float(cell) for cell in row[3:-1]] for row in cells]
    labels = [row[-1] for row in cells]
    names = _c45_names(_zipped(content, "ad.names").decode("latin-1"))[3:]
    if len(names) != len(values[0]):
        names = [f"x{k + 3}" for k in range(len(values[0]))]
    return _arrays(np.array(values), labels, names)


def arff_numbers(content: bytes) -> Arrays:
    """Convert an ARFF file of numbers, which are kept; the last column is the class."""
    columns, values = _read_arff(content)
    X = np.array([[float(cell) for cell in row[:-1]] for row in values])
    return _arrays(X, [row[-1] for row in values], [name for name, _ in columns[:-1]])


def arff_one_hot(content: bytes) -> Arrays:
    """Convert an ARFF file of nominal columns; the last column is the class."""
    columns, values = _read_arff(content)
    cells = np.array(values, dtype=object)
    parts, names = [], []
    for k, (name, order) in enumerate(columns[:-1]):
        occurring = set(cells[:, k])
        for value in [v for v in order if v in occurring] + [MISSING_MARK] * (
            MISSING_MARK in occurring and MISSING_MARK not in order
        ):
            parts.append(cells[:, k] == value)
            names.append(f"{name}={value}")
    return _arrays(np.column_stack(parts), list(cells[:, -1]), names)


def tar_arff_one_hot(content: bytes) -> Arrays:
    """Convert an ARFF file of nominal columns inside a tar archive."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        member = next(member for member in archive.getmembers() if member.name.endswith(".arff"))
        file = archive.extractfile(member)
        if file is None:
            raise ValueError("the archive's arff entry is not a file")
        return arff_one_hot(file.read())


def mat(content: bytes) -> Arrays:
    """Convert a MATLAB file with ``X`` and ``y``, as in the ODDS library."""
    from scipy.io import loadmat

    source: Any = io.BytesIO(content)  # scipy's annotations allow paths only
    arrays = loadmat(source)
    X = np.asarray(arrays["X"], dtype=np.float64)
    return _arrays(
        X,
        np.asarray(arrays["y"]).ravel().astype(int).astype(str).tolist(),
        [f"x{k}" for k in range(X.shape[1])],
    )


def mat_without_zeros(content: bytes) -> Arrays:
    """Convert a MATLAB file and drop the columns that are all zero."""
    arrays = mat(content)
    kept = arrays.X.any(axis=0)
    return Arrays(arrays.X[:, kept], arrays.y, arrays.feature_names[kept])


CONVERTERS = {
    function.__name__: function
    for function in (
        advertisements,
        arff_numbers,
        arff_one_hot,
        tar_arff_one_hot,
        mat,
        mat_without_zeros,
    )
}


def source_file(converter: str, content: bytes) -> bytes:
    """Return the file that a dataset's blob id refers to.

    This is the downloaded file, or the data file in it if the archive is only a wrapper.
    """
    return _zipped(content, "ad.data") if converter == advertisements.__name__ else content


def _zipped(content: bytes, suffix: str) -> bytes:
    """Return a file of a zip archive by the suffix of its name; empty if there is none."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return next(
            (archive.read(name) for name in archive.namelist() if name.endswith(suffix)), b""
        )


def _c45_names(text: str) -> list[str]:
    """Return the column names of a C4.5 names file: ``name: values.``, with comments after a
    bar.
    """
    lines = (line.partition("|")[0].strip() for line in text.splitlines())
    return [line.rpartition(":")[0].strip() for line in lines if ":" in line]


def _arrays(X: np.ndarray, labels: list[str], names: list[str]) -> Arrays:
    integral = np.all((X >= 0) & (X <= 255) & (np.asarray(X, dtype=np.float64) == np.rint(X)))
    y = np.array([label.strip() in OUTLIER_LABELS for label in labels], dtype=np.uint8)
    return Arrays(X.astype(np.uint8 if integral else np.float32), y, np.array(names))


def _read_arff(content: bytes) -> tuple[list[tuple[str, list[str]]], list[list[str]]]:
    """Return names and declared values of the columns, and the rows as text."""
    columns: list[tuple[str, list[str]]] = []
    rows: list[list[str]] = []
    in_data = False
    for line in content.decode("utf-8", errors="replace").splitlines():
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if in_data:
            rows.append(_split(text))
        elif text.lower().startswith("@data"):
            in_data = True
        elif text.lower().startswith("@attribute"):
            name, rest = _name_and_rest(text[len("@attribute") :].strip())
            columns.append(
                (name, _split(rest.strip()[1:-1]) if rest.strip().startswith("{") else [])
            )
    return columns, rows


def _name_and_rest(text: str) -> tuple[str, str]:
    if text[0] in "'\"":
        end = text.index(text[0], 1)
        return text[1:end], text[end + 1 :]
    # Some headers have no space before the brace: @attribute class{yes,no}.
    name, *rest = text.replace("{", " {", 1).split(None, 1)
    return name, rest[0] if rest else ""


def _split(text: str) -> list[str]:
    """Split at commas that are not inside quotes of either kind."""
    cells = [""]
    quote = ""
    for character in text:
        if quote:
            if character == quote:
                quote = ""
            else:
                cells[-1] += character
        elif character in "'\"":
            quote = character
        elif character == ",":
            cells.append("")
        else:
            cells[-1] += character
    return [cell.strip() for cell in cells]
