"""The scikit-learn estimators."""

from odefs.estimators.files import load
from odefs.estimators.lesinn import LeSiNN
from odefs.estimators.odefs import ODEFS
from odefs.estimators.selector import ODEFSSelector

__all__ = ["ODEFS", "LeSiNN", "ODEFSSelector", "load"]
