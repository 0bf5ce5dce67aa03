"""Rows of a table that a frame of its results names, such as that of ``Detection.top``."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self, cast

import numpy as np

from odefs._row_selection import MISSING_TYPES, frame_index
from odefs.tables.frames.convert import column_cells, frame_names
from odefs.tables.results.displayed_rows import Hiding, shown_names

CLOSE = 1e-6
"""Relative difference of scores that were written with fewer digits."""


def rows_of_results(found: Hiding, frame: object, index: object) -> np.ndarray:
    """Return the numbers of the rows of a frame of results, in its order.

    Frames of pandas have the table's ``index``, others name their rows in the first column. In
    contrast to a list of integers, these names cannot be mistaken for row numbers. Scores show that
    the frame belongs to this result, and tell rows with the same name apart.
    """
    columns = frame_names(frame) or []
    name, names = shown_names(found, first=0)
    own = frame_index(frame)
    if index is not None and own is not None:
        named, wanted, names = "score" in columns, list(own), list(cast(Iterable[object], index))
    else:
        named = "score" in columns and columns[0] in (name, f"{name} (id)")
        wanted = column_cells(frame, columns[0]) if named else []
    if not named:
        raise ValueError(
            "a frame names rows if it is one of top() or to_frame() of this result; the columns of "
            f"this one are {', '.join(columns[:10])}. Row numbers, labels or a boolean mask are "
            "allowed as well."
        )
    return _places(wanted, column_cells(frame, "score"), names, found.scores)


def _places(
    wanted: Sequence[object],
    wanted_scores: Sequence[float | None],
    names: Iterable[object],
    scores: np.ndarray,
) -> np.ndarray:
    """Return the rows with these names and scores; of equal ones, each once and in order."""
    keys = [_key(name) for name in wanted]
    rows_of: dict[object, list[int]] = {key: [] for key in keys}
    for row, name in enumerate(names):
        if (rows := rows_of.get(_key(name))) is not None:
            rows.append(row)
    sorted_rows: dict[object, _SortedRows] = {}
    fitting: dict[tuple[object, object], deque[int]] = {}
    taken: set[int] = set()
    places = []
    for key, name, score in zip(keys, wanted, wanted_scores, strict=True):
        if key not in sorted_rows:
            sorted_rows[key] = _SortedRows.of(rows_of[key], scores)
        given = np.nan if score is None else score
        fact = key, _key(score)
        if fact not in fitting:
            fitting[fact] = deque(sorted_rows[key].with_score(given))
        rows_left = fitting[fact]
        if not rows_left:
            what = "has that score" if rows_of[key] else "is called so"
            raise ValueError(
                f"row {name!r} of the frame, with the score {score}, is not one of this result: no "
                f"row {what}. Frames of top() and to_frame() keep their index, or first column."
            )
        while len(rows_left) > 1 and rows_left[0] in taken:
            rows_left.popleft()
        places.append(rows_left[0])
        # The last one may be named again.
        if len(rows_left) > 1:
            taken.add(rows_left.popleft())
    return np.array(places, dtype=np.intp)


def _key(name: object) -> object:
    """Return a name such that equal ones are one key of a dict: missing ones differ from all."""
    if isinstance(name, tuple):
        return tuple(map(_key, name))
    is_missing = type(name).__name__ in MISSING_TYPES
    is_nan = isinstance(name, float | np.generic) and name != name
    return None if is_missing or is_nan else name


@dataclass(frozen=True, eq=False)
class _SortedRows:
    """Rows of one name in the order of their scores; those without a score are the last ones."""

    rows: np.ndarray
    scores: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[int], scores: np.ndarray) -> Self:
        numbers = np.array(rows, dtype=np.intp)
        own = np.asarray(scores[numbers], dtype=np.float64)
        order = np.argsort(own, kind="stable")
        return cls(numbers[order], own[order])

    def with_score(self, given: float) -> list[int]:
        """Return the rows with this score, in the order of the table."""
        if np.isnan(given):
            return sorted(self.rows[np.isnan(self.scores)].tolist())
        margin = 2 * CLOSE * abs(given)
        first = np.searchsorted(self.scores, given - margin)
        near = slice(first, np.searchsorted(self.scores, given + margin, side="right"))
        own = self.scores[near]
        fits = np.abs(own - given) <= CLOSE * np.abs(own)
        return sorted(self.rows[near][fits].tolist())
