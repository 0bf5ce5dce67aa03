"""Selection of the engine from user input and the estimators' parameter ``engine``."""

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from odefs._extras import require_extra
from odefs.detectors.base import Detector
from odefs.detectors.lesinn import LeSiNNDetector
from odefs.engines.in_memory import InMemoryEngine
from odefs.engines.row_blocks import RowBlocks, is_sparse
from odefs.ensemble.model import Model
from odefs.exceptions import warn

if TYPE_CHECKING:
    from odefs.engines.dask import DaskEngine
    from odefs.engines.stream import StreamEngine

ON_PROCESSORS = ("auto", "local", "stream", "dask")
TORCH = "torch"


def out_of_core_engine(
    X: object, engine: str, n_jobs: int | None, missing: bool
) -> "StreamEngine | DaskEngine | None":
    """The engine for rows that are not in memory, ``None`` for those that are.

    ``engine="auto"`` depends on the type of ``X``.
    """
    kind = _kind(X) if engine == "auto" else engine
    if kind == "stream":
        return stream_engine(_as_blocks(X), n_jobs, missing)
    if kind == "dask":
        from odefs.engines.dask import DaskEngine

        return DaskEngine(X, n_jobs, missing)
    require_in_memory(X, f"engine={engine!r}")
    return None


def stream_engine(blocks: RowBlocks, n_jobs: int | None, missing: bool) -> "StreamEngine":
    """The engine for rows that come in blocks."""
    from odefs.engines.stream import StreamEngine

    return StreamEngine(blocks, n_jobs, missing)


def in_memory_engine(X: Any, engine: str, detector: Detector, n_jobs: int | None) -> InMemoryEngine:
    """The engine for a table in memory, on the device that ``engine`` names if it can be used."""
    if not on_device(engine) or why_not_on_device(X, detector) is not None:
        return InMemoryEngine(X, n_jobs)
    with require_extra(f"engine={engine!r}", "gpu", ", or use engine='local'"):
        from odefs.engines.torch.engine import TorchEngine
    _, _, device = engine.partition(":")
    return TorchEngine(X, n_jobs, device or None)


def scoring_engine(X: Any, engine: str, model: Model, n_jobs: int | None) -> InMemoryEngine:
    """The engine for a table in memory that a fitted model scores.

    A model fitted on a GPU must be usable on machines without one: there it scores on the CPU,
    with a warning.
    """
    if not _is_complete(model):
        return InMemoryEngine(X, n_jobs)
    try:
        return in_memory_engine(X, engine, model.detector, n_jobs)
    # torch is not installed, or the device does not exist on this machine.
    except (ModuleNotFoundError, ValueError) as error:
        warn(f"{error} The rows are scored with engine='local'.")
        return InMemoryEngine(X, n_jobs)


def on_device(engine: str) -> bool:
    """Whether the name refers to a device."""
    return engine == TORCH or engine.startswith(f"{TORCH}:")


def why_not_on_device(X: Any, detector: Detector) -> str | None:
    """Why a device cannot be used, as a clause for the user; ``None`` where it can."""
    if not isinstance(detector, LeSiNNDetector):
        return f"the detector {detector.name!r} runs on the CPU only"
    if is_sparse(X):
        return "sparse tables are scored on the CPU only"
    # min returns NaN if any cell is, without a boolean array of the size of the table.
    if X.dtype.kind == "f" and bool(np.isnan(X.min())):
        return "tables with missing cells are scored on the CPU only"
    return None


def _is_complete(model: Model) -> bool:
    """Whether a model's references have no missing cells; devices cannot score others."""
    return isinstance(model.detector, LeSiNNDetector) and all(
        component.state.is_complete for component in model.components if component.detector is None
    )


def require_in_memory(X: object, who: str = "explain") -> None:
    """Raise TypeError for rows that are not in memory."""
    if _kind(X) != "local":
        raise TypeError(
            f"{who} takes rows that are in memory, not {type(X).__name__}: pass some of its rows."
        )


def _kind(X: object) -> str:
    if isinstance(X, RowBlocks):
        return "stream"
    # By name, because only users of Dask collections need Dask.
    return "dask" if type(X).__module__.split(".")[0] in ("dask", "dask_expr") else "local"


def _as_blocks(X: object) -> RowBlocks:
    if isinstance(X, RowBlocks):
        return X
    if isinstance(X, str | os.PathLike):
        return RowBlocks.from_parquet(X)
    return RowBlocks.from_arrays(X)
