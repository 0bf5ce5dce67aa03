"""``docs/explanation/results.md`` from the committed records: ``python -m
odefs.experiments.results_page results docs/explanation``.

Every section says which command gives its numbers; nothing on the page is written by hand but what
was tried.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from odefs.datasets.registry import BY_NAME
from odefs.experiments.grid import Record, latest_records
from odefs.experiments.page import differences, sections
from odefs.experiments.plans import LARGE, REPEATS
from odefs.experiments.reproduce import RECORDS
from odefs.experiments.summary import failures, summarise


def write_page(results: Path, docs: Path) -> Path:
    """Write the page and its figures."""
    records = latest_records(results / RECORDS)
    parts = [
        "# Results",
        "The paper's evaluation again, on the datasets of the paper that could be had (Speech could not). Written by "
        "`python -m odefs.experiments.results_page results docs/explanation` from `results/records.jsonl`; each section names the command that gives its "
        "records. Numbers are mean ± standard deviation over the repeats; the paper's number stands beside ours.",
        _coverage(records),
        sections.table1(records),
        sections.table2(records),
        differences.differences(records),
        differences.other_readings(records),
        sections.time(records),
        sections.self_pacing(records),
        sections.split(records),
        sections.other_libraries(records),
        sections.figures(records, docs),
        sections.recovery(records),
        _failures(records),
    ]
    docs.mkdir(parents=True, exist_ok=True)
    page = docs / "results.md"
    page.write_text("\n\n".join(part for part in parts if part) + "\n")
    return page


def _coverage(records: Sequence[Record]) -> str:
    cells = summarise(sections.records_of("table2", records), "auc")
    repeats = {
        dataset: cell.repeats
        for (method, dataset), cell in cells.items()
        if method == "ODEFS-paper"
    }
    lines = [f"`ODEFS.paper()` has {REPEATS} repeats on each dataset, but for those named here."]
    for dataset in BY_NAME:
        found = repeats.get(dataset, 0)
        if found == 0:
            lines.append(f"- {dataset}: no records yet.")
        elif found < REPEATS:
            cap = (
                f", with at most {LARGE[dataset][1]} components for the paper's variants"
                if dataset in LARGE
                else ""
            )
            lines.append(f"- {dataset}: {found} repeat{'s' * (found > 1)}{cap}.")
    return "\n".join(lines)


def _failures(records: Sequence[Record]) -> str:
    found = failures(records)
    if not found:
        return ""
    lines = "\n".join(
        f"- {method} on {dataset}: {error}" for (method, dataset), error in sorted(found.items())
    )
    return f"## Failures\n\n{lines}"


if __name__ == "__main__":
    print(write_page(Path(sys.argv[1]), Path(sys.argv[2])))
