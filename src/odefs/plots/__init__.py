"""Plots with matplotlib, in the manner of scikit-learn's displays.

A display holds what it draws. ``from_estimator`` and ``from_detection`` compute and draw it,
``plot`` draws it again, for example into other ``Axes``; ``ax_`` and ``figure_`` are the last ones.
"""

from odefs.plots.importances import ImportancesDisplay
from odefs.plots.map import MapDisplay
from odefs.plots.row import ReasonsDisplay, RowDisplay
from odefs.plots.scores import ScoreDisplay

__all__ = ["ImportancesDisplay", "MapDisplay", "ReasonsDisplay", "RowDisplay", "ScoreDisplay"]
