"""Conversion of explanations for SHAP's plots; the values are not Shapley values.

Scores are split as the detector splits them.
"""

from typing import TYPE_CHECKING

import numpy as np

from odefs._extras import require_extra
from odefs.inspection.explanation import Explanation

if TYPE_CHECKING:
    import shap


def to_shap(explanation: Explanation) -> "shap.Explanation":
    """A ``shap.Explanation``: contributions above the usual, and the usual score as base value.

    Both add up to the row's score, without what answers add to it.
    """
    with require_extra("to_shap", "shap"):
        from shap import Explanation as OfShap
    data = explanation.data
    return OfShap(
        values=np.array(explanation.excess, dtype=np.float64),
        base_values=np.full(len(explanation), float(explanation.baseline.sum())),
        data=np.asarray(data.toarray() if hasattr(data, "toarray") else data),
        feature_names=[str(name) for name in explanation.feature_names],
        output_names="outlier score",
    )
