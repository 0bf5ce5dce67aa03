"""Command-line options shared by several commands, in groups."""

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]


def _all(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

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


def _share(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value <= 0.5:
        raise click.BadParameter(f"{value} must be greater than 0 and at most 0.5.")
    return value


def _score(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} must be a finite number.")
    return value


def _exclusive(command: Command) -> Command:
    """Reject more than one way to choose the flagged rows, before anything is read."""

    @functools.wraps(command)
    def checked(*arguments: object, **chosen: object) -> object:
        given = [
            f"--{name}"
            for name in ("contamination", "threshold", "flag")
            if chosen[name] is not None
        ]
        if len(given) > 1:
            raise click.UsageError(
                f"{' and '.join(given)} are mutually exclusive: give only one of them."
            )
        return command(*arguments, **chosen)

    return checked


reading = _all(
    click.option("--sheet", metavar="NAME", help="Sheet of an Excel file (default: the first)."),
    click.option(
        "--delimiter",
        callback=_delimiter,
        metavar="CHAR",
        help="Field delimiter of a text file (default: detected); 'tab' for a tab.",
    ),
    click.option(
        "--no-header",
        is_flag=True,
        help="Text file has no header; columns are named by number.",
    ),
    click.option("--id", "identifier", metavar="COL", help="Column with row ids."),
)

encoding = _all(
    click.option(
        "--drop",
        multiple=True,
        metavar="COL",
        help="Column to ignore (repeatable).",
    ),
    click.option(
        "--keep",
        multiple=True,
        metavar="COL",
        help="Column to use even if it looks like an identifier (repeatable).",
    ),
    click.option(
        "--number", multiple=True, metavar="COL", help="Column to treat as numeric (repeatable)."
    ),
    click.option(
        "--category",
        multiple=True,
        metavar="COL",
        help="Column to treat as categorical (repeatable).",
    ),
    click.option(
        "--na",
        multiple=True,
        metavar="TEXT",
        help="Additional value to treat as missing (repeatable).",
    ),
)

flagging = _all(
    click.option(
        "--contamination",
        type=float,
        callback=_share,
        metavar="SHARE",
        help="Flag this share of the rows (at most 0.5).",
    ),
    click.option(
        "--threshold",
        type=float,
        callback=_score,
        metavar="SCORE",
        help="Flag rows with a score above this value.",
    ),
    click.option(
        "--flag", type=click.IntRange(1), metavar="N", help="Flag the N highest scores and ties."
    ),
    _exclusive,
)

training = _all(
    click.option(
        "--seed",
        default=0,
        show_default=True,
        type=click.IntRange(0, 2**32 - 1),
        help="Random seed.",
    ),
    click.option("--jobs", type=click.IntRange(1), help="Number of threads (default: all cores)."),
    click.option(
        "--profile",
        type=click.Choice(["default", "paper"]),
        default="default",
        show_default=True,
        help="Initial settings.",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="Parameter of ODEFS, or of FeatureSelection as selection__NAME (repeatable).",
    ),
)

output = _all(
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write the scores of all rows as csv, parquet, arrow, ndjson or xlsx, depending on "
        "the suffix; - for standard output.",
    ),
    click.option(
        "--reasons",
        type=click.Choice(["flagged", "all", "none"]),
        default="flagged",
        show_default=True,
        help="Rows with reasons in the output.",
    ),
    click.option("--with-data", is_flag=True, help="Include the input columns in the output."),
    click.option(
        "--excel",
        is_flag=True,
        help="Write csv with a byte order mark, so that Excel detects UTF-8.",
    ),
    click.option(
        "--raw",
        is_flag=True,
        help="Write text to csv unchanged; by default an apostrophe prevents spreadsheets from "
        "evaluating it as a formula.",
    ),
    click.option(
        "--hide",
        multiple=True,
        metavar="COL",
        help="Column that is used but whose values are not shown in any output (repeatable).",
    ),
    click.option("--force", is_flag=True, help="Overwrite existing files."),
)

log_format = click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    expose_value=False,  # read by odefs.cli.messages before parsing
    help="Format of messages and progress on standard error; json: one object per line.",
)

display = _all(
    click.option(
        "--top",
        default=10,
        show_default=True,
        type=click.IntRange(0),
        help="Number of outliers to show.",
    ),
    click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document, also for errors."
    ),
    click.option("--quiet", is_flag=True, help="Print only errors."),
    log_format,
    click.option("--debug", is_flag=True, help="Show the traceback of errors."),
)

report_file = _all(
    click.option(
        "--report",
        "report_path",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="HTML",
        help="File of the report: .html, .md or .json.",
    ),
    click.option("--no-report", is_flag=True, help="Do not write a report."),
)
