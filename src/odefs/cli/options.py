"""Command-line options shared by several commands.

Options of one concern are the fields of a dataclass. Click fills it before the command is called,
so the command takes one typed argument per concern instead of a dictionary of options.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import click

from odefs.cli.errors import guarded

Command = Callable[..., object]
Decorator = Callable[[Command], Command]
Record = TypeVar("Record")


def _option(*names: str, **settings: object) -> Any:
    """A field that click fills; by default the option has the name of the field."""
    return field(metadata={"names": names, "settings": settings})


def _argument(name: str, record: type) -> Decorator:
    """Decorator of a command: the options of ``record`` in the one argument ``name``."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def collected(**chosen: object) -> object:
            taken = {one.name: chosen.pop(one.name) for one in fields(record)}
            return command(**chosen, **{name: record(**taken)})

        decorated: Command = collected
        for one in reversed(fields(record)):
            names = one.metadata["names"] or (f"--{one.name.replace('_', '-')}",)
            decorated = click.option(*names, one.name, **one.metadata["settings"])(decorated)
        return decorated

    return decorate


def as_record(record: type[Record]) -> Callable[[Callable[[Record], object]], Command]:
    """Decorator of a command that takes all its arguments and options in one record."""

    def decorate(command: Callable[[Record], object]) -> Command:
        @functools.wraps(command)
        def collected(**chosen: object) -> object:
            return command(record(**chosen))

        return collected

    return decorate


