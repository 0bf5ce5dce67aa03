"""Sections of ``docs/explanation/results.md`` that are tables or figures."""

from collections.abc import Sequence
from pathlib import Path

from odefs.datasets.registry import BY_NAME
from odefs.experiments.grid import Record
from odefs.experiments.method_versions import newest, version_sentence
from odefs.experiments.methods import TABLE2, built_in
from odefs.experiments.peers import peers
from odefs.experiments.plans import EXPERIMENTS, REPEATS, commands, repeats_sentence
from odefs.experiments.reproduce import figures_of
from odefs.experiments.summary import present
from odefs.experiments.tables import Table, comparison_table, improvement_table, measures_table

REFERENCE = "ODEFS-paper"
TITLES = {"auc": "AUC", "p@k": "p@k", "ap": "Average precision", "seconds": "Seconds"}


def records_of(
    experiment: str,
    records: Sequence[Record],
    methods: Sequence[str] = (),
    protocol: str = "transductive",
) -> list[Record]:
    """Return the records that belong to an experiment, all of one version of the methods."""
    return newest(records, EXPERIMENTS[experiment](methods, [], REPEATS, protocol))


def provenance(records: Sequence[Record]) -> str:
    """Return the number of repeats, and the version of the methods if it is an older one."""
    return " ".join(filter(None, (repeats_sentence(records), version_sentence(records))))


def section(title: str, text: str, parts: Sequence[str], command: str) -> str:
    """Return a section of the page."""
    return "\n\n".join(
        part for part in (f"## {title}", text, *parts, f"```sh\n{command}\n```") if part
    )


def compared(records: Sequence[Record], measures: Sequence[str]) -> list[str]:
    """Return comparison tables of all methods in the records, under their names."""
    datasets = present(records, list(BY_NAME), "dataset")
    methods = present(records, [*built_in(), *peers()], "method")
    made = [
        (measure, comparison_table(records, methods, datasets, measure, REFERENCE))
        for measure in measures
    ]
    return [f"{TITLES[measure]}:\n\n{table.markdown()}" for measure, table in made]


def table1(records: Sequence[Record]) -> str:
    part = records_of("table1", records)
    if not part:
        return ""
    return section(
        "Table 1: the bare detector and ODEFS",
        "`ODEFS.paper()` follows the paper wherever it specifies the method, `ODEFS()` is the "
        "project's default, with a detector of its own. d' is the "
        f"number of columns that `ODEFS.paper()` retains. {provenance(part)}",
        [improvement_table(part, present(part, list(BY_NAME), "dataset")).markdown()],
        commands("table1", part),
    )


def table2(records: Sequence[Record]) -> str:
    part = records_of("table2", records)
    if not part:
        return ""
    return section(
        "Table 2: all methods",
        "The paper's number is in parentheses. p@k: ties by expectation. Compare average precision "
        "with the base rate, the share of outliers; the paper does not report it. p-values: "
        "Wilcoxon signed-rank test over datasets against `ODEFS.paper()`, exact, without and with "
        "Holm's correction, and by the normal approximation, as in the paper. "
        "The docstrings of the competitors explain how the paper was interpreted. "
        f"{provenance(part)}",
        compared(part, ["auc", "p@k", "ap"]),
        commands("table2", part),
    )


def time(records: Sequence[Record]) -> str:
    part = records_of("table2", records)
    if not part:
        return ""
    machines = (
        ", ".join(sorted({record["cpu"] for record in part if "cpu" in record}))
        or "an unknown machine"
    )
    return section(
        "Time",
        f"Seconds to fit and score with one thread on {machines}; other jobs ran in parallel. "
        f"{provenance(part)}",
        compared(part, ["seconds"]),
        commands("table2", part),
    )


def self_pacing(records: Sequence[Record]) -> str:
    part = records_of("selfpaced", records)
    if not any(record["job"]["method"] == "ODEFS-classic" for record in part):
        return ""
    return section(
        "Self-pacing: thresholded, classic, none",
        "`ODEFS.paper()` with the paper's thresholded scheme, with the classic one, and without "
        f"(ODEFS*). {provenance(part)}",
        compared(part, ["auc"]),
        commands("selfpaced", part),
    )


def split(records: Sequence[Record]) -> str:
    part = records_of("table2", records, [*TABLE2, *peers()], "split")
    if not part:
        return ""
    flags = ["--protocol split"] + ["--peers"] * any(
        record["job"]["method"] in peers() for record in part
    )
    return section(
        "New rows: fitted on 70 %, scored on the rest",
        "Identical rows stay on one side, otherwise the test would include training rows. The "
        "paper scores the rows it fits on; its numbers, in parentheses, are for that protocol. "
        f"{provenance(part)}",
        compared(part, ["auc", "p@k", "ap"]),
        commands("table2", part, *flags),
    )


def other_libraries(records: Sequence[Record]) -> str:
    """Return the section on peers next to ODEFS, on the datasets that any of them was run on."""
    theirs = records_of("table2", records, list(peers()))
    if not theirs:
        return ""
    seen = {record["job"]["dataset"] for record in theirs}
    ours = [
        r
        for r in records_of("table2", records, ["ODEFS-paper", "ODEFS"])
        if r["job"]["dataset"] in seen
    ]
    return section(
        "Detectors of PyOD and scikit-learn",
        "With their own defaults, after the same min-max scaling. Some are not run on tables that "
        "would take hours or more memory than most machines have; the failures at the end of the "
        "page give the reasons. Imports and compilation are not included in the time. "
        f"{repeats_sentence(theirs)} {version_sentence(ours)}".rstrip(),
        compared([*ours, *theirs], ["auc", "p@k", "ap", "seconds"]),
        commands("table2", theirs, "--peers"),
    )


def figures(records: Sequence[Record], docs: Path) -> str:
    parts = []
    for experiment, title in (
        ("table2", "Average ranks"),
        ("theorem", "Unlabelled examples per outlier example"),
        ("noise", "Resistance to noise columns"),
        ("scalability", "Time against rows and columns"),
    ):
        part = records_of(experiment, records)
        images = (
            [
                path
                for path in figures_of(experiment, part, docs / "figures")
                if path.suffix == ".svg"
            ]
            if part
            else []
        )
        if images:
            shown = "\n".join(f"![{title}](figures/{path.name})" for path in images)
            parts.append(section(title, provenance(part), [shown], commands(experiment, part)))
    return "\n\n".join(parts)


def recovery(records: Sequence[Record]) -> str:
    part = [record for record in records_of("noise", records) if "precision" in record]
    if not part:
        return ""
    datasets = sorted(
        {record["job"]["dataset"] for record in part}, key=lambda name: int(name.rpartition("=")[2])
    )
    table = measures_table(
        "Recovery", part, list(TABLE2), datasets, ["precision", "recall", "subset_size"]
    )
    rows = [[name.rpartition("=")[2], *row] for name, *row in table.rows]
    return section(
        "Recovery of the relevant columns",
        "Synthetic data, 100 columns: share of the selected columns that are relevant (precision), "
        "and share of the relevant columns that are selected (recall), averaged over the subsets. "
        f"The paper has no such table. {provenance(part)}",
        [Table(table.title, ["relevant", *table.header[1:]], rows).markdown()],
        commands("noise", part),
    )
