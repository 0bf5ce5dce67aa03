"""What all displays share: axes to draw on, colours, short names."""

from typing import TYPE_CHECKING, Any

from odefs._extras import require_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

FLAGGED, ORDINARY, USUAL = "#c0392b", "#5b7a99", "#b8c4d0"
LONGEST_NAME = 32


class Display:
    """Base of the displays: the axes that were drawn on last."""

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def _axes(self, ax: "Axes | None", height: float = 3.2) -> "Axes":
        """The given axes, or those of a new figure."""
        if ax is None:
            with require_extra("a plot", "plots"):
                from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=(6.0, height), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def one_row(X: object, row: int) -> object:
    """One row of a matrix or frame, as a matrix or frame."""
    if row < 0:
        raise ValueError(f"row={row!r} must be a row number, from 0.")
    rows: Any = X
    return rows[row : row + 1]


def short(name: str) -> str:
    """A name of limited length, without the dollar signs that matplotlib takes for formulas."""
    plain = "".join(letter if letter.isprintable() else " " for letter in name)
    shown = plain if len(plain) <= LONGEST_NAME else plain[: LONGEST_NAME - 1] + "…"
    return shown.replace("$", r"\$")


def bar_height(n_bars: int) -> float:
    """Height in inches of a figure with horizontal bars."""
    return 1.0 + 0.3 * max(n_bars, 3)
