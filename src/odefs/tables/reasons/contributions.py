"""Contributions of encoded columns, summed over the columns that they come from."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from odefs.inspection.explanation import Explanation
from odefs.models.base import OutlierModel
from odefs.tables.encoder.encode import ColumnSpec
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.frames.columns import Columns
from odefs.tables.messages.values import HIDDEN, duration, value


def explain_encoded(
    model: OutlierModel,
    encoder: ColumnEncoder,
    table: Columns,
    X: np.ndarray,
    rows: np.ndarray,
    row_names: Sequence[object],
    durations: Collection[str] = (),
    hidden: Collection[str] = (),
) -> Explanation:
    """Return contributions of a table's columns to the scores of rows, of which ``X`` is encoded.

    Cells are those of the table: categories as text, times as seconds since 1970. Times and the
    columns of ``durations`` are displayed as text. Values of ``hidden`` columns are left out.
    """
    names = encoder.columns
    cells = np.empty((rows.size, len(names)), dtype=object)
    shown = cells.copy()
    for k, spec in enumerate(encoder.specs_):
        if spec.name in hidden:
            cells[:, k] = shown[:, k] = HIDDEN
            continue
        column = table[spec.name]
        own = column.cells(rows)
        cells[:, k] = shown[:, k] = own
        if spec.kind == "time" or spec.name in durations:
            shown[:, k] = [
                None if cell is None else _time_text(spec, cell, column.zone) for cell in own
            ]
    found = model.explain(X[rows])
    return by_column(found, encoder.sources, names, cells, ~np.isnan(X[rows]), row_names, shown)


def _time_text(spec: ColumnSpec, seconds: Any, zone: str) -> str:
    """A date or time of day as messages have it, or a duration."""
    if spec.kind == "time":
        return value(seconds, "time", context=(spec.low, spec.high), unit=zone)
    return duration(seconds)


def by_column(
    found: Explanation,
    sources: np.ndarray,
    names: list[str],
    cells: np.ndarray,
    known: np.ndarray,
    row_names: Sequence[object] | None = None,
    shown: np.ndarray | None = None,
) -> Explanation:
    """Sum contributions of encoded columns over the input columns that they come from.

    ``known`` are the encoded cells that are not missing.
    """
    membership = sources[:, None] == np.arange(len(names))
    used = membership.any(axis=0)
    membership = membership[:, used]
    return Explanation(
        np.asarray(found) @ membership,
        found.baseline @ membership,
        cells[:, used],
        np.array(names, dtype=object)[used],
        found.attribution,
        (known @ membership) > 0,
        found.answers,
        row_names,
        None if shown is None else shown[:, used],
    )
