"""The scikit-learn estimators."""

from odefs.estimators.files import load
from odefs.estimators.lesinn import LeSiNN
from odefs.estimators.odefs import ODEFS

__all__ = ["ODEFS", "LeSiNN", "load"]
