"""The page on reviews, docs/explanation/review.md, from the records of ``benchmarks/review.py``."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.result import Result

Record = dict[str, Any]
LOOKS = (20, 50, 100)
RANKINGS = ("never updated", "odefs", "AADForest")
LEADS = {"eleven": (0.0, 0.03, 0.03), "fourteen": (0.0, 0.02, 0.02)}
"""What a review should find more than AADForest after each number of looks."""
FEWER = 3
CHOSEN_ON = (
    *("advertisements", "apascal", "bank", "mnist", "optdigits", "u2r"),
    *("aloi", "chess", "covertype", "mushroom", "mvtec_transistor_vit", "shuttle", "svhn_9"),
)
"""Datasets on which the rule was chosen; the others confirm it."""
BINS = np.linspace(0, 1, 11)

INTRODUCTION = """# Reviews: what answers are worth

A person looks at the top-ranked row, says whether it is an outlier, and gets the next one
([how to review a table](../how-to/review.md)). This page measures how many outliers that
finds, and what the model that has learned from the answers is worth on other rows.
`python -m benchmarks review` runs everything and writes the page; it needs
`pip install coniferest`. The rule is described in
[the research log](research-log.md#learning-from-answers).
"""


def write_review_page(records: Sequence[Record], folder: Path) -> list[Result]:
    """Write the page; returns the figures beside their targets."""
    parts = {
        name: [record for record in records if record["part"] == name]
        for name in ("looks", "other half", "known", "speed")
    }
    sections, results = [INTRODUCTION], []
    for section in (_looks, _datasets, _other_half, _known, _chances, _speed):
        text, found = section(parts)
        sections.append(text)
        results += found
    (folder / "review.md").write_text("\n".join(sections))
    return results


def _shares(records: Sequence[Record], ranking: str) -> np.ndarray:
    """Mean share of the outliers that the looks could find."""
    return np.mean(
        [
            [
                found / min(looks, record["n_outliers"])
                for found, looks in zip(record[ranking], LOOKS, strict=True)
            ]
            for record in records
        ],
        axis=0,
    )


def _numbers(values: np.ndarray) -> str:
    return " / ".join(f"{value:.3f}" for value in values)


def _looks(parts: dict[str, list[Record]]) -> tuple[str, list[Result]]:
    lines = [
        "## Outliers found\n",
        "Share of the outliers that 20 / 50 / 100 looks could find, mean of two seeds; tables of",
        "more than 30,000 rows are sampled. AADForest is that of coniferest, 100 trees, updated",
        'after each answer. The rule of odefs was chosen on half of the datasets ("chosen").\n',
        f"| datasets | {' | '.join(RANKINGS)} |",
        "| -- | -- | -- | -- |",
    ]
    results = []
    for group, leads in LEADS.items():
        for name, of in (("all", None), ("chosen", True), ("confirmed", False)):
            records = [
                record
                for record in parts["looks"]
                if record["group"] == group and of in (None, record["dataset"] in CHOSEN_ON)
            ]
            shares = {ranking: _shares(records, ranking) for ranking in RANKINGS}
            cells = " | ".join(_numbers(shares[ranking]) for ranking in RANKINGS)
            lines.append(f"| {group}, {name} | {cells} |")
            if of is None:
                lead = shares["odefs"] - shares["AADForest"]
                results.append(
                    Result(
                        f"outliers found, {group}: lead over AADForest after 20 / 50 / 100 looks",
                        _numbers(lead),
                        f"at least {_numbers(np.array(leads))}",
                        bool((lead >= leads).all()),
                    )
                )
    return "\n".join(lines) + "\n", results


def _datasets(parts: dict[str, list[Record]]) -> tuple[str, list[Result]]:
    lines = [
        "Outliers found in 100 looks, mean of the seeds:\n",
        f"| dataset | outliers | {' | '.join(RANKINGS)} |",
        "| -- | --: | --: | --: | --: |",
    ]
    fewer: dict[str, float] = {}
    for name in dict.fromkeys(record["dataset"] for record in parts["looks"]):
        records = [record for record in parts["looks"] if record["dataset"] == name]
        means = {ranking: np.mean([one[ranking][-1] for one in records]) for ranking in RANKINGS}
        fewer[name] = float(means["never updated"] - means["odefs"])
        cells = " | ".join(f"{means[ranking]:.1f}" for ranking in RANKINGS)
        lines.append(f"| {name} | {records[0]['n_outliers']} | {cells} |")
    worst = max(fewer, key=lambda name: fewer[name])
    result = Result(
        "most outliers fewer in 100 looks than the ranking that is never updated",
        f"{fewer[worst]:.1f} ({worst})",
        f"at most {FEWER}",
        fewer[worst] <= FEWER,
    )
    return "\n".join(lines) + "\n", [result]


def _other_half(parts: dict[str, list[Record]]) -> tuple[str, list[Result]]:
    means = np.mean([record["auc"] for record in parts["other half"]], axis=0)
    text = (
        "## New rows\n\n"
        "Rows are split in halves. The model is fitted to one half, whose rows are reviewed. It\n"
        "is saved, loaded, and scores the other half. Mean AUC there on the eleven datasets:\n\n"
        "| looks | 0 | 20 | 50 | 100 |\n| -- | -- | -- | -- | -- |\n"
        f"| AUC | {' | '.join(f'{value:.3f}' for value in means)} |\n"
    )
    result = Result(
        "AUC on the other half after 50 looks", f"{means[2]:.3f}", "0.86", bool(means[2] >= 0.86)
    )
    return text, [result]


def _known(parts: dict[str, list[Record]]) -> tuple[str, list[Result]]:
    lines = [
        "## Known cases without a review\n",
        "2,000 x 30 normal numbers, 40 rows shifted in three columns; ten outliers are passed as",
        "`known_outliers`, or ten ordinary rows by mistake. Average precision on the other rows,",
        "ten seeds:\n",
        "| shift | none known | ten known | none known | ten wrong ones |",
        "| -- | -- | -- | -- | -- |",
    ]
    kinds = ("without right", "right", "without wrong", "wrong")
    results = []
    for shift in sorted({record["shift"] for record in parts["known"]}):
        records = [record for record in parts["known"] if record["shift"] == shift]
        means = [float(np.mean([record[kind] for record in records])) for kind in kinds]
        lines.append(f"| {shift} | {' | '.join(f'{value:.3f}' for value in means)} |")
        results.append(
            Result(
                f"shift {shift}: ten known outliers, and the cost of ten wrong ones",
                f"AP {means[1]:.3f} (without {means[0]:.3f}); {means[2] - means[3]:.3f}",
                "0.65 where it is near 0.5 without; at most 0.03",
                bool((means[1] >= 0.65 or means[0] < 0.45) and means[2] - means[3] <= 0.03),
            )
        )
    return "\n".join(lines) + "\n", results


def _chances(parts: dict[str, list[Record]]) -> tuple[str, list[Result]]:
    pairs = np.array([pair for record in parts["looks"] for pair in record["chances"]])
    lines = [
        "## The stated chance\n",
        "Before each look, `Review.chance` estimates the chance that the next row is an outlier.",
        "All looks of all datasets:\n",
        "| stated | looks | mean stated | outliers |",
        "| -- | --: | -- | -- |",
    ]
    apart = 0.0
    for low, high in itertools.pairwise(BINS):
        inside = (pairs[:, 0] >= low) & ((pairs[:, 0] < high) | (high == 1))
        if not inside.any():
            continue
        stated, found = pairs[inside].mean(axis=0)
        apart += inside.mean() * abs(stated - found)
        lines.append(f"| {low:.1f} to {high:.1f} | {inside.sum()} | {stated:.3f} | {found:.3f} |")
    result = Result(
        "stated chance and share of outliers, mean difference",
        f"{apart:.3f}",
        "small",
        apart < 0.05,
    )
    return "\n".join(lines) + "\n", [result]


def _speed(parts: dict[str, list[Record]]) -> tuple[str, list[Result]]:
    lines = [
        "## Time and memory\n",
        "Tables with 50 columns; an answer includes the next row.\n",
        "| rows | start | one answer | memory above table and model |",
        "| --: | --: | --: | --: |",
    ]
    results = []
    for record, limit in zip(parts["speed"], (0.05, 0.5), strict=True):
        answer, memory = record["answer"], record["megabytes"]
        lines.append(
            f"| {record['n_rows']:,} | {record['start']:.1f} s | {1000 * answer:.0f} ms "
            f"| {memory} MB |"
        )
        results.append(
            Result(
                f"one answer, {record['n_rows']:,} x 50",
                f"{1000 * answer:.0f} ms, {memory} MB",
                f"under {1000 * limit:.0f} ms and 500 MB",
                bool(answer < limit and memory < 500),
            )
        )
    return "\n".join(lines) + "\n", results
