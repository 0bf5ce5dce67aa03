"""Outlier detection in wide, noisy tables, with the columns that explain each outlier.

Names are loaded on first use, so that ``import odefs`` is fast: not even ``typing`` is imported
here.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # type checkers take this name for true
if TYPE_CHECKING:
    from odefs.compat.onnx import export_onnx as export_onnx
    from odefs.detection import Detection as Detection
    from odefs.detection import detect as detect
    from odefs.engines.row_blocks import RowBlocks as RowBlocks
    from odefs.estimators import ODEFS as ODEFS
    from odefs.estimators import FeatureSelection as FeatureSelection
    from odefs.estimators import LeSiNN as LeSiNN
    from odefs.estimators.selector import ODEFSSelector as ODEFSSelector
    from odefs.exceptions import ClusterError as ClusterError
    from odefs.exceptions import ModelFileError as ModelFileError
    from odefs.exceptions import ODEFSWarning as ODEFSWarning
    from odefs.inspection.conformal import Calibration as Calibration
    from odefs.inspection.conformal import calibrate as calibrate
    from odefs.inspection.explanation import Explanation as Explanation
    from odefs.inspection.explanation import Reason as Reason
    from odefs.inspection.explanation import TopExplanation as TopExplanation
    from odefs.inspection.resemblances import Resemblance as Resemblance
    from odefs.report.report import Report as Report
    from odefs.review import Review as Review
    from odefs.tables.encoder.transformer import TableEncoder as TableEncoder
    from odefs.tables.model_files.pipelines import load as load
    from odefs.tables.model_files.pipelines import save as save
    from odefs.tables.pipelines.explain import explain as explain
    from odefs.tables.records.checks import ValueCheck as ValueCheck
    from odefs.tables.scoring.batches import score_batches as score_batches
    from odefs.versions import show_versions as show_versions

_HOMES = {
    "ODEFS": "odefs.estimators",
    "FeatureSelection": "odefs.estimators",
    "LeSiNN": "odefs.estimators",
    "ODEFSSelector": "odefs.estimators.selector",
    "Calibration": "odefs.inspection.conformal",
    "ClusterError": "odefs.exceptions",
    "Detection": "odefs.detection",
    "Explanation": "odefs.inspection.explanation",
    "ModelFileError": "odefs.exceptions",
    "ODEFSWarning": "odefs.exceptions",
    "Reason": "odefs.inspection.explanation",
    "Report": "odefs.report.report",
    "Resemblance": "odefs.inspection.resemblances",
    "Review": "odefs.review",
    "RowBlocks": "odefs.engines.row_blocks",
    "TableEncoder": "odefs.tables.encoder.transformer",
    "TopExplanation": "odefs.inspection.explanation",
    "ValueCheck": "odefs.tables.records.checks",
    "calibrate": "odefs.inspection.conformal",
    "detect": "odefs.detection",
    "explain": "odefs.tables.pipelines.explain",
    "export_onnx": "odefs.compat.onnx",
    "load": "odefs.tables.model_files.pipelines",
    "save": "odefs.tables.model_files.pipelines",
    "score_batches": "odefs.tables.scoring.batches",
    "show_versions": "odefs.versions",
}

__all__ = [
    "ODEFS",
    "Calibration",
    "ClusterError",
    "Detection",
    "Explanation",
    "FeatureSelection",
    "LeSiNN",
    "ModelFileError",
    "ODEFSSelector",
    "ODEFSWarning",
    "Reason",
    "Report",
    "Resemblance",
    "Review",
    "RowBlocks",
    "TableEncoder",
    "TopExplanation",
    "ValueCheck",
    "__version__",
    "calibrate",
    "detect",
    "explain",
    "export_onnx",
    "load",
    "save",
    "score_batches",
    "show_versions",
]


if not TYPE_CHECKING:  # or type checkers would accept any name

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module 'odefs' has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
