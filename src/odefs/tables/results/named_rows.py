"""Rows of a table that a frame of its results names, such as that of ``Detection.top``."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from odefs._row_selection import frame_index
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
    asked = set(wanted)
    rows_of: defaultdict[object, deque[int]] = defaultdict(deque)
    for row, name in enumerate(names):
        if name in asked:
            rows_of[name].append(row)
    places = []
    for name, score in zip(wanted, wanted_scores, strict=True):
        rows = rows_of[name]
        fitting = [row for row in rows if _is_score(scores[row], score)]
        if not fitting:
            what = "has that score" if rows else "is called so"
            raise ValueError(
                f"row {name!r} of the frame, with the score {score}, is not one of this result: no "
                f"row {what}. Frames of top() and to_frame() keep their index, or first column."
            )
        places.append(fitting[0])
        if len(fitting) > 1:
            rows.remove(fitting[0])
    return np.array(places, dtype=np.intp)


def _is_score(score: float, given: float | None) -> bool:
    if given is None or given != given:  # NaN alone differs from itself
        return bool(np.isnan(score))
    return bool(abs(score - given) <= CLOSE * abs(score))
