"""Options on the content of output files, which are errors if no such file is written."""

from pathlib import Path

import click

from odefs.cli import options
from odefs.cli.given_options import is_given, spelling

OF_SCORES = ("with_data", "reasons")
"""Options on the columns of the file of scores."""
OF_CSV = ("excel", "raw")
"""Options on the text of csv files."""


def require_their_outputs(writing: options.Writing, checks: Path | None = None) -> None:
    """Reject options that would do nothing; ``checks`` is the file of values to check."""
    if writing.output is None:
        for name in filter(is_given, OF_SCORES):
            raise click.UsageError(
                f"{spelling(name)} is for the file of scores: name one with -o FILE."
            )
    if not any(one is not None and _is_csv(str(one)) for one in (writing.output, checks)):
        for name in filter(is_given, OF_CSV):
            raise click.UsageError(f"{spelling(name)} is for csv files: name one with -o FILE.csv.")


def _is_csv(output: str) -> bool:
    from odefs.tables.writers.files import DELIMITED

    # Standard output gets csv.
    return output == "-" or output.lower().endswith(DELIMITED)
