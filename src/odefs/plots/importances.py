"""Importances of the columns, and how many components selected them."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from odefs.models.base import OutlierModel
from odefs.plots.base import (
    FLAGGED,
    ORDINARY,
    Display,
    add_legend,
    bar_height,
    require_columns,
    short_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odefs.tables.results.detection import TableDetection

COLUMNS = 15


class ImportancesDisplay(Display):
    """Bars: importances of the columns. Points: share of the components that selected them.

    Parameters
    ----------
    columns : sequence of str
    importances, stability : arrays of shape (n_columns,)
        Most important first.
    """

    def __init__(self, columns: list[str], importances: np.ndarray, stability: np.ndarray) -> None:
        self.columns = columns
        self.importances, self.stability = np.asarray(importances), np.asarray(stability)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_columns: int = COLUMNS, ax: "Axes | None" = None
    ) -> Self:
        """Draw the most important columns of a fitted ``ODEFS``."""
        require_columns(n_columns)
        importances = np.asarray(_require_importances(estimator).feature_importances_)
        # A component that learned nothing uses all columns, but has selected none.
        learned = np.abs(estimator.feature_weights_).sum(axis=1) > 0
        selected = np.zeros(importances.size)
        for subset, useful in zip(estimator.feature_subsets_, learned, strict=True):
            selected[subset] += useful
        stability = selected / len(estimator.feature_subsets_)
        # lexsort() sorts by its last key first.
        order = np.lexsort((-stability, -importances))[:n_columns]
        names = getattr(estimator, "feature_names_in_", None)
        columns = [f"x{k}" if names is None else str(names[k]) for k in order]
        return cls(columns, importances[order], stability[order]).plot(ax)

    @classmethod
    def from_detection(
        cls, detection: "TableDetection", *, n_columns: int = COLUMNS, ax: "Axes | None" = None
    ) -> Self:
        """Draw the columns with the largest share in what makes flagged rows stand out."""
        from odefs.report.columns import collect_importances

        require_columns(n_columns)
        found = collect_importances(detection)[:n_columns]
        return cls(
            [one["column"] for one in found],
            np.array([one["importance"] for one in found]),
            np.array([one["stability"] for one in found]),
        ).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw bars and points, most important at the top."""
        ax = self._axes(ax, bar_height(len(self.columns)))
        places = np.arange(len(self.columns))
        ax.barh(places, self.importances, color=ORDINARY, label="importance")
        ax.plot(self.stability, places, "o", color=FLAGGED, label="share of components")
        ax.set_yticks(places, short_names(self.columns))
        ax.invert_yaxis()
        ax.set(xlabel="share", xlim=(0, 1.05))
        add_legend(ax)
        return self


def _require_importances(estimator: Any) -> Any:
    """The estimator, if it is a fitted one that learns which columns matter."""
    if isinstance(estimator, OutlierModel):
        estimator._require_fitted()
    if hasattr(estimator, "feature_subsets_"):
        return estimator
    raise TypeError(
        f"{type(estimator).__name__} has no importances of columns: give a fitted odefs.ODEFS()."
    )
