"""Contributions of the columns to the outlier score, row by row.

Each component's score is split by its detector and added to the full table with the component's
weight and normaliser, so the contributions of a row add up to its outlier score, for training rows
and new ones alike.
"""

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.engine import Engine
from odefs.ensemble.model import Model, component_contributions
from odefs.ensemble.plan import Seeds, baseline_rows


def require_attribution(detector: Detector) -> None:
    """Raise if the detector's scores cannot be split over the columns."""
    if detector.attribution is None:
        raise TypeError(
            "explain needs a detector whose score splits over the columns; "
            f"{type(detector).__name__} declares attribution = None, so its score does not."
        )


def block_contributions(model: Model, X: np.ndarray) -> np.ndarray:
    """Contributions of a scaled block, ``(n_rows, n_columns)``, float64."""
    out = np.zeros(X.shape)
    for component in model.scoring:
        out[:, component.columns] += component_contributions(component, model.detector, X)
    return out


def usual_contributions(engine: Engine, model: Model, seeds: Seeds) -> np.ndarray:
    """Mean contribution of each column over a sample of training rows; the sum is about 1."""
    rows = baseline_rows(engine.n_rows, engine.n_columns, seeds.baseline())
    out = np.zeros(engine.n_columns)
    for component, total in zip(
        model.scoring, engine.total_contributions(model, rows), strict=True
    ):
        out[component.columns] += total
    return out / rows.size
