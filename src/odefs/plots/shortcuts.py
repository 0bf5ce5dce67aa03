"""Plots of a detection as its methods; matplotlib is imported when one is drawn."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odefs.plots.importances import ImportancesDisplay
    from odefs.plots.map import MapDisplay
    from odefs.plots.row import ReasonsDisplay, RowDisplay
    from odefs.plots.scores import ScoreDisplay


class PlotShortcuts:
    """Mixin: ``found.plot_scores()`` is ``ScoreDisplay.from_detection(found)``, and so on."""

    def plot_scores(self: Any, *, ax: "Axes | None" = None) -> "ScoreDisplay":
        """Draw the distribution of the scores with the threshold."""
        from odefs.plots.scores import ScoreDisplay

        return ScoreDisplay.from_detection(self, ax=ax)

    def plot_reasons(
        self: Any, row: object = None, *, ax: "Axes | None" = None
    ) -> "ReasonsDisplay":
        """Draw the contributions to the score of a row, by default the most outlying one."""
        from odefs.plots.row import ReasonsDisplay

        return ReasonsDisplay.from_detection(self, row, ax=ax)

    def plot_row(self: Any, row: object = None, *, ax: "Axes | None" = None) -> "RowDisplay":
        """Draw a row against the typical values of its columns."""
        from odefs.plots.row import RowDisplay

        return RowDisplay.from_detection(self, row, ax=ax)

    def plot_importances(self: Any, *, ax: "Axes | None" = None) -> "ImportancesDisplay":
        """Draw the columns with the largest share in what makes flagged rows stand out."""
        from odefs.plots.importances import ImportancesDisplay

        return ImportancesDisplay.from_detection(self, ax=ax)

    def plot_map(self: Any, *, ax: "Axes | None" = None) -> "MapDisplay":
        """Draw a map of the rows."""
        from odefs.plots.map import MapDisplay

        return MapDisplay.from_detection(self, ax=ax)
