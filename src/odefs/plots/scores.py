"""Distribution of the scores with the threshold."""

from typing import TYPE_CHECKING, Self

import numpy as np

from odefs.plots.base import FLAGGED, ORDINARY, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odefs.models.base import OutlierModel
    from odefs.tables.detection import TableDetection

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
        return cls(estimator.outlier_scores(X), -estimator.offset_).plot(ax)

    @classmethod
    def from_detection(cls, detection: "TableDetection", *, ax: "Axes | None" = None) -> Self:
        """Draw the scores of all rows of a table."""
        return cls(detection.scores, detection.threshold).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the histogram; the number of rows is on a logarithmic axis."""
        ax = self._axes(ax)
        known = self.scores[np.isfinite(self.scores)]
        edges = np.histogram_bin_edges(known, BINS)
        flagged = known > self.threshold
        ax.hist(
            [known[~flagged], known[flagged]],
            bins=edges.tolist(),
            stacked=True,
            color=[ORDINARY, FLAGGED],
            label=[f"ordinary ({(~flagged).sum():,})", f"flagged ({flagged.sum():,})"],
        )
        if known.size and known.min() <= self.threshold <= 1.5 * known.max():
            ax.axvline(self.threshold, color="black", linestyle="--", linewidth=1)
        ax.set(xlabel="outlier score", ylabel="rows", yscale="log")
        ax.legend()
        return self
