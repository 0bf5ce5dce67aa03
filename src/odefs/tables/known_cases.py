"""Known cases: a column with 1 for outliers, 0 for normal rows, and how well scores rank them.

Labels and scores may be file-backed: they are read in chunks, and nothing of their length is kept
in memory when the agreement (AUC, precision at k, average precision) is computed.
"""

from collections.abc import Iterable

import numpy as np

from odefs.engines.out_of_core import Folder
from odefs.exceptions import TableError
from odefs.kernels.row_reductions import order_statistic, row_chunks
from odefs.tables.encoder.text_formats import is_missing_word
from odefs.tables.frames.convert import column_cells
from odefs.tables.records.notes import Note
from odefs.tables.table import Table

WORDS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
CODES = {True: 1, False: 0, None: -1}


def known_cases(table: Table, column: str) -> tuple[dict[str, np.ndarray], Note]:
    """Return the numbers of known outliers and known normal rows, and a note on them."""
    table.require_columns([column])
    none = np.empty(0, dtype=np.intp)
    found = [(none, none)]
    for start, frame in table.batches([column]):
        found.append(known_rows(column_cells(frame, column), column, start))
    outliers, normal = (np.concatenate(kind) for kind in zip(*found, strict=True))
    note = Note("known_cases", column, count=int(outliers.size), n_normal=int(normal.size))
    return {"known_outliers": outliers, "known_normal": normal}, note


def known_rows(cells: Iterable[object], name: str, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers, counted from ``start``, of known outliers and known normal rows.

    Raise for a cell with any other value.
    """
    # One byte per row instead of a list: all rows of a large table may be known.
    kinds = np.fromiter(
        (CODES[_kind(cell, name, row)] for row, cell in enumerate(cells, start + 1)), dtype=np.int8
    )
    return np.flatnonzero(kinds == CODES[True]) + start, np.flatnonzero(
        kinds == CODES[False]
    ) + start


def _kind(cell: object, name: str, row: int) -> bool | None:
    if cell is None or cell != cell:
        return None
    if isinstance(cell, bool | int | float) and cell in (0, 1):
        return bool(cell)
    text = str(cell).strip().lower()
    if isinstance(cell, str) and (not text or is_missing_word(cell.strip())):
        return None
    if isinstance(cell, str) and text in WORDS:
        return WORDS[text]
    raise TableError(
        f"column {name!r} contains {str(cell)!r} in row {row}: allowed values are 1, true or yes "
        "(outlier), 0, false or no (normal), and empty cells (unknown)."
    )


CHUNK = 2**21
"""Number of outliers processed in one pass over all rows."""


def without_rows(
    y: np.ndarray, scores: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores without some rows, in files."""
    kept = y.size - np.unique(rows).size
    folder = Folder()
    labels, rest = folder.array((kept,), np.uint8), folder.array((kept,), np.float64)
    start = 0
    for part in row_chunks(y.size):
        keeps = np.ones(part.stop - part.start, dtype=bool)
        keeps[rows[(rows >= part.start) & (rows < part.stop)] - part.start] = False
        stop = start + int(np.count_nonzero(keeps))
        labels[start:stop], rest[start:stop] = y[part][keeps], scores[part][keeps]
        start = stop
    return labels, rest


def evaluate(y: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Return AUC (ties count half), precision at k and average precision.

    Precision at k is the expectation over random orders of ties.
    """
    n_outliers = sum(int(np.count_nonzero(y[part])) for part in row_chunks(y.size))
    n_normal = y.size - n_outliers
    below = precision = 0.0
    for chunk in _chunks_of_outliers(y, scores):
        limits, times = np.unique(chunk, return_counts=True)
        found = _counts(y, scores, limits)
        normal_above, normal_from, outliers_from = (
            found["normal above"],
            found["normal from"],
            found["outliers from"],
        )
        below += float(times @ (n_normal - (normal_above + normal_from) / 2))
        precision += float(times @ (outliers_from / (outliers_from + normal_from)))
    return {
        "auc": below / (n_outliers * n_normal),
        "p@k": _precision_at_k(y, scores, n_outliers),
        "ap": precision / n_outliers,
    }


def _chunks_of_outliers(y: np.ndarray, scores: np.ndarray) -> list[np.ndarray]:
    """Return slices of a file with the outliers' scores."""
    path = (folder := Folder()).path()
    with open(path, "wb") as file:
        for part in row_chunks(y.size):
            file.write(
                np.asarray(scores[part], dtype=np.float64)[
                    np.asarray(y[part], dtype=bool)
                ].tobytes()
            )
    found = folder.opened(path, np.float64)
    return [found[start : start + CHUNK] for start in range(0, found.size, CHUNK)]


def _counts(y: np.ndarray, scores: np.ndarray, limits: np.ndarray) -> dict[str, np.ndarray]:
    """Count for each limit (ascending) the rows of a kind that score above it, or at least it."""
    size = limits.size + 1
    found = {
        name: np.zeros(size, dtype=np.int64)
        for name in ("normal above", "normal from", "outliers from")
    }
    for part in row_chunks(y.size):
        here, is_outlier = np.asarray(scores[part]), np.asarray(y[part], dtype=bool)
        normal = np.sort(here[~is_outlier])
        found["normal above"] += np.bincount(np.searchsorted(limits, normal), minlength=size)
        found["normal from"] += np.bincount(
            np.searchsorted(limits, normal, side="right"), minlength=size
        )
        places = np.searchsorted(limits, here[is_outlier], side="right")
        found["outliers from"] += np.bincount(places, minlength=size)
    return {name: np.cumsum(counts[::-1])[::-1][1:] for name, counts in found.items()}


def _precision_at_k(y: np.ndarray, scores: np.ndarray, k: int) -> float:
    threshold = order_statistic(scores, scores.size - k)
    above = hits = tied = tied_hits = 0
    for part in row_chunks(y.size):
        here, is_outlier = np.asarray(scores[part]), np.asarray(y[part], dtype=bool)
        above += int(np.count_nonzero(here > threshold))
        hits += int(np.count_nonzero(is_outlier[here > threshold]))
        tied += int(np.count_nonzero(here == threshold))
        tied_hits += int(np.count_nonzero(is_outlier[here == threshold]))
    return (hits + (k - above) * tied_hits / tied) / k
