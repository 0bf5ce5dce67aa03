"""The frozen model: what scoring needs, independent of the number of training rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs.detectors.base import Detector
from odefs.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Component:
    """A detector's state on a subset of the columns.

    ``normaliser`` is the mean score on the training rows, so a normalised score of 1 is that of an
    ordinary row. ``w`` is ``None`` where all columns of the subset have equal weight. A row stands
    out in this component if its normalised score exceeds ``threshold``, which is ``None`` where it
    was not computed.
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
    dtype: np.dtype

    @property
    def scoring(self) -> tuple[Component, ...]:
        """The components that have a share in the score."""
        return tuple(component for component in self.components if component.weight > 0)

    @property
    def has_thresholds(self) -> bool:
        """Whether the agreement of the components can be computed."""
        return all(component.threshold is not None for component in self.scoring)
