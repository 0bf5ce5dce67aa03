"""One result per sheet of a workbook, for ``--sheet all``."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

import click

from odefs.cli import options
from odefs.cli.terminal.messages import document_text, fail, say_warning, write_document

if TYPE_CHECKING:
    from odefs.tables.readers.open import Reading
    from odefs.tables.results.detection import TableDetection

ALL = "all"
UNSAFE = re.compile(r'[\\/:*?"<>|\x00-\x1f]')
"""Characters of a sheet's name that are replaced in file names."""
# Only what file systems refuse: replacing more would give sheets 'R&D' and 'R+D' one output file.


def _nothing() -> None:
    """Nothing follows."""


@dataclass(frozen=True)
class SheetResult:
    """The JSON document of a result, if requested, and what follows once it is written."""

    document: str | None = None
    finish: Callable[[], None] = _nothing

    def conclude(self) -> None:
        if self.document is not None:
            write_document(self.document)
        self.finish()


@dataclass(frozen=True, kw_only=True)
class SheetRun:
    """Options of a run; ``sheet`` is the name of the sheet if a file is read sheet by sheet."""

    reading: options.Reading
    sheet: str | None = None

    def of_sheet(self, sheet: str) -> Self:
        """The options for one of several sheets, with output files of its own."""
        return replace(self, reading=replace(self.reading, sheet=sheet), sheet=sheet)


Run = TypeVar("Run", bound=SheetRun)


def run_sheets(
    file: str,
    run: Run,
    execute: Callable[[Run], SheetResult],
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Run a command on a table, or one by one on the sheets of a workbook.

    A sheet that cannot be used is reported and the others go on. Raises if none can be used.
    """
    names = _names(file, run.reading.sheet)
    if names is None:
        execute(run).conclude()
        return
    documents: list[dict[str, object]] = []
    results: list[SheetResult] = []
    for name in names:
        try:
            result = execute(run.of_sheet(name))
        except ValueError as error:
            say_warning(f"sheet {name!r} was not used: {error}")
            documents.append({"sheet": name, "error": {"kind": "data", "message": str(error)}})
            continue
        results.append(result)
        if result.document is not None:
            documents.append({"sheet": name, "result": json.loads(result.document)})
        if not as_json and not quiet and name != names[-1]:
            click.echo()
    if not results:
        fail("data", f"{file}: none of its sheets could be used.", 1)
    if as_json:
        write_document(document_text({"sheets": documents}))
    _finish(results)


def _finish(results: Sequence[SheetResult]) -> None:
    """Let every sheet report, and exit with the highest code."""
    code = 0
    for result in results:
        try:
            result.finish()
        except SystemExit as error:
            code = max(code, error.code if isinstance(error.code, int) else 1)
    if code:
        raise SystemExit(code)


def _names(file: str, sheet: str | None) -> list[str] | None:
    """The sheets to read one by one; ``None`` for one table."""
    if sheet != ALL:
        return None
    from odefs.cli.run import named_errors
    from odefs.tables.readers.excel.sheets import sheets_to_read
    from odefs.tables.readers.file_kinds import EXCEL
    from odefs.tables.readers.inputs import suffix_of

    if not Path(file).is_file():
        if file == "-":
            raise click.UsageError("--sheet all needs a file, not standard input.")
        return None  # the reader reports that there is no such file
    if suffix_of(Path(file)) not in EXCEL:
        return None  # the reader refuses --sheet
    with named_errors(file):
        names = sheets_to_read(Path(file), sheet)
    # A sheet that is itself called 'all' is meant, and is read as one table.
    return None if names == [sheet] else [name for name in names if name is not None]


def refuse_all(sheet: str | None, why: str) -> None:
    """Reject ``--sheet all`` where it has no meaning."""
    if sheet == ALL:
        raise click.UsageError(f"{why}: name one sheet instead of --sheet all.")


def sheet_path(path: Path, sheet: str) -> Path:
    """The path of an output file with the name of the sheet before its suffix."""
    return path.with_name(f"{path.stem}.{safe_name(sheet)}{path.suffix}")


def safe_name(sheet: str) -> str:
    """The name of a sheet as part of a file name."""
    # Windows drops dots and spaces at the end of a file name.
    return UNSAFE.sub("_", sheet).strip(" .") or "sheet"


def sheet_writing(writing: options.Writing, sheet: str) -> options.Writing:
    """The options on output files for one of several sheets."""
    if writing.output == "-":
        raise click.UsageError("-o - writes one table: name one sheet instead of --sheet all.")
    output, page = writing.output, writing.report_path
    return replace(
        writing,
        output=output and str(sheet_path(Path(output), sheet)),
        report_path=page and sheet_path(page, sheet),
    )


def of_sheet(read: "Reading", sheet: str | None) -> "Reading":
    """The table with the name of its sheet, which the note on other sheets need not repeat."""
    if sheet is None:
        return read
    notes = tuple(note for note in read.notes if note.kind != "other_sheets")
    return replace(read, name=sheet_title(read.name, sheet), notes=notes)


def with_sheet(found: "TableDetection", run: SheetRun) -> "TableDetection":
    """The detection with the sheet that was given, if its table is not named after it already."""
    if run.sheet is not None or run.reading.sheet is None:
        return found
    return replace(found, source=found.source | {"sheet": run.reading.sheet})


def sheet_title(name: str, sheet: str | None) -> str:
    """The name of a table with its sheet."""
    return name if sheet is None else f"{name}, sheet {sheet}"
