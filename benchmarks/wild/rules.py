"""Decides what is wrong with the runs on a file, as keywords."""

import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.wild.listing import WildFile
from benchmarks.wild.run import FileRuns, Run

PLACEHOLDER = "__UNNAMED__"
"""Name that a library gives to columns, and which users must not see."""
MAX_MEGABYTES = 1500
MAX_MESSAGE = 600
ERROR_KINDS = ("data", "usage", "memory", "file", "dependency")
"""Kinds of refusals; ``internal`` is a bug."""

FAULTS = {
    "timeout": "takes more than a minute",
    "killed": "was ended by a signal",
    "traceback": "shows a traceback",
    "exit_code": "ends with an exit code other than 0, 1 and 2",
    "different_ends": "ends differently with and without --json",
    "no_document": "prints no JSON document",
    "internal": "reports an internal error",
    "placeholder": "shows a column name of a library",
    "no_screen": "shows nothing",
    "no_report": "writes no report",
    "memory": f"takes more than {MAX_MEGABYTES:,} MB",
    "not_one_sentence": "refuses the file in more or less than one sentence",
    "no_remedy": "refuses the file without a remedy",
    "refused": "refuses a file that contains a table",
    "not_refused": "reads a file that does not contain a table",
    "shape": "finds other rows and columns than a person",
}
"""What can be wrong, from the worst to the least."""

REMEDY = re.compile(
    r"--[a-z][a-z-]+"
    r"|(?:[:;,] |\(|\b(?:or|and) )"
    r"(?:add|check|choose|convert|copy|decompress|delete|download|export|extract|give|install|name"
    r"|open|pass|put|raise|remove|rename|save|set|try|unpack|use|write)\b"
)
"""A remedy is an option of the command, or an action that begins a clause."""


@dataclass(frozen=True)
class Outcome:
    """What happened to a file."""

    file: str
    format: str
    rows: int | None
    columns: int | None
    columns_used: int | None
    flagged: int | None
    seconds: float
    """Of the run for the screen."""
    megabytes: int
    message: str | None
    """The refusal."""
    faults: tuple[str, ...]
    known: tuple[str, ...] = ()
    """Faults that the listing expects."""

    def record(self) -> dict[str, Any]:
        return {**asdict(self), "faults": list(self.faults), "known": list(self.known)}


def outcome_of(file: WildFile, runs: FileRuns) -> Outcome:
    """Compare the runs on a file with all rules."""
    document = _document(runs.document)
    error = (document or {}).get("error")
    source = (document or {}).get("source") or {}
    shape = (source.get("rows"), source.get("columns")) if document and not error else (None, None)
    faults = {
        *(fault for run in (runs.document, runs.screen) for fault in _process_faults(run)),
        *_document_faults(runs, document),
        *(_refusal_faults(error, file) if error else ()),
        *(_result_faults(file, runs, shape) if document and not error else ()),
    }
    text = "".join(
        (runs.document.output, runs.screen.output, runs.screen.errors, runs.report or "")
    )
    if PLACEHOLDER in text:
        faults.add("placeholder")
    used = (document or {}).get("columns_used")
    return Outcome(
        file.label,
        file.format,
        *shape,
        used if isinstance(used, int) or used is None else len(used),
        (document or {}).get("flagged"),
        round(runs.screen.seconds, 1),
        max(runs.document.megabytes, runs.screen.megabytes),
        error["message"] if error else None,
        tuple(fault for fault in FAULTS if fault in faults and fault not in file.known),
        tuple(fault for fault in FAULTS if fault in faults and fault in file.known),
    )


def _process_faults(run: Run) -> list[str]:
    if run.has_timed_out:
        return ["timeout"]
    faults = []
    if run.exit_code < 0:
        faults.append("killed")
    elif run.exit_code not in (0, 1, 2):
        faults.append("exit_code")
    if "Traceback (most recent call last)" in run.errors + run.output:
        faults.append("traceback")
    if run.megabytes > MAX_MEGABYTES:
        faults.append("memory")
    return faults


def _document(run: Run) -> dict[str, Any] | None:
    try:
        found = json.loads(run.output)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _document_faults(runs: FileRuns, document: dict[str, Any] | None) -> list[str]:
    faults = []
    if document is None and not runs.document.has_timed_out:
        faults.append("no_document")
    ends = {run.exit_code for run in (runs.document, runs.screen) if not run.has_timed_out}
    if len(ends) > 1:
        faults.append("different_ends")
    return faults


def _refusal_faults(error: dict[str, Any], file: WildFile) -> list[str]:
    faults = [] if error["kind"] in ERROR_KINDS else ["internal"]
    if file.is_refused is False:
        faults.append("refused")
    message = error["message"]
    if not is_one_sentence(message):
        faults.append("not_one_sentence")
    if not has_remedy(message):
        faults.append("no_remedy")
    return faults


def is_one_sentence(message: str) -> bool:
    """Whether a refusal is one sentence of one line that fits on a screen."""
    is_one = re.search(r"[.!?] [A-Z]", message) is None and "\n" not in message
    return is_one and message.endswith(".") and len(message) <= MAX_MESSAGE


def has_remedy(message: str) -> bool:
    """Whether a refusal names an option or an action."""
    return REMEDY.search(message) is not None


def _result_faults(
    file: WildFile, runs: FileRuns, shape: tuple[int | None, int | None]
) -> list[str]:
    faults = []
    if not runs.screen.output.strip():
        faults.append("no_screen")
    if runs.report is None and not runs.screen.has_timed_out:
        faults.append("no_report")
    if file.is_refused:
        faults.append("not_refused")
    elif file.shape is not None and shape != file.shape:
        faults.append("shape")
    return faults
