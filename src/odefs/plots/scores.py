"""Distribution of the scores with the threshold."""

from typing import TYPE_CHECKING, Self

import numpy as np

from odefs.plots.base import FLAGGED, ORDINARY, Display, add_legend, ink, require_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odefs.models.base import OutlierModel
    from odefs.tables.results.detection import TableDetection

BINS = 60


class ScoreDisplay(Display):
    """Histogram of outlier scores; rows above the threshold in another colour.

    Parameters
    ----------
    scores : array of shape (n_rows,)
    threshold : float
        Rows that score above it are flagged.
    """

    def __init__(self, scores: np.ndarray, threshold: float) -> None:
        self.scores = np.asarray(scores)
        self.threshold = float(threshold)

    @classmethod
    def from_estimator(
        cls, estimator: "OutlierModel", X: object, *, ax: "Axes | None" = None
    ) -> Self:
        """Draw the scores of rows by a fitted estimator, and its threshold."""
        require_model(estimator)
        return cls(estimator.outlier_scores(X), -estimator.offset_).plot(ax)

    @classmethod
    def from_detection(cls, detection: "TableDetection", *, ax: "Axes | None" = None) -> Self:
        """Draw the scores of all rows of a table."""
        return cls(detection.scores, detection.threshold).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the histogram; the number of rows is on a logarithmic axis.

        No bin has rows on both sides of the threshold.
        """
        from odefs.report.scores import bin_limits, with_edge_at

        ax = self._axes(ax)
        known = self.scores[np.isfinite(self.scores)]
        edges = with_edge_at(self.threshold, np.histogram_bin_edges(known, BINS), "linear")
        flagged = known > self.threshold
        ax.hist(
            [known[~flagged], known[flagged]],
            bins=bin_limits(edges, self.threshold).tolist(),
            stacked=True,
            color=[ORDINARY, FLAGGED],
            label=[f"ordinary ({(~flagged).sum():,})", f"flagged ({flagged.sum():,})"],
        )
        # A line far outside would stretch the axis and squeeze the histogram.
        if known.size and known.min() <= self.threshold <= 1.5 * known.max():
            ax.axvline(
                self.threshold,
                color=ink(),
                linestyle="--",
                linewidth=1,
                label=f"threshold ({self.threshold:.3g})",
            )
        ax.set(xlabel="outlier score", ylabel="rows", yscale="log")
        add_legend(ax)
        return self
