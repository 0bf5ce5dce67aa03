"""Options that several commands share, in groups."""

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
    """Names of columns and words of a table: UTF-8, whatever the locale took the command line for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from odefs.tables.readers.file_names import readable

        return readable(super().convert(value, param, ctx))


def as_text(command: click.Command) -> click.Command:
    """The command with options that take text as it stands in tables; names of files stay as the system has them."""
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
        raise click.BadParameter(f"{value!r} is not one plain character; a tab is written 'tab'.")
    return value


def _share(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value <= 0.5:
        raise click.BadParameter(f"{value} must lie above 0 and not above 0.5.")
    return value


def _score(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a number that scores can be compared with.")
    return value


def _one_of_them(command: Command) -> Command:
    """Refuse more than one way to choose the flagged rows, before anything is read."""

    @functools.wraps(command)
    def checked(*arguments: Any, **chosen: Any) -> Any:
        given = [
            f"--{name}"
            for name in ("contamination", "threshold", "flag")
            if chosen[name] is not None
        ]
        if len(given) > 1:
            raise click.UsageError(
                f"{' and '.join(given)} contradict each other: give one of them."
            )
        return command(*arguments, **chosen)

    return checked


reading = _all(
    click.option("--sheet", metavar="NAME", help="Sheet of an Excel file; the first by default."),
    click.option(
        "--delimiter",
        callback=_delimiter,
        metavar="CHAR",
        help="What divides the fields of a text file; found out by default. 'tab' for a tab.",
    ),
    click.option(
        "--no-header",
        is_flag=True,
        help="The first line of a text file is a row; columns are called by number.",
    ),
    click.option("--id", "identifier", metavar="COL", help="Column that names the rows."),
)

encoding = _all(
    click.option(
        "--drop",
        multiple=True,
        metavar="COL",
        help="Column to leave out; may be repeated, as all COL options.",
    ),
    click.option(
        "--keep",
        multiple=True,
        metavar="COL",
        help="Column to use though it looks like an identifier.",
    ),
    click.option("--number", multiple=True, metavar="COL", help="Column to read as numbers."),
    click.option("--category", multiple=True, metavar="COL", help="Column to read as categories."),
    click.option(
        "--na", multiple=True, metavar="TEXT", help="A further word or number that means 'missing'."
    ),
)

flagging = _all(
    click.option(
        "--contamination",
        type=float,
        callback=_share,
        metavar="SHARE",
        help="Flag this share of the rows, up to 0.5.",
    ),
    click.option(
        "--threshold",
        type=float,
        callback=_score,
        metavar="SCORE",
        help="Flag rows that score above this.",
    ),
    click.option(
        "--flag", type=click.IntRange(1), metavar="N", help="Flag the N highest scores, and ties."
    ),
    _one_of_them,
)

training = _all(
    click.option(
        "--seed",
        default=0,
        show_default=True,
        type=click.IntRange(0, 2**32 - 1),
        help="Seed of all random draws.",
    ),
    click.option("--jobs", type=click.IntRange(1), help="Threads; all cores by default."),
    click.option(
        "--profile",
        type=click.Choice(["default", "paper"]),
        default="default",
        show_default=True,
        help="Settings to start from.",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of ODEFS, or selection__NAME for one of FeatureSelection.",
    ),
)

output = _all(
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write all rows' scores: csv, parquet, arrow, ndjson, xlsx by the ending; - for standard output.",
    ),
    click.option(
        "--reasons",
        type=click.Choice(["flagged", "all", "none"]),
        default="flagged",
        show_default=True,
        help="Which rows get reasons in the output.",
    ),
    click.option("--with-data", is_flag=True, help="Keep the input columns in the output."),
    click.option(
        "--excel",
        is_flag=True,
        help="Write csv with the byte order mark by which Excel recognises UTF-8.",
    ),
    click.option(
        "--raw",
        is_flag=True,
        help="Write text to csv as it is; by default an apostrophe keeps spreadsheets from running it as a formula.",
    ),
    click.option(
        "--hide",
        multiple=True,
        metavar="COL",
        help="Column to use, but whose values are not shown anywhere.",
    ),
    click.option("--force", is_flag=True, help="Replace files that exist."),
)

log_format = click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    expose_value=False,  # odefs.cli.messages looks for it before the command line is parsed
    help="Format of messages and progress on standard error; json is one object per line.",
)

telling = _all(
    click.option(
        "--top",
        default=10,
        show_default=True,
        type=click.IntRange(0),
        help="How many outliers to show.",
    ),
    click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document instead, also for errors."
    ),
    click.option("--quiet", is_flag=True, help="Print nothing but errors."),
    log_format,
    click.option("--debug", is_flag=True, help="Show the traceback of an error."),
)

report_file = _all(
    click.option(
        "--report",
        "report_path",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="HTML",
        help="Where to leave the page; also .md or .json.",
    ),
    click.option("--no-report", is_flag=True, help="Leave no page."),
)
