"""Numbers of ``docs/explanation/accuracy.md`` from records: named variants, gains paired by seed.

Nothing here formats.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from odefs.experiments.accuracy.plan import ABLATIONS, bare_job, is_default
from odefs.experiments.grid import Record, job_of

DEFAULT, PAPER, BARE = "ODEFS()", "ODEFS.paper()", "bare"
LARGEST_LOSS = 0.015
CLOSE = 0.01
CLEAR = 0.6
"""AUC of the bare detector above which noise resistance is required."""


def named(records: Iterable[Record]) -> list[Record]:
    """Return records under the names of their variants.

    Records of the bare detector count only if they match the current ``ODEFS()`` of their dataset
    and seed.
    """
    records = [record for record in records if "error" not in record]
    bare = {
        bare_job(record).key
        for record in records
        if is_default(record) and "total_subsets" in record
    }
    variants = [(record, _variant(record, bare)) for record in records]
    return [
        {**record, "job": {**record["job"], "method": name}} for record, name in variants if name
    ]


def _variant(record: Record, bare: Container[str]) -> str | None:
    method, job = record["job"]["method"], job_of(record)
    if job.key in bare:
        return BARE
    if method == "ODEFS":
        return _ablation(job.options) if job.options else DEFAULT
    return PAPER if method == "ODEFS-paper" else method


def _ablation(options: tuple) -> str | None:
    return next((name for name, changed in ABLATIONS.items() if changed == options), None)


def by_seed(records: Iterable[Record], method: str, dataset: str, measure: str) -> dict[int, float]:
    """Return the values of a measure by seed."""
    return {
        r["job"]["seed"]: r[measure]
        for r in records
        if r["job"]["method"] == method and r["job"]["dataset"] == dataset and measure in r
    }


@dataclass(frozen=True)
class Gain:
    """Mean difference of two methods over common seeds, and its standard error (0 for one seed)."""

    mean: float
    error: float
    repeats: int

    @property
    def loses(self) -> bool:
        """Whether the loss exceeds the allowed one, or two standard errors if these are larger."""
        return self.mean < -max(LARGEST_LOSS, 2 * self.error)


def paired_gain(
    records: Iterable[Record], method: str, other: str, dataset: str, measure: str = "auc"
) -> Gain | None:
    """Return ``method`` minus ``other``, paired by seed."""
    records = list(records)
    a, b = (by_seed(records, name, dataset, measure) for name in (method, other))
    seeds = sorted(set(a) & set(b))
    if not seeds:
        return None
    difference = np.array([a[seed] - b[seed] for seed in seeds])
    error = float(difference.std(ddof=1) / np.sqrt(len(seeds))) if len(seeds) > 1 else 0.0
    return Gain(float(difference.mean()), error, len(seeds))


def mean_over(
    records: Iterable[Record], method: str, datasets: Sequence[str], measure: str
) -> float:
    """Return the mean over the datasets of the means over the seeds; NaN if a dataset has none."""
    records = list(records)
    values = [list(by_seed(records, method, dataset, measure).values()) for dataset in datasets]
    return float(np.mean([np.mean(v) if v else np.nan for v in values])) if values else float("nan")


def error_of_mean(
    records: Iterable[Record], method: str, datasets: Sequence[str], measure: str
) -> float:
    """Return the standard error of :func:`mean_over`; NaN if a dataset has fewer than two seeds."""
    records = list(records)
    values = [list(by_seed(records, method, dataset, measure).values()) for dataset in datasets]
    squares = [float(np.var(v, ddof=1)) / len(v) if len(v) > 1 else float("nan") for v in values]
    return float(np.sqrt(np.sum(squares)) / len(values)) if values else float("nan")


@dataclass(frozen=True)
class Standing:
    """Best method on a dataset, and the distance of ``ODEFS()`` from it."""

    best: str
    behind: float
    error: float
    bare: float

    @property
    def is_asked_for(self) -> bool:
        return self.bare > CLEAR

    @property
    def is_close(self) -> bool:
        return self.behind <= max(CLOSE, self.error)


def standing(records: Sequence[Record], dataset: str) -> Standing | None:
    """Return ``None`` unless ``ODEFS()`` and the bare detector have results.

    Variants of ``ODEFS()`` do not count as rivals.
    """
    part = [
        r for r in records if r["job"]["dataset"] == dataset and r["job"]["method"] not in ABLATIONS
    ]
    methods = dict.fromkeys(record["job"]["method"] for record in part)
    means = {name: mean_over(part, name, [dataset], "auc") for name in methods}
    if not {DEFAULT, BARE} <= set(means):
        return None
    # A tie with another method counts for ODEFS().
    best = max(means, key=lambda name: (means[name], name == DEFAULT))
    gain = paired_gain(part, best, DEFAULT, dataset)
    return Standing(
        best, gain.mean if gain else np.nan, gain.error if gain else np.nan, means[BARE]
    )
