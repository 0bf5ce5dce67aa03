"""The scikit-learn estimators. ``ODEFSSelector`` is loaded by its own name: its base class brings much of scikit-learn along."""

from odefs.estimators.lesinn import LeSiNN
from odefs.estimators.odefs import ODEFS
from odefs.models.feature_selection import FeatureSelection
from odefs.models.files import load

__all__ = ["ODEFS", "FeatureSelection", "LeSiNN", "load"]
