"""Detectors with feature weights, one per file; :mod:`odefs.detectors.base` defines the
protocol.
"""

from odefs.detectors.base import Detector
from odefs.detectors.coupling import CouplingDetector
from odefs.detectors.iforest import IForestDetector
from odefs.detectors.lesinn import LeSiNNDetector
from odefs.detectors.relations import RelationsDetector
from odefs.detectors.tails import TailsDetector

BUILT_IN: dict[str, type[Detector]] = {
    detector.name: detector
    for detector in (
        LeSiNNDetector,
        IForestDetector,
        TailsDetector,
        CouplingDetector,
        RelationsDetector,
    )
}

__all__ = [
    "BUILT_IN",
    "CouplingDetector",
    "Detector",
    "IForestDetector",
    "LeSiNNDetector",
    "RelationsDetector",
    "TailsDetector",
]
