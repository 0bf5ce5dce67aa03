"""Contributions of encoded columns, summed over the columns that they come from."""

from collections.abc import Sequence

import numpy as np

from odefs.inspection.explanation import Explanation
from odefs.models.base import OutlierModel
from odefs.tables.columns import Columns
from odefs.tables.encoder.encoder import ColumnEncoder


def explain_encoded(
    model: OutlierModel,
    encoder: ColumnEncoder,
    table: Columns,
    X: np.ndarray,
    rows: np.ndarray,
    row_names: Sequence[object],
) -> Explanation:
    """Return contributions of a table's columns to the scores of rows, of which ``X`` is encoded.

    Cells are those of the table: categories as text, times as seconds since 1970.
    """
    names = encoder.columns
    cells = np.empty((rows.size, len(names)), dtype=object)
    for k, name in enumerate(names):
        cells[:, k] = [table[name].at(row) for row in rows.tolist()]
    found = model.explain(X[rows])
    return by_column(found, encoder.sources, names, cells, ~np.isnan(X[rows]), row_names)


def by_column(
    found: Explanation,
    sources: np.ndarray,
    names: list[str],
    cells: np.ndarray,
    known: np.ndarray,
    row_names: Sequence[object] | None = None,
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
    )