class _Text(click.types.StringParamType):
    """Column names and cell values: UTF-8 regardless of the locale."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        from odefs.tables.readers.file_names import readable

        return readable(super().convert(value, param, ctx))


def as_text(command: click.Command) -> click.Command:
    """Decode text options of the command as UTF-8; file names stay as the system passes them."""
    for option in command.params:
        if (
            isinstance(option, click.Option)
            and option.type is click.STRING
            and option.name != "output"
        ):
            option.type = _Text()
    return command


def _delimiter(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    value = {"tab": "\t", "\\t": "\t"}.get(value, value) if value else value
    if value is not None and (len(value) != 1 or not value.isascii() or value in '"\r\n'):
        raise click.BadParameter(f"{value!r} is not a single ASCII character; use 'tab' for a tab.")
    return value


def _cell_range(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    if value is not None:
        from odefs.tables.readers.placement import CellRange

        try:
            CellRange.parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return value


def _share(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value <= 0.5:
        raise click.BadParameter(f"{value} must be greater than 0 and at most 0.5.")
    return value


def _score(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} must be a finite number.")
    return value


@dataclass(frozen=True)
class Reading:
    """How a file is read."""

    sheet: str | None = _option(
        metavar="NAME",
        help="Sheet of an Excel file: its name or number, or 'all' for one result per sheet "
        "(default: the first that is not hidden).",
    )
    skip_rows: int = _option(
        type=click.IntRange(0),
        default=0,
        metavar="N",
        help="Rows at the top of a sheet, or lines of a text file, that are not looked at.",
    )
    header_row: int | None = _option(
        type=click.IntRange(1),
        metavar="N",
        help="Row of a sheet or line of a text file with the column names, from 1 (default: "
        "found).",
    )
    cell_range: str | None = _option(
        "--range",
        callback=_cell_range,
        metavar="CELLS",
        help="Cells of an Excel sheet with the table, such as A3:H200 (default: found).",
    )
    delimiter: str | None = _option(
        callback=_delimiter,
        metavar="CHAR",
        help="Field delimiter of a text file (default: detected); 'tab' for a tab.",
    )
    no_header: bool = _option(
        is_flag=True, help="Text file has no header; columns are named by number."
    )
    table: str | None = _option(
        metavar="NAME",
        help="Table of a database, or file in a zip archive (default: the only one).",
    )
    query: str | None = _option(metavar="SQL", help="Rows of a database to read.")
    identifier: str | None = _option("--id", metavar="COL", help="Column with row ids.")

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
                f"{' and '.join(given)} all say where the table is: give only one of them."
            )


@dataclass(frozen=True)
class Columns:
    """What the columns of a table mean."""

    drop: tuple[str, ...] = _option(
        multiple=True, metavar="COL", help="Column to ignore (repeatable)."
    )
    keep: tuple[str, ...] = _option(
        multiple=True,
        metavar="COL",
        help="Column to use even if it looks like an identifier (repeatable).",
    )
    number: tuple[str, ...] = _option(
        multiple=True, metavar="COL", help="Column to treat as numeric (repeatable)."
    )
    category: tuple[str, ...] = _option(
        multiple=True, metavar="COL", help="Column to treat as categorical (repeatable)."
    )
    na: tuple[str, ...] = _option(
        multiple=True, metavar="TEXT", help="Additional value to treat as missing (repeatable)."
    )
    by: tuple[str, ...] = _option(
        multiple=True,
        metavar="COL",
        help="Compare values within groups of rows with the same value in this column (repeatable: "
        "the combination is the group).",
    )
    label: str | None = _option(
        metavar="COL", help="Column of 0/1 labels (1 = outlier), used only to evaluate the result."
    )
    known: str | None = _option(
        metavar="COL",
        help="Column of known cases to learn from: 1 = outlier, 0 = normal, empty = unknown.",
    )

    @property
    def labels(self) -> list[str]:
        """Columns of labels, which a model does not see."""
        return [column for column in (self.label, self.known) if column]

    @property
    def named(self) -> list[str]:
        """All columns that are named."""
        given = (self.drop, self.keep, self.number, self.category, self.by, self.labels)
        return [column for columns in given for column in columns]


@dataclass(frozen=True)
class Flagging:
    """Which rows are flagged; more than one way is rejected before anything is read."""

    contamination: float | None = _option(
        type=float,
        callback=_share,
        metavar="SHARE",
        help="Flag this share of the rows (at most 0.5).",
    )
    threshold: float | None = _option(
        type=float,
        callback=_score,
        metavar="SCORE",
        help="Flag rows with a score above this value.",
    )
    flag: int | None = _option(
        type=click.IntRange(1), metavar="N", help="Flag the N highest scores and ties."
    )

    def __post_init__(self) -> None:
        given = [f"--{name}" for name, value in vars(self).items() if value is not None]
        if len(given) > 1:
            raise click.UsageError(
                f"{' and '.join(given)} are mutually exclusive: give only one of them."
            )


DEFAULT_FLAGGING = Flagging(None, None, None)
"""The rule of the model."""


@dataclass(frozen=True)
class Training:
    """How a model is fitted."""

    max_false_flags: float | None = _option(
        type=click.FloatRange(0, min_open=True),
        metavar="N",
        help="Rows that may be flagged in a table of this size without outliers (default: 1).",
    )
    seed: int = _option(
        default=0, show_default=True, type=click.IntRange(0, 2**32 - 1), help="Random seed."
    )
    jobs: int | None = _option(
        type=click.IntRange(1), help="Number of threads (default: all cores)."
    )
    profile: str = _option(
        type=click.Choice(["default", "paper"]),
        default="default",
        show_default=True,
        help="Initial settings.",
    )
    settings: tuple[str, ...] = _option(
        "--set",
        multiple=True,
        metavar="NAME=VALUE",
        help="Parameter of ODEFS, or of FeatureSelection as selection__NAME (repeatable).",
    )


@dataclass(frozen=True)
class Writing:
    """Which files are written, and what they contain."""

    output: str | None = _option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write the scores of all rows as csv, parquet, arrow, ndjson or xlsx, depending on "
        "the suffix; - for standard output.",
    )
    reasons: str = _option(
        type=click.Choice(["flagged", "all", "none"]),
        default="flagged",
        show_default=True,
        help="Rows with reasons in the output.",
    )
    with_data: bool = _option(is_flag=True, help="Include the input columns in the output.")
    excel: bool = _option(
        is_flag=True, help="Write csv with a byte order mark, so that Excel detects UTF-8."
    )
    raw: bool = _option(
        is_flag=True,
        help="Write text to csv unchanged; by default an apostrophe prevents spreadsheets from "
        "evaluating it as a formula.",
    )
    hide: tuple[str, ...] = _option(
        multiple=True,
        metavar="COL",
        help="Column that is used but whose values are not shown in any output (repeatable).",
    )
    force: bool = _option(is_flag=True, help="Overwrite existing files.")
    report_path: Path | None = _option(  # noqa: RUF009 - a field, not a shared default
        "--report",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="HTML",
        help="File of the report: .html, .md or .json.",
    )
    no_report: bool = _option(is_flag=True, help="Do not write a report.")


@dataclass(frozen=True)
class Display:
    """What is shown on standard output."""

    top: int = _option(
        default=10, show_default=True, type=click.IntRange(0), help="Number of outliers to show."
    )
    as_json: bool = _option(
        "--json", is_flag=True, help="Print one JSON document, also for errors."
    )
    quiet: bool = _option(is_flag=True, help="Print only errors.")


reading = _argument("reading", Reading)
columns = _argument("columns", Columns)
flagging = _argument("flagging", Flagging)
training = _argument("training", Training)
writing = _argument("writing", Writing)
display = _argument("display", Display)

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
    metavar="FILE",
    help="Table of clean rows that the model was not fitted to: adds p-values to the output and "
    "flags rows by them.",
)
level = click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="With --reference: largest expected share of clean rows among the flagged ones "
    "(default: 0.1).",
)
jobs = click.option(
    "--jobs", type=click.IntRange(1), help="Number of threads (default: all cores)."
)


def reports_errors(command: Command) -> Command:
    """Turn errors of the command into sentences and exit codes; add options on their form."""

    @functools.wraps(command)
    def reporting(debug: bool, **chosen: object) -> object:
        with guarded(debug):
            return command(**chosen)

    log_format = click.option(
        "--log-format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        expose_value=False,  # read by odefs.cli.messages before parsing
        help="Format of messages and progress on standard error; json: one object per line.",
    )
    debug = click.option("--debug", is_flag=True, help="Show the traceback of errors.")
    return log_format(debug(reporting))
