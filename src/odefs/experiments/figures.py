"""Figures of the paper and of ``docs/explanation/accuracy.md``, drawn with matplotlib."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from odefs.experiments.grid import Record
from odefs.experiments.sources import SYNTHETIC
from odefs.experiments.summary import average_ranks, critical_difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Series = dict[str, dict[float, list[float]]]
"""By method: values at each x."""
MARKERS = "o*sv^D<>PX"


def new_axes(title: str, x: str, y: str) -> "tuple[Figure, Axes]":
    """Create a figure with labelled axes."""
    import matplotlib

    # Draws into files; other backends may need a display.
    matplotlib.use("Agg")
    # Fixed ids and no date, so that the same records give the same bytes.
    matplotlib.rcParams.update({"svg.hashsalt": "odefs", "font.size": 9})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.2, 3.4), layout="constrained")
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    return figure, axes


def save_figure(figure: "Figure", path: Path) -> list[Path]:
    """Write a figure as SVG and PNG."""
    from matplotlib import pyplot

    path.parent.mkdir(parents=True, exist_ok=True)
    written = [path.with_suffix(".svg"), path.with_suffix(".png")]
    figure.savefig(written[0], metadata={"Date": None})
    figure.savefig(written[1], dpi=150, metadata={"Software": None})
    pyplot.close(figure)
    return written


def _option(record: Record, name: str) -> float:
    """Return a number of the job: one of its options, or a setting of its generator."""
    options = dict(map(tuple, record["job"]["options"]))
    if name in options:
        return float(options[name])
    query = record["job"]["dataset"].partition("?")[2]
    return float(dict(part.split("=") for part in query.split("&"))[name])


def _series(records: Sequence[Record], x: str, y: str) -> Series:
    series: Series = defaultdict(lambda: defaultdict(list))
    for record in records:
        if y in record and record["job"]["dataset"].startswith(SYNTHETIC):
            series[record["job"]["method"]][_option(record, x)].append(record[y])
    return series


def _draw(axes: "Axes", series: Series) -> None:
    markers = "osv^D*PX<>"
    for k, (method, points) in enumerate(series.items()):
        xs = sorted(points)
        axes.plot(
            xs,
            [np.mean(points[x]) for x in xs],
            marker=markers[k % len(markers)],
            markersize=4,
            label=method,
        )


def theorem_figure(records: Sequence[Record], path: Path) -> list[Path]:
    """Plot AUC (left axis) and time (right axis) against m/m*."""
    figure, axes = new_axes("Unlabelled examples per outlier example", "m / m*", "AUC")
    auc, seconds = (
        _series(records, "selection__unlabeled_ratio", "auc"),
        _series(records, "selection__unlabeled_ratio", "seconds"),
    )
    for method in auc:
        xs = sorted(auc[method])
        axes.plot(
            xs, [np.mean(auc[method][x]) for x in xs], marker="o", color="tab:blue", label="AUC"
        )
        right = axes.twinx()
        right.plot(
            xs,
            [np.mean(seconds[method][x]) for x in xs],
            marker="s",
            linestyle="--",
            color="tab:red",
        )
        right.set_ylabel("seconds (dashed)")
    return save_figure(figure, path)


def noise_figure(records: Sequence[Record], path: Path) -> list[Path]:
    """Plot AUC against the share of relevant columns."""
    figure, axes = new_axes("Resistance to noise columns", "relevant columns of 100", "AUC")
    _draw(axes, _series(records, "n_relevant", "auc"))
    axes.legend(fontsize=7, ncol=2)
    return save_figure(figure, path)


def scalability_figures(records: Sequence[Record], path: Path) -> list[Path]:
    """Plot time against the number of rows and against the number of columns."""
    written = []
    by_rows = [r for r in records if _option(r, "n_columns") == 100]
    by_columns = [r for r in records if _option(r, "n_rows") == 1000]
    for part, option, label in (
        (by_rows, "n_rows", "rows (100 columns)"),
        (by_columns, "n_columns", "columns (1000 rows)"),
    ):
        figure, axes = new_axes("Time to fit and score", label, "seconds")
        axes.set(xscale="log", yscale="log")
        _draw(axes, _series(part, option, "seconds"))
        axes.legend(fontsize=7, ncol=2)
        written += save_figure(figure, path.with_name(f"{path.name}-{option}"))
    return written


def critical_difference_figure(
    values: np.ndarray, methods: Sequence[str], path: Path
) -> list[Path]:
    """Plot average ranks on a line, joining methods within one critical difference of each other.

    Methods without results are left out.
    """
    working = ~np.isnan(values).all(axis=0)
    methods = [method for method, works in zip(methods, working, strict=True) if works]
    # A method that failed everywhere would leave no dataset on which all have results.
    whole = values[:, working]
    whole = whole[~np.isnan(whole).any(axis=1)]
    if len(methods) < 2 or len(whole) < 2:
        return []
    ranks = average_ranks(whole)
    gap = critical_difference(len(methods), len(whole))
    figure, axes = new_axes(
        f"Average rank over {len(whole)} datasets (critical difference {gap:.2f})",
        "average rank",
        "",
    )
    order = np.argsort(ranks, kind="stable")
    for row, k in enumerate(order):
        axes.plot([ranks[k]], [-row], "o", color="tab:blue")
        axes.annotate(
            f"{methods[k]}  {ranks[k]:.2f}",
            (ranks[k], -row),
            xytext=(6, -3),
            textcoords="offset points",
        )
    level = -float(len(methods))
    joined = 0
    for first in range(len(order)):
        last = max(j for j in range(len(order)) if ranks[order[j]] - ranks[order[first]] <= gap)
        # A bar inside the one before adds nothing.
        if last > max(first, joined):
            joined = last
            axes.plot(
                [ranks[order[first]], ranks[order[last]]],
                [level, level],
                color="black",
                linewidth=3,
            )
            level -= 0.4
    axes.set(yticks=[], xlim=(0.8, len(methods) + 1.2))
    return save_figure(figure, path)


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
