"""What an engine may offer beyond :class:`odefs.ensemble.engine.Engine`: several components at once, as a GPU wants them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.combine import RowScores
from odefs.ensemble.model import Component, Model
from odefs.scaling import Scaling

if TYPE_CHECKING:
    from odefs.ensemble.train import ComponentTrainer, TrainedComponents


@runtime_checkable
class BatchEngine(Protocol):
    """Trains components together, and scores rows with them where the rows are."""

    def train(self, trainer: "ComponentTrainer", indices: Sequence[int]) -> list["TrainedComponents"]:
        """What :meth:`odefs.ensemble.train.ComponentTrainer.in_batches` gives."""

    def score_and_normalise(
        self,
        detector: Detector,
        scaling: Scaling,
        components: Sequence[Component],
        rows: np.ndarray | None,
        rate: float | None = None,
    ) -> tuple[list[Component], RowScores]:
        """Sweep 3: the components with their normalisers and with a ``rate`` their thresholds, from ``rows`` (``None``: all), and what they say about all
        rows."""

    def total_contributions(self, model: Model, rows: np.ndarray) -> list[np.ndarray | None]:
        """:meth:`odefs.detectors.base.Detector.total_contributions` of each component over some rows; ``None`` where it takes the detector's own
        way."""
