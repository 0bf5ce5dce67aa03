"""Figures of ``docs/explanation/accuracy.md``."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from odefs.experiments.figures import new_axes, save_figure

MARKERS = "o*sv^D<>PX"


def dots_figure(
    title: str, rows: Sequence[str], values: dict[str, list[float]], path: Path, label: str = "AUC"
) -> list[Path]:
    """Plot one line per dataset, one mark per method; the first method is drawn large and last."""
    figure, axes = new_axes(title, label, "")
    figure.set_size_inches(6.4, 0.9 + 0.32 * len(rows))
    height = np.arange(len(rows))[::-1]
    for k, (method, numbers) in reversed(list(enumerate(values.items()))):
        axes.plot(
            numbers, height, MARKERS[k % len(MARKERS)], markersize=8 if k == 0 else 5, label=method
        )
    axes.set(yticks=height, yticklabels=list(rows))
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return save_figure(figure, path)


def lines_figure(
    title: str,
    x_label: str,
    y_label: str,
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    path: Path,
) -> list[Path]:
    """Plot one line per method."""
    figure, axes = new_axes(title, x_label, y_label)
    for k, (name, (xs, ys)) in enumerate(series.items()):
        axes.plot(xs, ys, marker=MARKERS[k % len(MARKERS)], markersize=4, label=name)
    axes.legend(fontsize=7, ncol=2)
    return save_figure(figure, path)


def scatter_figure(
    title: str, x_label: str, y_label: str, points: dict[str, tuple[float, float]], path: Path
) -> list[Path]:
    """Plot one named point per dataset."""
    figure, axes = new_axes(title, x_label, y_label)
    figure.set_size_inches(6.4, 4.4)
    axes.axhline(0, color="grey", linewidth=0.8)
    for name, (x, y) in points.items():
        axes.plot([x], [y], "o", color="tab:blue", markersize=4)
        axes.annotate(name, (x, y), xytext=(3, 3), textcoords="offset points", fontsize=6)
    return save_figure(figure, path)
