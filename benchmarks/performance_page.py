"""``docs/explanation/performance.md`` from the records of all machines."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.records import Record
from benchmarks.result import Result

TITLES = {
    "start_up": "Starting",
    "kernel": "The compiled kernel",
    "block_scoring": "Scoring against the bare matrix product",
    "lesinn_speed": "The bare detector",
    "against_iforest": "Fitting, against an isolation forest",
    "detect_file": "A file on the command line",
    "score_files": "Files of scores with reasons",
    "wide_table": "A wide table",
    "installed_size": "Installed size",
    "adaptive": "Adaptive numbers of components",
    "adaptive --all": "Adaptive numbers of components, all datasets",
    "scale": "Rows, columns, memory, Dask",
    "cost_model": "A cost model for clusters",
    "gpu": "On a GPU",
}

REMARKS = {
    "kernel": (
        "Its products alone are what would be left if loads, minimums and roots took no time: a "
        "target beyond them is out of reach of that machine."
    ),
    "score_files": (
        "Ratios are those of processor time. Reasons are found in blocks of rows, and usual values "
        "only where the text of a reason depends on them."
    ),
    "installed_size": (
        "polars reads text, pyarrow parquet and Arrow files, fastexcel Excel files. scikit-learn "
        "and scipy belong to the estimators: commands on small tables load neither."
    ),
}
"""What helps to read a table."""

INTRODUCTION = (
    "Written by `python -m benchmarks` (`--all` for all datasets) from "
    "`results/performance.jsonl`. Every number is a ratio, a size or a difference measured within "
    "one run on one machine; each column is a machine. Machines are shared and runs differ: a "
    "line whose target was met in one recorded run of a machine and missed in another says so."
)


def write_page(records: Sequence[Record], docs: Path) -> Path:
    """Write the page from the latest record of each benchmark and machine and earlier verdicts."""
    machines = list(dict.fromkeys(record["machine"] for record in records))
    parts = ["# Performance", INTRODUCTION, _machines(records, machines)]
    for benchmark, title in TITLES.items():
        own = [record for record in records if record["benchmark"] == benchmark]
        if own:
            parts += [
                f"## {title}",
                *([REMARKS[benchmark]] if benchmark in REMARKS else []),
                _table(own, [name for name in machines if _of(own, name)]),
            ]
    docs.mkdir(parents=True, exist_ok=True)
    page = docs / "performance.md"
    page.write_text("\n\n".join(parts) + "\n")
    return page


def _of(records: Sequence[Record], machine: str) -> list[Record]:
    return [record for record in records if record["machine"] == machine]


def _machines(records: Sequence[Record], machines: Sequence[str]) -> str:
    """With what each machine used last."""
    return "\n".join(f"- {name}: {_of(records, name)[-1]['used']}" for name in machines)


def _table(records: Sequence[Record], machines: Sequence[str]) -> str:
    runs = {name: [_by_line(record) for record in _of(records, name)] for name in machines}
    lines = list(dict.fromkeys(what for name in machines for what in runs[name][-1]))
    shown = [
        f"| what | target | {' | '.join(machines)} |",
        f"| --- | --- |{' --- |' * len(machines)}",
    ]
    for what in lines:
        target = next(runs[name][-1][what].target for name in machines if what in runs[name][-1])
        cells = [_cell([run[what] for run in runs[name] if what in run]) for name in machines]
        shown.append(f"| {what} | {target} | {' | '.join(cells)} |")
    return "\n".join(shown)


def _by_line(record: Record) -> dict[str, Result]:
    return {what: Result(what, *rest) for what, *rest in record["results"]}


def _cell(runs: Sequence[Result]) -> str:
    """The last run, and the latest one before it that ended otherwise."""
    if not runs:
        return ""
    *before, last = runs
    others = [run for run in before if run.met != last.met][-1:]
    return "; in another run ".join(
        run.measured if run.met else f"{run.measured}, **missed**" for run in (last, *others)
    )
