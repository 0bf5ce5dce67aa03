"""Command-line options shared by several commands.

Options of one concern are the fields of a dataclass, which click fills before the command is
called (:mod:`odefs.cli.option_records`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from odefs.cli.option_records import argument, option
from odefs.cli.shares import ShareType


def _delimiter(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    # Shells pass \t as two characters.
    value = {"tab": "\t", "\\t": "\t"}.get(value, value) if value else value
    # polars requires a delimiter of one byte.
    if value is not None and (len(value) != 1 or not value.isascii() or value in '"\r\n'):
        raise click.BadParameter(f"{value!r} is not a single ASCII character; use 'tab' for a tab.")
    return value


def _cell_range(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    if value is not None:
        from odefs.tables.readers.options import CellRange

        try:
            CellRange.parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return value


def _score(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} must be a finite number.")
    return value


@dataclass(frozen=True)
class Reading:
    """How a file is read."""

    sheet: str | None = option(
        metavar="NAME",
        help="Sheet of an Excel file: its name or number, or 'all' for one result per sheet "
        "(default: the first visible sheet with a table).",
    )
    skip_rows: int = option(
        type=click.IntRange(0),
        default=0,
        metavar="N",
        help="Rows at the top of a sheet, or lines of a text file, to skip.",
    )
    header_row: int | None = option(
        type=click.IntRange(1),
        metavar="N",
        help="Row of a sheet or line of a text file with the column names, from 1 (default: "
        "detected).",
    )
    cell_range: str | None = option(
        "--range",
        callback=_cell_range,
        metavar="CELLS",
        help="Cells of an Excel sheet with the table, such as A3:H200 (default: detected).",
    )
    delimiter: str | None = option(
        callback=_delimiter,
        metavar="CHAR",
        help="Field delimiter of a text file (default: detected); 'tab' for a tab.",
    )
    no_header: bool = option(
        is_flag=True, help="Text file has no header; columns are named by number."
    )
    table: str | None = option(
        metavar="NAME",
        help="Table of a database, file in a zip archive or key of a JSON document (default: "
        "the only one).",
    )
    query: str | None = option(
        metavar="SQL", help="SQL query that selects the rows of a database to read."
    )
    identifier: str | None = option("--id", metavar="COL", help="Column with row ids.")

    def __post_init__(self) -> None:
        if self.table is not None and self.query is not None:
            raise click.UsageError(
                "--table and --query are mutually exclusive: give only one of them."
            )
        given = [
            name
            for name, value in (
                ("--skip-rows", self.skip_rows),
                ("--header-row", self.header_row),
                ("--range", self.cell_range),
            )
            if value
        ]
        if len(given) > 1:
            raise click.UsageError(
                f"{' and '.join(given)} all locate the table: give only one of them."
            )


@dataclass(frozen=True)
class OneTableReading(Reading):
    """The same for commands that take one table."""

    sheet: str | None = option(
        metavar="NAME",
        help="Sheet of an Excel file: its name or number (default: the first that is not hidden).",
    )


@dataclass(frozen=True)
class Columns:
    """What the columns of a table mean."""

    drop: tuple[str, ...] = option(
        multiple=True, metavar="COL", help="Column to ignore (repeatable)."
    )
    keep: tuple[str, ...] = option(
        multiple=True,
        metavar="COL",
        help="Column to use even if it looks like an identifier (repeatable).",
    )
    number: tuple[str, ...] = option(
        multiple=True, metavar="COL", help="Column to treat as numeric (repeatable)."
    )
    category: tuple[str, ...] = option(
        multiple=True, metavar="COL", help="Column to treat as categorical (repeatable)."
    )
    na: tuple[str, ...] = option(
        multiple=True, metavar="TEXT", help="Additional value to treat as missing (repeatable)."
    )
    by: tuple[str, ...] = option(
        multiple=True,
        metavar="COL",
        help="Compare values within groups of rows with the same value in this column (repeatable: "
        "the combination is the group).",
    )
    label: str | None = option(
        metavar="COL", help="Column of 0/1 labels (1 = outlier), used only to evaluate the result."
    )
    known: str | None = option(
        metavar="COL",
        help="Column of known cases to learn from: 1 = outlier, 0 = normal, empty = unknown.",
    )

    @property
    def uses(self) -> dict[str, Sequence[str]]:
        """The columns that are named, by the option."""
        return {
            "drop": self.drop,
            "keep": self.keep,
            "number": self.number,
            "category": self.category,
            "by": self.by,
            "label": [self.label] if self.label else [],
            "known": [self.known] if self.known else [],
        }

    @property
    def labels(self) -> list[str]:
        """Columns of labels, which a model does not see."""
        return [column for column in (self.label, self.known) if column]

    @property
    def named(self) -> list[str]:
        """All columns that are named."""
        return [column for columns in self.uses.values() for column in columns]


@dataclass(frozen=True)
class Flagging:
    """Which rows are flagged; more than one way is rejected before anything is read."""

    contamination: float | None = option(
        sets="contamination",
        type=ShareType(0, 0.5, min_open=True),
        metavar="SHARE",
        help="Flag this share of the rows (0.05, 5%).",
    )
    threshold: float | None = option(
        type=float,
        callback=_score,
        metavar="SCORE",
        help="Flag rows with a score above this value.",
    )
    flag: int | None = option(
        type=click.IntRange(1), metavar="N", help="Flag the N highest scores and ties."
    )

    def __post_init__(self) -> None:
        given = [f"--{name}" for name, value in vars(self).items() if value is not None]
        if len(given) > 1:
            raise click.UsageError(
                f"{' and '.join(given)} are mutually exclusive: give only one of them."
            )


# The fields have no defaults of their own: those of options are click's.
DEFAULT_FLAGGING = Flagging(None, None, None)
"""The rule of the model."""


@dataclass(frozen=True)
class Training:
    """How a model is fitted."""

    max_false_flags: float | None = option(
        sets="max_false_flags",
        type=click.FloatRange(0, min_open=True),
        metavar="N",
        help="Rows that may be flagged in a table of this size without outliers (default: 1).",
    )
    # The upper limit is that of NumPy's RandomState.
    seed: int = option(
        sets="random_state",
        default=0,
        show_default=True,
        type=click.IntRange(0, 2**32 - 1),
        help="Random seed.",
    )
    jobs: int | None = option(
        sets="n_jobs", type=click.IntRange(1), help="Number of threads (default: all cores)."
    )
    profile: str = option(
        type=click.Choice(["default", "paper"]),
        default="default",
        show_default=True,
        help="Settings to start from: those of ODEFS() or of the paper.",
    )
    settings: tuple[str, ...] = option(
        "--set",
        multiple=True,
        metavar="NAME=VALUE",
        help="Parameter of ODEFS, or of FeatureSelection as selection__NAME (repeatable).",
    )


ANY_PATH = click.Path(readable=False, allow_dash=True)
"""A path as text that is checked later, since - or an address is allowed as well."""


@dataclass(frozen=True)
class Writing:
    """Which files are written, and what they contain."""

    output: str | None = option(
        "-o",
        "--output",
        type=ANY_PATH,
        metavar="FILE",
        help="Write the scores of all rows as csv, parquet, arrow, ndjson or xlsx, depending on "
        "the suffix; - for standard output.",
    )
    reasons: str = option(
        type=click.Choice(["flagged", "all", "none"]),
        default="flagged",
        show_default=True,
        help="Rows with reasons in the output.",
    )
    with_data: bool = option(is_flag=True, help="Include the input columns in the output.")
    excel: bool = option(
        is_flag=True, help="Write csv with a byte order mark, so that Excel detects UTF-8."
    )
    raw: bool = option(
        is_flag=True,
        help="Write text to csv unchanged; by default an apostrophe prevents spreadsheets from "
        "evaluating it as a formula.",
    )
    hide: tuple[str, ...] = option(
        multiple=True,
        metavar="COL",
        help="Column that is used but whose values are not shown in any output (repeatable).",
    )
    force: bool = option(is_flag=True, help="Overwrite existing files.")
    report_path: Path | None = option(  # noqa: RUF009 - a field, not a shared default
        "--report",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="HTML",
        help="File of the report: .html, .md or .json.",
    )
    no_report: bool = option(is_flag=True, help="Do not write a report.")


@dataclass(frozen=True)
class Display:
    """What is shown on standard output."""

    top: int = option(
        default=10, show_default=True, type=click.IntRange(0), help="Number of outliers to show."
    )
    as_json: bool = option("--json", is_flag=True, help="Print one JSON document, also for errors.")
    quiet: bool = option(is_flag=True, help="Print only errors.")


reading = argument("reading", Reading)
one_table = argument("reading", OneTableReading)
columns = argument("columns", Columns)
flagging = argument("flagging", Flagging)
training = argument("training", Training)
writing = argument("writing", Writing)
display = argument("display", Display)

hide = click.option(
    "--hide",
    multiple=True,
    metavar="COL",
    help="Column that is used but whose values are not shown (repeatable).",
)
answers = click.option(
    "--answers",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="CSV",
    help="Learn from the answers of a review ('odefs review').",
)
reference = click.option(
    "--reference",
    type=ANY_PATH,
    metavar="FILE",
    help="Table of clean rows that the model was not fitted to: adds p-values to the output and "
    "flags rows by them.",
)
level = click.option(
    "--level",
    type=ShareType(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="With --reference: largest expected share of clean rows among the flagged ones "
    "(0.05, 5%; default: 0.1).",
)
jobs = click.option(
    "--jobs", type=click.IntRange(1), help="Number of threads (default: all cores)."
)
