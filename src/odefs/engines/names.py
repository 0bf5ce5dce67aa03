"""From the estimators' parameter ``engine`` to an engine for a table."""

from typing import Any

import numpy as np
from scipy import sparse

from odefs._extras import needed_by
from odefs.detectors.base import Detector
from odefs.detectors.lesinn import LeSiNNDetector
from odefs.engines.in_memory import InMemoryEngine
from odefs.ensemble.model import Model

ON_PROCESSORS = ("auto", "local", "stream", "dask")
TORCH = "torch"


def on_device(engine: str) -> bool:
    """Whether the name stands for a device."""
    return engine == TORCH or engine.startswith(f"{TORCH}:")


def why_not_on_device(X: Any, detector: Detector) -> str | None:
    """What the device's engine does not do, said to the user; ``None`` where it does all that is needed."""
    if not isinstance(detector, LeSiNNDetector):
        return f"the detector {detector.name!r} runs on the processor only"
    if sparse.issparse(X):
        return "sparse tables are scored on the processor only"
    if X.dtype.kind == "f" and bool(np.isnan(X.min())):
        return "tables with missing cells are scored on the processor only"
    return None


def complete_references(model: Model) -> bool:
    """Whether a LeSiNN model was fitted on a complete table: only then can a device score with it."""
    return all(component.state.is_complete for component in model.components)


def device_engine(engine: str, X: Any, n_jobs: int | None) -> InMemoryEngine:
    """The engine on the device that ``engine`` names."""
    with needed_by(f"engine={engine!r}", "gpu", ", or use engine='local'"):
        from odefs.engines.torch.engine import TorchEngine
    _, _, device = engine.partition(":")
    return TorchEngine(X, n_jobs, device or None)
