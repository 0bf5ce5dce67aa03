"""Scikit-learn estimators.

``ODEFSSelector`` is not imported here, because its base class imports much of scikit-learn.
"""

from odefs.estimators.lesinn import LeSiNN
from odefs.estimators.odefs import ODEFS
from odefs.models.feature_selection import FeatureSelection
from odefs.models.files import load

__all__ = ["ODEFS", "FeatureSelection", "LeSiNN", "load"]
