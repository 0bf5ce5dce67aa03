"""What all displays share: axes to draw on, colours, short names."""

from collections.abc import Sequence
from numbers import Integral
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from odefs._extras import require_extra
from odefs.engines.row_blocks import is_sparse
from odefs.models.base import OutlierModel
from odefs.tables.messages.values import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

FLAGGED, ORDINARY = "#c0392b", "#5b7a99"
USUAL, USUAL_BEHIND_LIGHT_TEXT = "#b8c4d0", "#44525f"
LONGEST_NAME = 32
FEWEST_LETTERS = 12
"""Least width of a line of the label below the axes."""
STRIP = 1.3
"""Height of the strip with the legend, as a multiple of that of the legend."""
MAX_STRIP = 0.5
"""Maximum share of the axes' height for the legend."""


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


def add_legend(ax: "Axes") -> None:
    """Draw the legend in a strip above the data, for which the vertical axis is extended.

    Inside the axes, it also leaves room for a title of the caller.
    """
    settle_layout(ax)
    n_entries = len(ax.get_legend_handles_labels()[0])
    for n_columns in (n_entries, 1):
        legend = ax.legend(
            loc="upper right", ncols=n_columns, fontsize="small", framealpha=1, borderaxespad=0.3
        )
        if legend.get_window_extent().width <= ax.get_window_extent().width:
            break
    height = legend.get_window_extent().height / ax.get_window_extent().height
    # On the scale of the drawing, so that it also holds for logarithmic and inverted axes.
    scale = ax.yaxis.get_transform()
    bottom, top = (float(scale.transform([end])[0]) for end in ax.get_ylim())
    above = bottom + (top - bottom) / (1 - min(STRIP * height, MAX_STRIP))
    ax.set_ylim(ax.get_ylim()[0], float(scale.inverted().transform([above])[0]))


def ink() -> str:
    """The colour of text in the current style, for lines."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def usual_color() -> str:
    """The colour of bars that text of the current style is written on."""
    from matplotlib.colors import to_rgb

    return USUAL if sum(to_rgb(ink())) < 1.5 else USUAL_BEHIND_LIGHT_TEXT


def set_xlabel(ax: "Axes", text: str) -> None:
    """Write a label below the axes, on more lines if it would reach beyond the figure."""
    ax.set_xlabel(text)
    settle_layout(ax)
    figure = ax.get_figure(root=True)
    if figure is None:
        return
    label = ax.xaxis.label.get_window_extent()
    # It is centred on the axes, which are not in the middle of the figure.
    center = (label.x0 + label.x1) / 2
    room = 2 * min(center - figure.bbox.x0, figure.bbox.x1 - center)
    if label.width > room:
        longest = max(map(len, text.splitlines()))
        letters = max(FEWEST_LETTERS, int(longest * room / label.width))
        lines = [part for line in text.splitlines() for part in wrap(line, letters)]
        ax.set_xlabel("\n".join(lines))


def settle_layout(ax: "Axes") -> None:
    """Let the figure arrange its axes, so that positions and sizes can be measured."""
    figure = ax.get_figure(root=True)
    if figure is not None and figure.get_layout_engine() is not None:
        figure.draw_without_rendering()


def one_row(X: object, row: int) -> object:
    """One row of a matrix or frame, as a matrix or frame."""
    rows: Any = X
    if is_sparse(X):  # some sparse formats cannot be sliced
        rows = csr_array(rows)
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    # A slice from -1 to 0 would be empty.
    if not isinstance(row, Integral) or isinstance(row, bool) or not 0 <= row < n_rows:
        raise ValueError(
            f"row={row!r} must be a row number, from 0 to {n_rows - 1}: X has {n_rows:,} rows."
        )
    return rows[row : row + 1]


def require_model(estimator: object) -> None:
    """Raise if an estimator is not one of odefs, whose scores and explanations are drawn."""
    if not isinstance(estimator, OutlierModel):
        raise TypeError(
            f"{type(estimator).__name__} is not an estimator of odefs such as odefs.ODEFS(): "
            "only these have outlier scores and explanations to draw."
        )


def single_row(numbers: np.ndarray, given: object) -> int:
    """The number of the one row that was named; raise if none or several were."""
    if len(numbers) != 1:
        raise ValueError(
            f"row={given!r} names {len(numbers):,} rows, but one row is drawn: name one."
        )
    return int(numbers[0])


def require_columns(n_columns: int) -> None:
    """Raise if not a single column is to be drawn."""
    if not isinstance(n_columns, Integral) or isinstance(n_columns, bool) or n_columns < 1:
        raise ValueError(f"n_columns={n_columns!r} must be a whole number of at least 1.")


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """A name of limited length, without the dollar signs that matplotlib takes for formulas."""
    return _escaped(shortened(_printable(name), longest))


def short_names(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """Names of limited length, in which different names stay different.

    Where the shortened names are equal, the text around the first difference is shown.
    """
    plain = [_printable(name) for name in names]
    shown = [shortened(name, longest) for name in plain]
    alike = _by_text(plain, shown)
    apart = [
        text if len(alike[text]) == 1 else _around_difference(name, alike[text], longest)
        for name, text in zip(plain, shown, strict=True)
    ]
    # The difference may be longer than a name, or be in what cannot be printed.
    alike = _by_text(names, apart)
    return [
        _escaped(text if len(alike[text]) == 1 else f"{text} ({alike[text].index(name) + 1})")
        for name, text in zip(names, apart, strict=True)
    ]


def _by_text(names: Sequence[str], shown: Sequence[str]) -> dict[str, list[str]]:
    """The different names that are shown as each text, in the order of the names."""
    found: dict[str, dict[str, None]] = {}
    for name, text in zip(names, shown, strict=True):
        found.setdefault(text, {})[name] = None
    return {text: list(alike) for text, alike in found.items()}


def _around_difference(name: str, others: Sequence[str], longest: int) -> str:
    """A part of a long name that starts shortly before the first difference from others."""
    half = longest // 2
    same = next(
        (k for k, letters in enumerate(zip(*others, strict=False)) if len(set(letters)) > 1),
        min(map(len, others)),
    )
    start = max(0, min(same - half // 2, len(name) - longest + 9))
    head = f"{name[:6].rstrip()}…" if start > 6 else name[:start]
    rest = name[start:].lstrip() if start > 6 else name[start:]
    room = longest - len(head)
    return head + (rest if len(rest) <= room else rest[: room - 1].rstrip() + "…")


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in name)


def _escaped(text: str) -> str:
    return text.replace("$", r"\$")


def bar_height(n_bars: int) -> float:
    """Height in inches of a figure with horizontal bars."""
    return 1.3 + 0.3 * max(n_bars, 3)
