"""Fits without learning: the detector on all columns, or on subsets chosen by other means.

``LeSiNN`` is the first, the paper's competitors are the second.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.component import unweighted_component
from odefs.ensemble.engine import Engine
from odefs.ensemble.fit import score_bare
from odefs.ensemble.model import Component, Model, normalised, with_normaliser
from odefs.ensemble.plan import Seeds
from odefs.ensemble.scaled_table import scale_table
from odefs.kernels.row_reductions import fill
from odefs.scaling import Scaling


def fit_bare(
    engine: Engine,
    detector: Detector,
    scaling_kind: str,
    seeds: Seeds,
) -> tuple[Model, np.ndarray]:
    """The detector on all columns as a model of one component, and its training scores."""
    scaled = scale_table(engine, detector, scaling_kind, seeds)
    bare = score_bare(engine, detector, scaled)
    # Without a threshold: a single component has no agreement with others.
    component = with_normaliser(scaled.component, bare)
    scores = fill(engine.per_row(), lambda part: normalised(component, bare[part]))
    return Model(detector, scaled.scaling, (component,), engine.dtype), scores


def fit_subsets(
    engine: Engine,
    detector: Detector,
    scaling: Scaling,
    subsets: Sequence[np.ndarray],
    weights: np.ndarray,
    seeds: Seeds,
) -> tuple[Model, np.ndarray]:
    """A model of given subsets of columns, and its training scores."""

    def prepare(index: int) -> Component:
        rng = seeds.component(index)
        component = subset_component(engine, detector, scaling, subsets[index], rng)
        return replace(component, weight=float(weights[index]))

    components = engine.map(prepare, range(len(subsets)))
    components, judged = engine.score_and_normalise(detector, scaling, components, None)
    return Model(detector, scaling, tuple(components), engine.dtype), judged.scores


def subset_component(
    engine: Engine,
    detector: Detector,
    scaling: Scaling,
    columns: np.ndarray,
    rng: np.random.Generator,
) -> Component:
    """The detector on given columns, with its own references."""
    references = engine.take(detector.sample(engine.n_rows, rng), scaling)
    return unweighted_component(detector, references, columns, rng)
