"""Sections on the diagnostics of ``ODEFS()``: trust, agreement, and the benefit of known cases."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import stats

from odefs.experiments.accuracy.measures import DEFAULT, by_seed, mean_over, named, paired_gain
from odefs.experiments.accuracy.plan import ELEVEN, FEW_REPEATS, MORE, N_KNOWN, of_part, short
from odefs.experiments.accuracy.sections import complete, section
from odefs.experiments.figures import lines_figure, scatter_figure
from odefs.experiments.grid import Record, job_of
from odefs.experiments.tables import Table

ALL_SUBSETS, NO_SUBSETS = "trust 1", "trust 0"


def trust_and_gain(records: Sequence[Record]) -> dict[str, tuple[float, float]]:
    """Return the mean trust by dataset, and the gain of learned subsets alone over the full space
    alone.
    """
    part = named(records)
    found = {}
    for name in complete(part, (*ELEVEN, *MORE), (DEFAULT, ALL_SUBSETS, NO_SUBSETS)):
        gain = paired_gain(part, ALL_SUBSETS, NO_SUBSETS, name)
        assert gain is not None
        found[name] = (mean_over(part, DEFAULT, [name], "trust"), gain.mean)
    return found


def rank_correlation(points: dict[str, tuple[float, float]]) -> float:
    """Return Spearman's rank correlation over the datasets."""
    trust, gain = zip(*points.values(), strict=True)
    return float(stats.spearmanr(trust, gain).statistic)


def trust_section(records: Sequence[Record], docs: Path) -> str:
    points = trust_and_gain(records)
    if len(points) < 3:
        return ""
    part = named(records)
    rows = []
    for name, (trust, gain) in sorted(points.items(), key=lambda item: -item[1][1]):
        contrast, stability = (
            np.mean(list(by_seed(part, DEFAULT, name, measure).values()))
            for measure in ("contrast", "stability")
        )
        rows.append(
            [short(name), f"{gain:+.3f}", f"{trust:.2f}", f"{contrast:.2f}", f"{stability:.2f}"]
        )
    title = "Trust in subsets and their true gain"
    shown = {short(name): point for name, point in points.items()}
    scatter_figure(
        title,
        "trust_",
        "AUC of subsets alone minus full space alone",
        shown,
        docs / "figures" / "accuracy-trust",
    )
    return section(
        "`trust_`",
        "The true gain is the AUC of `ODEFS(trust=1)` minus that of `ODEFS(trust=0)`, "
        f"{FEW_REPEATS} seeds; trust and two of the measurements behind it are means over all "
        "seeds of `ODEFS()`. Rank correlation (Spearman) of trust and gain over the "
        f"{len(points)} datasets: {rank_correlation(points):.2f}.",
        Table("", ["dataset", "true gain", "trust_", "contrast", "stability"], rows).markdown(),
        f"![{title}](figures/accuracy-trust.svg)",
    )


def agreement_section(records: Sequence[Record], docs: Path) -> str:
    """Return the section on top rows by agreement, and the share of them in another seed's top
    k.
    """
    part = of_part("agreement", records)
    if not part:
        return ""
    counts = _counts_by_dataset(part)
    edges = part[0]["edges"]
    groups = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    names = [name for name in ELEVEN if name in counts]
    every = np.sum([counts[name] for name in names], axis=0)
    rows = [[name, *map(_share, counts[name])] for name in names] + [
        ["all rows together", *map(_share, every)]
    ]
    title = "Rows that stay in the top k under another seed"
    middle = np.array([(low + high) / 2 for low, high in pairwise(edges)])
    series = {name: _shares_that_stay(middle, counts[name]) for name in names}
    lines_figure(
        title, "agreement", "share that stays", series, docs / "figures" / "accuracy-agreement"
    )
    return section(
        "Agreement",
        "Rows of the top k (k is the number of outliers) by their agreement: the share of them "
        "that is also in the top k of a fit with another seed, and their number in "
        f"{FEW_REPEATS} fits.",
        Table("", ["dataset", *groups], rows).markdown(),
        f"![{title}](figures/accuracy-agreement.svg)",
    )


def _counts_by_dataset(records: Sequence[Record]) -> dict[str, np.ndarray]:
    """Number of rows in each range of agreement and of those that stay, over all seeds."""
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((1, 2)))
    for record in records:
        name = record["job"]["dataset"]
        counts[name] = counts[name] + np.array(record["stays"], dtype=float)
    return counts


def _shares_that_stay(middle: np.ndarray, counts: np.ndarray) -> tuple[list[float], list[float]]:
    """Middle of each range that has rows, and the share of them that stays."""
    seen = counts[:, 0] > 0
    return middle[seen].tolist(), (counts[seen, 1] / counts[seen, 0]).tolist()


def _share(pair: np.ndarray) -> str:
    n_rows, n_staying = pair
    return f"{n_staying / n_rows:.2f} ({n_rows:.0f})" if n_rows else ""


def _aucs_by_number(records: Sequence[Record]) -> dict[tuple[str, int], list[float]]:
    """AUC of all seeds by dataset and number of known cases."""
    values: dict[tuple[str, int], list[float]] = defaultdict(list)
    for record in records:
        number = int(dict(job_of(record).options)["n_known"])
        values[record["job"]["dataset"], number].append(record["auc"])
    return values


def known_section(records: Sequence[Record]) -> str:
    part = of_part("known", records)
    if not part:
        return ""
    values = _aucs_by_number(part)
    names = [name for name in ELEVEN if all((name, number) in values for number in N_KNOWN)]
    if not names:
        return ""
    means = np.array([[np.mean(values[name, number]) for number in N_KNOWN] for name in names])
    rows = [[name, *map("{:.3f}".format, row)] for name, row in zip(names, means, strict=True)]
    rows.append([f"mean of {len(names)}", *map("{:.4f}".format, means.mean(axis=0))])
    return section(
        "Known cases",
        f"AUC on the other rows, {FEW_REPEATS} seeds, by number of known cases.",
        Table("", ["dataset", *(f"{number} known" for number in N_KNOWN)], rows).markdown(),
    )
