"""Tables as Markdown, CSV and LaTeX: a header and rows of text computed elsewhere."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from odefs.experiments.grid import Record
from odefs.experiments.paper_numbers import TABLE1, paper_number
from odefs.experiments.summary import (
    Cell,
    average_ranks,
    base_rates,
    failures,
    holm,
    matrix,
    signed_rank_p_values,
    summarise,
)


@dataclass(frozen=True)
class Table:
    """Header and rows of text."""

    title: str
    header: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        )

    def csv(self) -> str:
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.header, *self.rows])
        return out.getvalue()

    def latex(self) -> str:
        def line(cells: Sequence[str]) -> str:
            return " & ".join(_escape(cell) for cell in cells) + r" \\"

        body = [line(self.header), r"\hline", *(line(row) for row in self.rows)]
        return "\n".join(
            [rf"\begin{{tabular}}{{l{'r' * (len(self.header) - 1)}}}", *body, r"\end{tabular}"]
        )


def _escape(text: str) -> str:
    return "".join(f"\\{c}" if c in "&%$#_{}" else c for c in text).replace("±", r"$\pm$")


def _ours(cell: Cell | None) -> str:
    return "" if cell is None else f"{cell.mean:.3f} ± {cell.std:.3f}"


def _paper(number: float | None) -> str:
    return "" if number is None else f"{number:.3f}"


def improvement_table(records: Sequence[Record], datasets: Sequence[str]) -> Table:
    """Return Table 1: the bare detector and ODEFS, next to the paper's numbers."""
    auc, pk, size = (summarise(records, measure) for measure in ("auc", "p@k", "subset_size"))
    ap, base = summarise(records, "ap"), summarise(records, "outlier_share")
    header = [
        "dataset",
        "repeats",
        "bare AUC",
        "paper",
        "ODEFS.paper() AUC",
        "paper",
        "ODEFS() AUC",
    ]
    header += [
        "bare p@k",
        "paper",
        "ODEFS.paper() p@k",
        "paper",
        "ODEFS() p@k",
        "d'",
        "paper",
        "ODEFS() AP",
        "base rate",
    ]
    rows = []
    for name in datasets:
        paper = TABLE1.get(name, {})
        repeats = auc.get(("ODEFS-paper", name)) or auc.get(("LeSiNN", name))
        retained, share = size.get(("ODEFS-paper", name)), base.get(("LeSiNN", name))
        row = [name, str(repeats.repeats if repeats else 0)]
        for cells, key in ((auc, "auc"), (pk, "p@k")):
            row += [_ours(cells.get(("LeSiNN", name))), _paper(paper.get(f"bare {key}"))]
            row += [
                _ours(cells.get(("ODEFS-paper", name))),
                _paper(paper.get(key)),
                _ours(cells.get(("ODEFS", name))),
            ]
        row += [
            f"{retained.mean:.0f}" if retained else "",
            # chr(39) is the apostrophe, which this f-string cannot contain before Python 3.12.
            f"{paper['d' + chr(39)]:.0f}" if paper else "",
        ]
        row += [_ours(ap.get(("ODEFS", name))), f"{share.mean:.3f}" if share else ""]
        rows.append(row)
    return Table("Bare detector and ODEFS", header, rows)


LOWER_IS_BETTER = {"seconds"}


def comparison_table(
    records: Sequence[Record],
    methods: Sequence[str],
    datasets: Sequence[str],
    measure: str,
    reference: str,
) -> Table:
    """Return Table 2: all methods, ours (paper's), with averages, ranks and signed-rank tests.

    Tests are against ``reference``. A method that failed on a dataset, or rejected it, is marked
    there. Averages and ranks are over the datasets for which all methods with any result have one.
    Average precision is meaningless without the share of outliers, so its table has a column for
    it.
    """
    cells, failed = summarise(records, measure), failures(records)
    rows = []
    for name in datasets:
        row = [name]
        for method in methods:
            paper = paper_number(method, name, measure)
            text = _ours(cells.get((method, name))) or _failure(failed.get((method, name)))
            row.append(text + (f" ({paper:.3f})" if paper is not None else ""))
        rows.append(row)
    rows += _statistics(matrix(cells, methods, datasets), methods, measure, reference)
    header = ["dataset", *methods]
    if measure == "ap":
        header.insert(1, "base rate")
        shares = base_rates(records)
        for row in rows:
            row.insert(1, f"{shares[row[0]]:.3f}" if row[0] in shares else "")
    return Table(f"{measure.upper() if measure != 'p@k' else measure} of all methods", header, rows)


def _failure(error: str | None) -> str:
    if error is None:
        return ""
    return "refused" if error.startswith("TooLargeError:") else "failed"


def _statistics(
    values: np.ndarray, methods: Sequence[str], measure: str, reference: str
) -> list[list[str]]:
    # A method that failed everywhere would leave no dataset on which all have results.
    working = ~np.isnan(values).all(axis=0)
    whole = values[~np.isnan(values[:, working]).any(axis=1)]
    rows = []
    if len(whole) and working.any():
        ranks = np.full(len(methods), np.nan)
        ranks[working] = average_ranks(
            (-1 if measure in LOWER_IS_BETTER else 1) * whole[:, working]
        )
        rows.append([f"mean of {len(whole)}", *_numbers(whole.mean(axis=0), 3)])
        rows.append(["average rank", *_numbers(ranks, 2)])
    if reference in methods:
        place = list(methods).index(reference)
        p = signed_rank_p_values(values, place)
        if not np.isnan(p).all():
            rows.append([f"p against {reference}", *_numbers(p, 3)])
            rows.append(["p, Holm", *_numbers(holm(p), 3)])
            approximate = signed_rank_p_values(values, place, approximate=True)
            rows.append(["p as in the paper", *_numbers(approximate, 3)])
    return rows


def _numbers(values: np.ndarray, digits: int) -> list[str]:
    return ["" if np.isnan(value) else f"{value:.{digits}f}" for value in values]


def failures_table(records: Sequence[Record]) -> Table:
    """Return the failures and their reasons."""
    rows = [
        [method, dataset, error] for (method, dataset), error in sorted(failures(records).items())
    ]
    return Table("Failures", ["method", "dataset", "error"], rows)


def measures_table(
    title: str,
    records: Sequence[Record],
    methods: Sequence[str],
    datasets: Sequence[str],
    measures: Sequence[str],
) -> Table:
    """Return several measures of several methods, one row per dataset and method."""
    summaries = {measure: summarise(records, measure) for measure in measures}
    rows = [
        [
            dataset,
            method,
            *(_ours(summaries[measure].get((method, dataset))) for measure in measures),
        ]
        for dataset in datasets
        for method in methods
        if any((method, dataset) in cells for cells in summaries.values())
    ]
    return Table(title, ["dataset", "method", *measures], rows)
