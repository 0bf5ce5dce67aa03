"""Output files of a command: checked before any work, written at the end."""

import glob
import html
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odefs._progress import report_progress, stage

if TYPE_CHECKING:
    from odefs.tables.detection import TableDetection
    from odefs.tables.notes import Note
    from odefs.tables.table import Table

PAGES = (".html", ".htm", ".md", ".json")
PAGE_SUFFIX = ".outliers.html"
MAX_NAME_BYTES = 255
"""Limit of most file systems on the length of a file name."""


@dataclass(frozen=True)
class Targets:
    """Paths of the results.

    ``lacks_report``: no report is written because its packages are not installed.
    """

    scores: Path | None = None
    to_screen: bool = False
    page: Path | None = None
    model: Path | None = None
    lacks_report: bool = False


def choose_targets(
    file: str,
    output: str | None,
    report_path: Path | None,
    force: bool,
    as_json: bool = False,
    leaves_page: bool = False,
    model_path: Path | None = None,
    model_read: Path | None = None,
    large: bool = False,
    no_report: bool = False,
    **_: object,
) -> Targets:
    """Targets of a command, all writable and different from each other and from its inputs."""
    from odefs.report import missing_packages
    from odefs.tables.readers.file_names import readable
    from odefs.tables.readers.open import require_input, table_name
    from odefs.tables.writers.files import WRITABLE, check_target

    to_screen = output == "-"
    if no_report and report_path is not None:
        raise click.UsageError(
            "--report and --no-report are mutually exclusive: give only one of them."
        )
    if to_screen and as_json:
        raise click.UsageError(
            "-o - and --json both write to standard output: give only one of them."
        )
    scores = Path(output) if output and not to_screen else None
    page, lacks = report_path, False
    by_default = leaves_page and page is None and not to_screen and file != "-"
    if by_default:
        lacks = bool(missing_packages())
        page = None if lacks else default_page(file)
    require_apart(scores, page, model_path, Path(file) if file != "-" else None, model_read)
    if scores:
        # Checked first: a missing input folder would otherwise be reported as a wrong output name.
        require_input(file)
        if large:
            from odefs.tables.writers.excel import refuse_large

            refuse_large(scores)
        check_target(scores, force, WRITABLE)
    if page:
        check_target(
            page, force or (by_default and is_own_page(page, readable(table_name(file)))), PAGES
        )
    if model_path:
        check_target(model_path, force)
    return Targets(scores, to_screen, page, model_path, lacks)


def require_apart(*paths: Path | None) -> None:
    """Reject a command that would write one file twice or overwrite one of its inputs."""
    seen: set[Path] = set()
    for path in paths:
        if path is None:
            continue
        if path.resolve() in seen:
            raise click.UsageError(
                f"{path} is given twice: output files must differ from all other files of the "
                "command."
            )
        seen.add(path.resolve())


def require_room_for(
    output: str | None, table: "Table", with_data: bool, hide: Sequence[str] = ()
) -> None:
    """Reject a spreadsheet that is too small for the scores, before the long part of the work."""
    from odefs.tables.writers.columns import LEAST_RESULTS
    from odefs.tables.writers.excel import is_sheet, require_room

    if output and is_sheet(Path(output)):
        own = len(set(table.names).difference(hide)) if with_data else 0
        require_room(Path(output), table.n_rows, LEAST_RESULTS + own)


def write_outputs(
    targets: Targets,
    table: "Table",
    found: "TableDetection",
    reasons: str,
    with_data: bool,
    excel: bool,
    raw: bool,
) -> tuple["Note", ...]:
    """Write the requested files; return notes on what the file of scores could not represent."""
    from odefs.tables.model_files import save_detection

    notes: tuple[Note, ...] = ()
    with stage("writing"):
        report_progress(0, 0)
        if targets.scores or targets.to_screen:
            notes = _write_scores(targets.scores, table, found, reasons, with_data, excel, raw)
        if targets.model:
            save_detection(found, targets.model)
        if targets.page:
            write_report(found, targets.page)
    return notes


def _write_scores(
    path: Path | None,
    table: "Table",
    found: "TableDetection",
    reasons: str,
    with_data: bool,
    excel: bool,
    raw: bool,
) -> tuple["Note", ...]:
    from odefs.tables.writers.columns import result_batches
    from odefs.tables.writers.excel import is_sheet
    from odefs.tables.writers.files import is_spreadsheet, write_table

    folds = path is not None and is_sheet(path)
    batches = result_batches(table, found, reasons, with_data, folds, is_spreadsheet(path))
    return write_table(path, batches, excel, raw)


def default_page(file: str) -> Path:
    """Default path of the report: in the working directory, named after the table."""
    from odefs.tables.readers.open import READABLE, table_name

    if glob.has_magic(file) and not Path(file).exists():
        return Path(f"table{PAGE_SUFFIX}")
    name = table_name(file)
    if not Path(file).is_dir():
        for suffix in (".gz", *READABLE):
            stem = name[: -len(suffix)] if name.lower().endswith(suffix) else ""
            name = stem or name
    # The name of the table may already have the maximum length.
    while len(os.fsencode(name)) + len(PAGE_SUFFIX) > MAX_NAME_BYTES:
        name = name[:-1]
    return Path(f"{name}{PAGE_SUFFIX}")


def is_own_page(path: Path, source: str) -> bool:
    """Whether the file is an earlier report on a table of the same name.

    Such a file is overwritten without ``--force``.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as page:
            head = page.read(4096)
    except OSError:
        return False
    about = re.search('<meta name="odefs-source" content="([^"]*)">', head)
    return (
        '<meta name="generator" content="odefs' in head
        and about is not None
        and html.unescape(about[1]) == source
    )


def write_report(found: "TableDetection", path: Path) -> None:
    """Write the report as HTML, Markdown or JSON, depending on the suffix."""
    from odefs.report import build_report
    from odefs.tables.writers.files import write_text

    report = build_report(found)
    render = {".json": report.json, ".md": report.markdown}.get(path.suffix.lower(), report.html)
    write_text(path, render())
