"""Options that several commands share, in groups."""

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


reading = _all(
    click.option("--sheet", metavar="NAME", help="Sheet of an Excel file; the first by default."),
    click.option("--id", "identifier", metavar="COL", help="Column that names the rows."),
)

encoding = _all(
    click.option(
        "--drop", multiple=True, metavar="COL", help="Column to leave out; may be repeated, as all COL options."
    ),
    click.option("--keep", multiple=True, metavar="COL", help="Column to use though it looks like an identifier."),
    click.option("--number", multiple=True, metavar="COL", help="Column to read as numbers."),
    click.option("--category", multiple=True, metavar="COL", help="Column to read as categories."),
    click.option("--na", multiple=True, metavar="TEXT", help="A further word or number that means 'missing'."),
)

flagging = _all(
    click.option("--contamination", type=float, metavar="SHARE", help="Flag this share of the rows."),
    click.option("--threshold", type=float, metavar="SCORE", help="Flag rows that score above this."),
    click.option("--flag", type=click.IntRange(1), metavar="N", help="Flag the N highest scores, and ties."),
)

training = _all(
    click.option(
        "--seed", default=0, show_default=True, type=click.IntRange(0, 2**32 - 1), help="Seed of all random draws."
    ),
    click.option("--jobs", type=click.IntRange(1), help="Threads; all cores by default."),
    click.option(
        "--profile",
        type=click.Choice(["default", "paper"]),
        default="default",
        show_default=True,
        help="Settings to start from.",
    ),
    click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the ODEFS class."),
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
        "--excel", is_flag=True, help="Write csv for Excel: a byte order mark, and no cell that would run as a formula."
    ),
    click.option(
        "--hide", multiple=True, metavar="COL", help="Column to use, but whose values are not shown anywhere."
    ),
    click.option("--force", is_flag=True, help="Replace files that exist."),
)

telling = _all(
    click.option("--top", default=10, show_default=True, type=click.IntRange(0), help="How many outliers to show."),
    click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON instead."),
    click.option("--quiet", is_flag=True, help="Print nothing but errors."),
    click.option("--debug", is_flag=True, help="Show the traceback of an error."),
)

report_file = click.option(
    "--report",
    "report_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="HTML",
    help="Where to leave the page; also .md or .json.",
)
