"""The frozen model: what scoring a row needs, and nothing of the length of the training data."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs.detectors.base import Detector
from odefs.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Component:
    """A detector's state on a subset of the columns.

    ``normaliser`` is the mean score on the training rows, so that a normalised score of 1 is that of an ordinary row. ``w`` is ``None`` where
    the subset's columns count alike. ``threshold``, on the normalised scale, is what a row must exceed to stand out by this component; ``None`` where
    nobody asked for it.
    """

    columns: np.ndarray
    w: np.ndarray | None
    state: Any
    normaliser: float
    weight: float
    loss: float
    threshold: float | None = None


@dataclass(frozen=True, eq=False)
class Model:
    """Scaling, components and the precision in which rows are scored."""

    detector: Detector
    scaling: Scaling
    components: tuple[Component, ...]
    dtype: np.dtype[Any]

    @property
    def scoring(self) -> tuple[Component, ...]:
        """The components that have a share in the score."""
        return tuple(component for component in self.components if component.weight > 0)

    @property
    def has_thresholds(self) -> bool:
        """Whether it can be said how many components put a row above their thresholds."""
        return all(component.threshold is not None for component in self.scoring)
