"""Rows of a table that a frame of its results names, such as that of ``Detection.top``."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from odefs.tables.displayed_rows import Hiding, shown_names
from odefs.tables.frames import column_cells, frame_names


def rows_of_results(found: Hiding, frame: Any, index: Any) -> np.ndarray:
    """Return the numbers of the rows of a frame of results, in its order.

    Frames of pandas have the table's ``index``, others name their rows in the first column. In
    contrast to a list of integers, these names cannot be mistaken for row numbers.
    """
    if index is not None and hasattr(frame, "iloc"):
        return _numbers(frame.index, index, "index")
    name, names = shown_names(found, first=0)
    columns = frame_names(frame) or []
    if not columns or columns[0] not in (name, f"{name} (id)"):
        raise ValueError(
            f"a frame names rows if it is one of top() or to_frame(), which begins with {name!r}; "
            f"the columns of this one are {', '.join(columns)}. Row numbers, labels or a boolean "
            "mask are allowed as well."
        )
    return _numbers(column_cells(frame, columns[0]), names, f"column {columns[0]!r}")


def _numbers(wanted: Sequence[object], names: Sequence[object], where: str) -> np.ndarray:
    """Return the place of each of the ``wanted`` names, none of which may occur twice."""
    places = {name: row for row, name in enumerate(names)}
    unknown = [name for name in wanted if name not in places]
    if unknown:
        raise ValueError(f"no row is called {unknown[0]!r}, which the {where} of the frame holds.")
    if len(places) < len(names):
        counts = Counter(names)
        for name in wanted:
            if counts[name] > 1:
                raise ValueError(
                    f"{counts[name]} rows are called {name!r}, which the {where} of the frame "
                    "holds: pass row numbers, such as order[:3]."
                )
    return np.array([places[name] for name in wanted], dtype=np.intp)
