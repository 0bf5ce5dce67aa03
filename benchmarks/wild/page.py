"""The page on real files, ``docs/explanation/wild-files.md``, and the records it is made from."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.wild.rules import FAULTS, Outcome

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "results" / "wild.jsonl"
PAGE = ROOT / "docs" / "explanation" / "wild-files.md"

INTRODUCTION = """# Files from the wild

Tests write their own files and so repeat what their authors have thought of. The files
below were written by others: data and test files of packages in the Python registry,
among them files that are broken, mislabelled, empty, or not tables at all.
`benchmarks/wild/files.toml` pins packages by version and hash and lists the files;
nothing of them is stored in the repository. `make wild` downloads them, runs
`odefs detect FILE` on each as a new user would, for the screen and with `--json`, writes
this page, and fails if a rule is broken:

- no traceback, no process ended by a signal, no more than a minute, 4 GiB of memory at
  most;
- the result names no column by a placeholder of a library;
- a refused file gets one sentence that names a remedy: an option or an action;
- where a person has counted rows and columns, the table that is read has the same.
"""


def line_of(outcome: Outcome) -> str:
    """One line of the terminal's table."""
    return (
        f"{outcome.file:60} {outcome.format:8} {_shape(outcome):>14} {_flagged(outcome):>7} "
        f"{outcome.seconds:5.1f} s  {what_happened(outcome)}"
    )


def what_happened(outcome: Outcome) -> str:
    """The outcome in a few words."""
    if outcome.faults:
        return "BROKEN: " + "; ".join(FAULTS[fault] for fault in outcome.faults)
    known = "".join(f"; {FAULTS[fault]}" for fault in outcome.known)
    return f"read{known}" if outcome.message is None else f"refused: {_reason(outcome)}{known}"


def summary_of(outcomes: Sequence[Outcome]) -> str:
    """The counts in one sentence."""
    refused = sum(outcome.message is not None for outcome in outcomes)
    broken = sum(bool(outcome.faults) for outcome in outcomes)
    rules = "no rule is broken" if not broken else f"a rule is broken for {broken}"
    read = len(outcomes) - refused
    return f"Of {len(outcomes)} files, {read} are read and {refused} refused; {rules}."


def write_records(outcomes: Sequence[Outcome], path: Path) -> None:
    path.write_text("".join(json.dumps(outcome.record()) + "\n" for outcome in outcomes))


def read_records(path: Path = RECORDS) -> list[Outcome]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        Outcome(**{**line, "faults": tuple(line["faults"]), "known": tuple(line["known"])})
        for line in lines
    ]


def write_page(outcomes: Sequence[Outcome], path: Path) -> Path:
    """Write the page from outcomes alone."""
    formats = Counter(outcome.format for outcome in outcomes)
    listed = ", ".join(f"{name} {count}" for name, count in sorted(formats.items()))
    lines = [
        INTRODUCTION,
        f"{summary_of(outcomes)} Formats: {listed}.",
        "",
        "| file | format | rows x columns | used | flagged | seconds | what happened |",
        "| -- | -- | --: | --: | --: | --: | -- |",
    ]
    lines += [
        f"| {_cell(outcome.file)} | {outcome.format} | {_shape(outcome)} "
        f"| {'' if outcome.columns_used is None else outcome.columns_used} | {_flagged(outcome)} "
        f"| {outcome.seconds:.1f} | {_cell(what_happened(outcome))} |"
        for outcome in outcomes
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def _reason(outcome: Outcome) -> str:
    """The refusal without the name of the file, which stands in the first column."""
    name = outcome.file.split(": ", 1)[1]
    before, found, after = (outcome.message or "").partition(f"{name}: ")
    return after if found else before


def _shape(outcome: Outcome) -> str:
    return "" if outcome.rows is None else f"{outcome.rows:,} x {outcome.columns:,}"


def _flagged(outcome: Outcome) -> str:
    return "" if outcome.flagged is None else f"{outcome.flagged:,}"


def _cell(text: str) -> str:
    """Text without characters that have a meaning in a Markdown table."""
    for character in "\\|`<>_*@":
        text = text.replace(character, f"\\{character}")
    return text
