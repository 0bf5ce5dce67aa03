"""Map of the rows: two principal components of the columns that matter."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from odefs.plots.base import FLAGGED, ORDINARY, Display, add_legend, ink, settle_layout, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from matplotlib.transforms import BboxBase

    from odefs.tables.results.detection import TableDetection

LABELLED = 5
FONT_SIZE = 8
PLACES = [(4, 3), (4, -11), (-4, 3), (-4, -11), (0, 9), (0, -17), (4, 14), (-4, 14)]
"""Where a label may be, as seen from its point, in points; on the left it ends there."""


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
    clipped : sequence of int
        Positions of points with a value that was moved to the bound of its column.
    """

    def __init__(
        self,
        points: np.ndarray,
        is_outlier: np.ndarray,
        names: list[object],
        named: np.ndarray,
        explained: list[float],
        clipped: Sequence[int] = (),
    ) -> None:
        self.points, self.is_outlier = np.asarray(points), np.asarray(is_outlier, dtype=bool)
        self.names, self.named, self.explained = names, np.asarray(named, dtype=int), explained
        self.clipped = np.asarray(clipped, dtype=int)

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
            drawn["clipped"],
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
        if self.clipped.size:
            from odefs.report.pca_map import BOUND

            x, y = self.points[self.clipped].T
            label = f"clipped at {BOUND:g} standard deviations"
            ax.scatter(x, y, s=45, facecolors="none", edgecolors=ink(), label=label)
        first, second = (f"{100 * share:.0f}%" for share in self.explained)
        ax.set(xlabel=f"first component ({first})", ylabel=f"second component ({second})")
        ax.margins(x=0.1)
        add_legend(ax)
        self._label_points(ax)
        return self

    def _label_points(self, ax: "Axes") -> None:
        """Name points inside the axes, where nothing else is named; those at one place share it.

        A name for which there is no room is left out.
        """
        from matplotlib.transforms import Bbox

        def boxes(points: np.ndarray) -> list[Bbox]:
            places = ax.transData.transform(points.reshape(-1, 2))
            return [Bbox.from_extents(x - 3, y - 3, x + 3, y + 3) for x, y in places]

        settle_layout(ax)
        taken, flagged = boxes(self.points[self.named]), boxes(self.points[self.is_outlier])
        legend = ax.get_legend()
        taken += [] if legend is None else [legend.get_window_extent()]
        for point, names in self._names_by_point().items():
            labels = [_label(ax, ", ".join(names), point, place) for place in PLACES]
            chosen = _best_label(labels, ax, taken, flagged)
            for label in labels:
                if label is not chosen:
                    label.remove()
            taken += [] if chosen is None else [chosen.get_window_extent()]

    def _names_by_point(self) -> dict[tuple[float, float], list[str]]:
        """Names of the rows at each point with a name."""
        together: dict[tuple[float, float], list[str]] = {}
        for name, k in zip(self.names, self.named, strict=True):
            x, y = self.points[k].tolist()
            together.setdefault((x, y), []).append(short(str(name)))
        return together


def _best_label(
    labels: "Sequence[Text]",
    ax: "Axes",
    taken: "Sequence[BboxBase]",
    flagged: "Sequence[BboxBase]",
) -> "Text | None":
    """The label over the fewest flagged points, of those inside the axes and over nothing taken."""
    fitting = [
        (label.get_window_extent().count_overlaps(flagged), k)
        for k, label in enumerate(labels)
        if _is_inside(label.get_window_extent(), ax)
        and not label.get_window_extent().count_overlaps(taken)
    ]
    return labels[min(fitting)[1]] if fitting else None


def _label(ax: "Axes", text: str, point: tuple[float, float], place: tuple[int, int]) -> "Text":
    right = place[0]
    return ax.annotate(
        text,
        point,
        xytext=place,
        textcoords="offset points",
        fontsize=FONT_SIZE,
        ha="center" if not right else "left" if right > 0 else "right",
    )


def _is_inside(box: "BboxBase", ax: "Axes") -> bool:
    return all(ax.bbox.contains(*corner) for corner in box.get_points())
