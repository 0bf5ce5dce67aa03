"""Explanations in the shape that SHAP's plots take. They are no Shapley values: scores are split as the detector splits them."""

from typing import Any

import numpy as np

from odefs._extras import needed_by
from odefs.inspection.explanation import Explanation


def to_shap(explanation: Explanation) -> Any:
    """A ``shap.Explanation``: ``values`` are contributions above the usual, ``base_values`` the usual score, and both add up to the row's score."""
    with needed_by("to_shap", "shap"):
        from shap import Explanation as OfShap
    data = explanation.data
    return OfShap(
        values=np.array(explanation.excess, dtype=np.float64),
        base_values=np.full(len(explanation), float(explanation.baseline.sum())),
        data=np.asarray(data.toarray() if hasattr(data, "toarray") else data),
        feature_names=[str(name) for name in explanation.feature_names],
        output_names="outlier score",
    )
