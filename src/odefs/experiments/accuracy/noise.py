"""Section on noise resistance: a table, figures, and where ``ODEFS()`` is behind."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from odefs.experiments.accuracy.measures import (
    BARE,
    CLEAR,
    CLOSE,
    DEFAULT,
    PAPER,
    mean_over,
    named,
    standing,
)
from odefs.experiments.accuracy.plan import (
    FEW_REPEATS,
    NOISE,
    NOISE_KEPT,
    RIVALS,
    SAMPLED,
    noise_datasets,
)
from odefs.experiments.accuracy.sections import section
from odefs.experiments.figures import dots_figure, lines_figure
from odefs.experiments.grid import Record
from odefs.experiments.sources import SYNTHETIC, split_name
from odefs.experiments.tables import Table

METHODS = (DEFAULT, NOISE_KEPT, PAPER, BARE, *RIVALS)


def noise_records(records: Sequence[Record]) -> list[Record]:
    wanted = set(noise_datasets())
    return [record for record in named(records) if record["job"]["dataset"] in wanted]


def judged(records: Sequence[Record]) -> tuple[list[str], list[str], list[str]]:
    """Return the datasets on which ``ODEFS()`` is close to the best, behind, or not evaluated."""
    part = noise_records(records)
    close: list[str] = []
    behind: list[str] = []
    not_asked: list[str] = []
    for dataset in noise_datasets():
        found = standing(part, dataset)
        if found is not None:
            (not_asked if not found.is_asked_for else close if found.is_close else behind).append(
                dataset
            )
    return close, behind, not_asked


def shown(dataset: str) -> str:
    """Return the name of the dataset on the page."""
    base, query = split_name(dataset)
    settings = dict(part.split("=") for part in query.split("&"))
    return (
        f"synthetic, {settings['n_relevant']} % relevant"
        if base == SYNTHETIC
        else f"{base} + {settings['noise']} %"
    )


def noise_section(records: Sequence[Record], docs: Path) -> str:
    part = noise_records(records)
    datasets = [name for name in noise_datasets() if standing(part, name) is not None]
    if not datasets:
        return ""
    close, behind, not_asked = judged(records)
    asked = len(close) + len(behind)
    sampled = ", ".join(
        f"{name} on {rows:,} rows, sampled again for each seed" for name, rows in SAMPLED.items()
    )
    verdict = (
        f"The bare detector is above {CLEAR} on {asked} of {len(datasets)}. Of these, `ODEFS()` is "
        f"first, or within {CLOSE} or one standard error of the first, on {len(close)}; on "
        f"{len(behind)} it is not{': ' + _behind(part, behind) if behind else ''}."
    )
    if not_asked:
        weak = ", ".join(map(shown, not_asked))
        verdict += f" Not evaluated, because the bare detector is too weak there: {weak}."
    return section(
        "Noise resistance",
        f"AUC, {FEW_REPEATS} seeds: the paper's synthetic data (5,000 x 100), and the eleven with "
        "columns of uniform noise added, as many as there are columns and three times as many "
        f"({sampled}). {NOISE_KEPT.capitalize()}: `ODEFS(noise_columns='keep')`. RegFS runs on at "
        "most 200 columns. The standard error is that of the difference from the first, paired by "
        "seed.",
        verdict,
        _table(part, datasets).markdown(),
        *_figures(part, datasets, docs),
    )


def _behind(records: Sequence[Record], datasets: Sequence[str]) -> str:
    texts = []
    for dataset in datasets:
        found = standing(records, dataset)
        assert found is not None
        texts.append(f"{shown(dataset)} ({found.behind:.3f} behind {found.best})")
    return ", ".join(texts)


def _table(records: Sequence[Record], datasets: Sequence[str]) -> Table:
    rows = []
    for dataset in datasets:
        found = standing(records, dataset)
        assert found is not None
        means = [mean_over(records, method, [dataset], "auc") for method in METHODS]
        verdict = "first" if found.best == DEFAULT else "close" if found.is_close else "behind"
        rows.append(
            [
                shown(dataset),
                *("" if np.isnan(value) else f"{value:.3f}" for value in means),
                found.best,
                verdict if found.is_asked_for else f"({verdict})",
            ]
        )
    return Table("", ["data", *METHODS, "first", DEFAULT + " is"], rows)


def _figures(records: Sequence[Record], datasets: Sequence[str], docs: Path) -> list[str]:
    images = []
    made = [name for name in datasets if name.startswith(SYNTHETIC)]
    if made:
        images.append(_synthetic_figure(records, made, docs))
    for level in NOISE:
        known = [name for name in datasets if f"?noise={level}" in name]
        if known:
            images.append(_level_figure(records, known, level, docs))
    return images


def _synthetic_figure(records: Sequence[Record], datasets: Sequence[str], docs: Path) -> str:
    """Draw the AUC by the number of relevant columns; return the image for the page."""
    xs = [int(name.rpartition("=")[2]) for name in datasets]
    series = {method: (xs, aucs) for method, aucs in _aucs(records, datasets).items()}
    title = "Synthetic data: relevant columns of 100"
    lines_figure(
        title, "relevant columns", "AUC", series, docs / "figures" / "accuracy-noise-synthetic"
    )
    return f"![{title}](figures/accuracy-noise-synthetic.svg)"


def _level_figure(
    records: Sequence[Record], datasets: Sequence[str], level: int, docs: Path
) -> str:
    """Draw the AUC on datasets with one level of noise; return the image for the page."""
    title = f"{level} % noise columns added"
    dots_figure(
        title,
        [split_name(name)[0] for name in datasets],
        _aucs(records, datasets),
        docs / "figures" / f"accuracy-noise-{level}",
    )
    return f"![{title}](figures/accuracy-noise-{level}.svg)"


def _aucs(records: Sequence[Record], datasets: Sequence[str]) -> dict[str, list[float]]:
    """Mean AUC of each method on each dataset."""
    return {
        method: [mean_over(records, method, [name], "auc") for name in datasets]
        for method in METHODS
    }
