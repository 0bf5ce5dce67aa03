"""Importances of columns for outlying rows: their share in what reasons are chosen from.

That is the excess of their contribution over the usual one. A column that contributes much to every
row, or has a value that many other rows have, too, is important for none.
"""

import numpy as np

from odefs.inspection.contributions import mean_shares
from odefs.inspection.explanation import Explanation
from odefs.tables.frames.columns import Columns
from odefs.tables.reasons.find import ReasonFinder


def shares_in_reasons(
    finder: ReasonFinder, table: Columns, X: np.ndarray, rows: np.ndarray, k: int
) -> np.ndarray | None:
    """Mean share of each encoded column in the excess that makes rows stand out, with sum 1.

    ``X`` are all encoded rows of the table, ``k`` is the number of reasons of a row. ``None`` if no
    row exceeds the usual score.
    """
    encoder, explanation = finder.encoder, finder.model.explain(X[rows])
    assert isinstance(explanation, Explanation)
    # What is below the usual in one encoded column makes up for what is above it in another one of
    # the same input column, as it does in reasons: one of many categories is always absent.
    of_input = np.maximum(encoder.by_column(explanation.excess), 0.0)
    of_input[finder.too_common(table, X[rows], rows, k)] = 0.0
    parts = np.maximum(explanation.excess, 0.0)
    whole = encoder.by_column(parts)
    counted = np.divide(of_input, whole, out=np.zeros_like(whole), where=whole > 0)
    return mean_shares(parts * counted[:, encoder.sources], explanation)
