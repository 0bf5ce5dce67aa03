"""Variants of the competitors: settings that the paper leaves open, and their distance from its
numbers.
"""

from collections.abc import Sequence

import numpy as np

from odefs.datasets.registry import BY_NAME
from odefs.experiments.grid import Job, Record
from odefs.experiments.paper_numbers import paper_number
from odefs.experiments.summary import Cells, present, summarise
from odefs.experiments.tables import Table

Options = tuple[tuple[str, float], ...]

READINGS: dict[str, tuple[Options, ...]] = {
    "RegFS": ((), (("n_features", 0.5),), (("n_features", 0.8),), (("n_features", 0.9),)),
    "DisFS": ((), (("share", 0.95),), (("share", 0.99),)),
}
"""By method: its defaults, whose records the other tables share, and other settings."""

DATASETS = ("advertisements", "apascal", "bank", "arrhythmia")
"""Datasets on which the defaults are farthest from the paper."""


def reading_jobs(datasets: Sequence[str], repeats: int, protocol: str) -> list[Job]:
    """Return the jobs of every variant on every dataset."""
    return [
        Job(method, dataset, seed, protocol, options)
        for dataset in datasets
        for seed in range(repeats)
        for method, readings in READINGS.items()
        for options in readings
    ]


def same_repeats(records: Sequence[Record]) -> list[Record]:
    """Return the records of the datasets and seeds that have variants; none if there are only
    defaults.
    """
    with_options = {(r["job"]["dataset"], r["job"]["seed"]) for r in records if r["job"]["options"]}
    return [
        record
        for record in records
        if (record["job"]["dataset"], record["job"]["seed"]) in with_options
    ]


def reading_name(method: str, options: Sequence[Sequence[object]]) -> str:
    """Return the call that creates a variant."""
    return f"{method}({', '.join(f'{name}={value!r}' for name, value in options)})"


def readings_table(records: Sequence[Record], measure: str) -> Table:
    """Return a table with one column per variant, and the paper's number after each method.

    The last row is the mean distance from the paper.
    """
    datasets = present(records, list(BY_NAME), "dataset")
    cells = _by_reading(records, measure)
    header, columns = ["dataset"], [[*datasets, "distance from the paper"]]
    for method, readings in READINGS.items():
        for options in readings:
            name = reading_name(method, options)
            shown = [cells.get((name, dataset)) for dataset in datasets]
            header.append(name)
            texts = [f"{cell.mean:.3f} ± {cell.std:.3f}" if cell else "" for cell in shown]
            columns.append([*texts, _text(_distance(cells, method, name, datasets, measure))])
        header.append(f"{method}, paper")
        columns.append([*(_text(_paper(method, dataset, measure)) for dataset in datasets), ""])
    return Table(
        "Variants of the competitors",
        header,
        [list(row) for row in zip(*columns, strict=True)],
    )


def nearest_reading(records: Sequence[Record], measure: str = "auc") -> list[str]:
    """Return the variant of each method that is closest to the paper over the datasets."""
    datasets = present(records, list(BY_NAME), "dataset")
    cells = _by_reading(records, measure)
    found = []
    for method, readings in READINGS.items():
        distances = {
            name: distance
            for name in (reading_name(method, options) for options in readings)
            if not np.isnan(distance := _distance(cells, method, name, datasets, measure))
        }
        if distances:
            found.append(min(distances, key=lambda name: distances[name]))
    return found


def _by_reading(records: Sequence[Record], measure: str) -> Cells:
    # Variants differ in their options alone, which summarise() does not look at.
    named = [
        {**r, "job": {**r["job"], "method": reading_name(r["job"]["method"], r["job"]["options"])}}
        for r in records
    ]
    return summarise(named, measure)


def _paper(method: str, dataset: str, measure: str) -> float:
    number = paper_number(method, dataset, measure)
    return np.nan if number is None else number


def _distance(cells: Cells, method: str, name: str, datasets: Sequence[str], measure: str) -> float:
    """Return the mean distance from the paper's numbers.

    NaN unless there is a result for every dataset that the paper reports.
    """
    known = [dataset for dataset in datasets if not np.isnan(_paper(method, dataset, measure))]
    if not known or any((name, dataset) not in cells for dataset in known):
        return np.nan
    return float(
        np.mean(
            [abs(cells[name, dataset].mean - _paper(method, dataset, measure)) for dataset in known]
        )
    )


def _text(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"
