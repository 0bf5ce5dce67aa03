"""Section on tables with categories: ``odefs.detect``, counts of values, and peers."""

from collections.abc import Sequence

import numpy as np

from odefs.experiments.accuracy.measures import mean_over
from odefs.experiments.accuracy.plan import DETECT, MIXED, MIXED_METHODS, short
from odefs.experiments.accuracy.sections import complete, section
from odefs.experiments.accuracy.value_frequencies import BASELINES, MAX_PAIR_VALUES, N_BINS
from odefs.experiments.grid import Record
from odefs.experiments.summary import failures, present
from odefs.experiments.tables import Table

MEASURES = {"auc": "AUC", "p@k": "p@k"}


def mixed_section(records: Sequence[Record]) -> str:
    """Return the section on the tables that ``odefs.detect`` and both baselines were run on."""
    part = [record for record in records if record["job"]["dataset"] in MIXED]
    done = [record for record in part if "error" not in record]
    known = complete(done, MIXED, (DETECT, *BASELINES))
    if not known:
        return ""
    return section(
        "Tables with categories",
        f"`{DETECT}` on {len(known)} public tables, read from csv files; {_seeds(done, known)}. "
        "Two baselines only count values, in the same run: `frequencies` adds up -log of the "
        "share of rows that have the row's value, over all columns; `pairs` does so for the "
        f"values of all pairs of columns (pairs with more than {MAX_PAIR_VALUES} values are left "
        f"out). For both, numbers of more than {N_BINS} values are divided into {N_BINS} bins of "
        "equal width, and missing is a value. The other methods get the matrix of "
        "`TableEncoder`, scaled to the range from 0 to 1, and the same seeds; PyOD-LODA draws "
        "without a seed. p@k: k is the number of outliers, ties by expectation.",
        " ".join(_comparison(part, known, baseline) for baseline in BASELINES),
        *(
            f"{title}:\n\n{_table(part, known, measure).markdown()}"
            for measure, title in MEASURES.items()
        ),
    )


def _seeds(records: Sequence[Record], datasets: Sequence[str]) -> str:
    """Return the number of seeds in the records, the fewest and the most if they differ."""
    seeds: dict[tuple[str, str], set[int]] = {}
    for record in records:
        job = record["job"]
        if job["dataset"] in datasets:
            seeds.setdefault((job["method"], job["dataset"]), set()).add(job["seed"])
    numbers = [len(found) for found in seeds.values()]
    low, high = min(numbers), max(numbers)
    if low < high:
        return f"means over {low} to {high} seeds"
    return "one seed" if high == 1 else f"means over {high} seeds"


def _comparison(records: Sequence[Record], datasets: Sequence[str], baseline: str) -> str:
    ours, theirs = (
        np.array([[mean_over(records, method, [d], m) for m in MEASURES] for d in datasets])
        for method in (DETECT, baseline)
    )
    auc, pk = (ours - theirs).mean(axis=0)
    ahead = int((ours > theirs)[:, 0].sum())
    return (
        f"`{DETECT}` minus `{baseline}`: mean AUC {auc:+.3f}, mean p@k {pk:+.3f}; the AUC is "
        f"higher on {ahead} of {len(datasets)} tables."
    )


def _table(records: Sequence[Record], datasets: Sequence[str], measure: str) -> Table:
    """Return one measure of all methods that were run; a mean only if none of its tables failed."""
    methods = present(records, MIXED_METHODS, "method")
    failed = failures(records)

    def cell(method: str, names: Sequence[str]) -> str:
        value = mean_over(records, method, names, measure)
        if np.isnan(value):
            return "failed" if (method, names[0]) in failed and len(names) == 1 else ""
        return f"{value:.3f}"

    rows = [[short(name), *(cell(method, [name]) for method in methods)] for name in datasets]
    rows.append([f"mean of {len(datasets)}", *(cell(method, datasets) for method in methods)])
    return Table("", ["table", *methods], rows)
