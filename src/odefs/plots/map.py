"""Map of the rows: two principal components of the columns that matter."""

from typing import TYPE_CHECKING, Self

import numpy as np

from odefs.plots.base import FLAGGED, ORDINARY, Display, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odefs.tables.detection import TableDetection

LABELLED = 5


class MapDisplay(Display):
    """Points: rows of a table, flagged ones in another colour, the most outlying ones named.

    Parameters
    ----------
    points : array of shape (n_drawn, 2)
    is_outlier : array of bool
    names : sequence of object
        Names of the drawn rows, most outlying first, as many as are to be shown.
    named : array of int
        Positions of these rows among the points.
    explained : sequence of float
        Shares of the variance along both axes.
    """

    def __init__(
        self,
        points: np.ndarray,
        is_outlier: np.ndarray,
        names: list[object],
        named: np.ndarray,
        explained: list[float],
    ) -> None:
        self.points, self.is_outlier = np.asarray(points), np.asarray(is_outlier, dtype=bool)
        self.names, self.named, self.explained = names, np.asarray(named, dtype=int), explained

    @classmethod
    def from_detection(cls, detection: "TableDetection", *, ax: "Axes | None" = None) -> Self:
        """Draw a sample of the rows, with all of the top-ranked ones."""
        from odefs.report.pca_map import map_of

        drawn = map_of(detection, first=0)
        if drawn is None:
            raise ValueError("a map needs two columns that vary and matter for the scores.")
        places = np.array([point[2] for point in drawn["points"]])
        named = np.argsort(places, kind="stable")[:LABELLED]
        return cls(
            np.array([point[:2] for point in drawn["points"]], dtype=float),
            places < detection.n_flagged,
            [drawn["points"][k][4] for k in named],
            named,
            drawn["explained"],
        ).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the points, flagged ones on top."""
        ax = self._axes(ax, 4.2)
        kinds = [
            (~self.is_outlier, ORDINARY, "ordinary", 8),
            (self.is_outlier, FLAGGED, "flagged", 22),
        ]
        for chosen, color, label, size in kinds:
            x, y = self.points[chosen].T
            ax.scatter(x, y, s=size, c=color, label=label, alpha=0.8, linewidths=0)
        for name, k in zip(self.names, self.named, strict=True):
            x, y = self.points[k]
            ax.annotate(
                short(str(name)), (x, y), xytext=(4, 3), textcoords="offset points", fontsize=8
            )
        first, second = (f"{100 * share:.0f}%" for share in self.explained)
        ax.set(xlabel=f"first component ({first})", ylabel=f"second component ({second})")
        ax.legend()
        return self
