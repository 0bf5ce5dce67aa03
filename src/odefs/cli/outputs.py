"""Output files of a command: checked before any work, written at the end."""

import glob
import html
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odefs._progress import report_progress, stage
from odefs.cli import options
from odefs.cli.sheets import safe_name, sheet_title

if TYPE_CHECKING:
    from odefs.tables.records.notes import Note
    from odefs.tables.results.detection import TableDetection
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
    checks: Path | None = None


def choose_targets(
    file: str,
    writing: options.Writing,
    display: options.Display,
    reading: options.Reading,
    model_path: Path | None = None,
    model_read: Path | None = None,
    leaves_page: bool = False,
    checks_path: Path | None = None,
    sheet: str | None = None,
) -> Targets:
    """Targets of a command, all writable and different from each other and from its inputs."""
    from odefs.tables.writers.files import WRITABLE, check_target

    to_screen = writing.output == "-"
    _require_consistent(writing, to_screen and display.as_json)
    scores = Path(writing.output) if writing.output and not to_screen else None
    page, force, lacks = _choose_page(file, writing, reading, leaves_page, sheet)
    source = Path(file) if file != "-" else None
    require_apart([scores, page, model_path, checks_path], [source, model_read])
    if scores:
        _check_scores(scores, file, writing.force)
    if page:
        check_target(page, force, PAGES)
    if model_path:
        check_target(model_path, writing.force)
    if checks_path:
        check_target(checks_path, writing.force, WRITABLE)
    return Targets(scores, to_screen, page, model_path, lacks, checks_path)


def _choose_page(
    file: str,
    writing: options.Writing,
    reading: options.Reading,
    by_default: bool,
    sheet: str | None,
) -> tuple[Path | None, bool, bool]:
    """Path of the report, whether it may be overwritten, and whether its packages are missing."""
    from odefs.report import missing_packages
    from odefs.tables.readers.sources.kinds import source_name

    page, force = writing.report_path, writing.force
    if page or writing.no_report or not by_default or "-" in (file, writing.output):
        return page, force, False
    if missing_packages():
        return None, force, True
    page = default_page(file, reading.table, sheet)
    about = sheet_title(source_name(file, reading.table, reading.query), sheet)
    return page, force or is_own_page(page, about), False


def _require_consistent(writing: options.Writing, two_outputs: bool) -> None:
    if writing.no_report and writing.report_path is not None:
        raise click.UsageError(
            "--report and --no-report are mutually exclusive: give only one of them."
        )
    if two_outputs:
        raise click.UsageError(
            "-o - and --json both write to standard output: give only one of them."
        )


def _check_scores(scores: Path, file: str, force: bool) -> None:
    from odefs.tables.readers.inputs import require_input
    from odefs.tables.writers.files import WRITABLE, check_target

    # Checked first: a missing input folder would otherwise be reported as a wrong output name.
    require_input(file)
    check_target(scores, force, WRITABLE)


def require_apart(outputs: Iterable[Path | None], inputs: Iterable[Path | None]) -> None:
    """Reject a command that would write one file twice or overwrite one of its inputs."""
    # Resolved, so that a link and its target count as one file. An input may be read twice.
    seen = {path.resolve() for path in inputs if path is not None}
    for path in outputs:
        if path is None:
            continue
        if path.resolve() in seen:
            raise click.UsageError(
                f"{path} is given twice: output files must differ from all other files of the "
                "command."
            )
        seen.add(path.resolve())


def require_room_for(writing: options.Writing, table: "Table", hide: Sequence[str]) -> None:
    """Reject a spreadsheet that is too small for the scores, before the long part of the work."""
    from odefs.tables.writers.columns import LEAST_RESULTS
    from odefs.tables.writers.excel import is_sheet, require_room

    if writing.output and is_sheet(Path(writing.output)):
        own = len(set(table.names).difference(hide)) if writing.with_data else 0
        require_room(Path(writing.output), table.n_rows, LEAST_RESULTS + own)


def write_outputs(
    targets: Targets, table: "Table", found: "TableDetection", writing: options.Writing
) -> tuple["Note", ...]:
    """Write the requested files; return notes on what the file of scores could not represent."""
    from odefs.report.outlier_groups import row_kinds
    from odefs.tables.model_files.tables import save_detection
    from odefs.tables.writers.columns import check_columns, result_batches
    from odefs.tables.writers.excel import is_sheet
    from odefs.tables.writers.files import is_spreadsheet, write_table

    path = targets.scores
    notes: tuple[Note, ...] = ()
    with stage("writing"):
        report_progress(0, 0)
        if path or targets.to_screen:
            batches = result_batches(
                table,
                found,
                writing.reasons,
                writing.with_data,
                folds=path is not None and is_sheet(path),
                spells=is_spreadsheet(path),
                kinds=row_kinds(found) if writing.reasons != "none" else None,
            )
            notes = write_table(path, batches, writing.excel, writing.raw)
        if targets.checks:
            write_table(targets.checks, [check_columns(found)], writing.excel, writing.raw)
        if targets.model:
            save_detection(found, targets.model)
        if targets.page:
            write_report(found, targets.page)
    return notes


def default_page(file: str, table: str | None = None, sheet: str | None = None) -> Path:
    """Default path of the report, of a sheet if one is given."""
    suffix = PAGE_SUFFIX if sheet is None else f".{safe_name(sheet)}{PAGE_SUFFIX}"
    return default_target(file, suffix, table)


def default_target(file: str, own_suffix: str, table: str | None = None) -> Path:
    """Default path of an output: in the working directory, named after the table."""
    from odefs.tables.readers.sources.addresses import scheme_of
    from odefs.tables.readers.sources.kinds import source_stem

    # A pattern stands for several files, so none of them names the output. A file called b[1].csv
    # is not a pattern, nor is the query of an address.
    if glob.has_magic(file) and not scheme_of(file) and not Path(file).exists():
        return Path(f"table{own_suffix}")
    name = source_stem(file, table)
    # The name of the table may already have the maximum length, which is counted in bytes. Whole
    # characters are removed, so that the rest can still be encoded.
    while len(os.fsencode(name)) + len(own_suffix) > MAX_NAME_BYTES:
        name = name[:-1]
    return Path(f"{name}{own_suffix}")


def is_own_page(path: Path, source: str) -> bool:
    """Whether the file is an earlier report on a table of the same name.

    Such a file is overwritten without ``--force``.
    """
    try:
        # The file may be anything. In a page of odefs, both meta elements come before the style
        # sheet, so its beginning is enough.
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

    suffix = path.suffix.lower()
    report = build_report(found, with_page=suffix not in (".json", ".md"))
    render = {".json": report.json, ".md": report.markdown}.get(suffix, report.html)
    write_text(path, render())
