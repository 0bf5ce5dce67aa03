"""Contributions of the columns to the outlier score, row by row.

Each component's score is split by its detector and carried into the full table with the component's weight and normaliser, so the
contributions of a row add up to its outlier score, for rows of the training data and for new ones alike.
"""

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.batch_engine import BatchEngine
from odefs.ensemble.combine import on_columns
from odefs.ensemble.engine import Engine
from odefs.ensemble.model import Component, Model
from odefs.ensemble.plan import Seeds, baseline_rows


def require_attribution(detector: Detector) -> None:
    """Refuse in one sentence where scores cannot be split."""
    if detector.attribution is None:
        raise TypeError(
            f"explain needs a detector whose score splits over the columns; {type(detector).__name__} declares that its score does not "
            "(attribution = None)."
        )


def block_contributions(model: Model, X: np.ndarray) -> np.ndarray:
    """Contributions of a scaled block, ``(n_rows, n_columns)``, float64."""
    out = np.zeros(X.shape)
    for component in model.scoring:
        out[:, component.columns] += _component_contributions(component, model.detector, X)
    return out


def _component_contributions(component: Component, detector: Detector, X: np.ndarray) -> np.ndarray:
    part = on_columns(component, X)
    split = detector.contributions(part, component.state, component.w) / component.normaliser
    unknown = np.isnan(split).any(axis=1)
    if unknown.any():
        # Such a row counts as ordinary (1.0); no column is to blame more than another.
        split[unknown] = 1.0 / part.shape[1]
    return component.weight * split


def usual_contributions(engine: Engine, model: Model, seeds: Seeds) -> np.ndarray:
    """Mean contribution of each column over a sample of the training rows; it adds up to about 1."""
    rows = baseline_rows(engine.n_rows, engine.n_columns, seeds.baseline())
    X = engine.take(rows, model.scaling)
    out = np.zeros(engine.n_columns)
    known: list[np.ndarray | None] = [None] * len(model.scoring)
    if isinstance(engine, BatchEngine):
        known = engine.total_contributions(model, rows)

    def total(place: int) -> np.ndarray:
        component, shares = model.scoring[place], known[place]
        if shares is None:
            return _total_contributions(component, model.detector, X)
        return component.weight / component.normaliser * shares

    for component, shares in zip(model.scoring, engine.map(total, range(len(known))), strict=True):
        out[component.columns] += shares
    return out / rows.size


def _total_contributions(component: Component, detector: Detector, X: np.ndarray) -> np.ndarray:
    """The component's contributions added up over the rows."""
    total = detector.total_contributions(on_columns(component, X), component.state, component.w)
    if np.isnan(total).any():
        return np.asarray(_component_contributions(component, detector, X).sum(axis=0))
    return component.weight / component.normaliser * total
