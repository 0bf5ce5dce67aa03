"""The table that a command reads: its local file, and a folder for work on a large one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from odefs.cli import options
from odefs.cli.terminal.progress import progress

if TYPE_CHECKING:
    from odefs.tables.readers.options import ReadOptions
    from odefs.tables.readers.sources.locate import LocalTable


def read_options(reading: options.Reading) -> "ReadOptions":
    """The reader's options that were given on the command line."""
    from odefs.tables.readers.options import ReadOptions

    return ReadOptions(
        reading.sheet,
        delimiter=reading.delimiter,
        header=not reading.no_header,
        skip_rows=reading.skip_rows,
        header_row=reading.header_row,
        cell_range=reading.cell_range,
    )


@contextmanager
def local_table(file: str, reading: options.Reading, quiet: bool) -> "Iterator[LocalTable]":
    """The local file of a table, downloaded or converted if necessary, for the ``with`` block."""
    from odefs.tables.readers.options import check_options
    from odefs.tables.readers.sources.kinds import CHOICES, kind_of, source_name
    from odefs.tables.readers.sources.locate import located

    if kind_of(file) in CHOICES["query"]:
        # Rows of a database become a parquet file: options of other formats are refused here,
        # before the query runs.
        name = source_name(file, reading.table, reading.query)
        check_options(name, ".parquet", read_options(reading))
    with ExitStack() as until_the_end:
        # Progress of a download or query ends here; the file lasts as long as the caller's block.
        with progress(quiet):
            table = until_the_end.enter_context(located(file, reading.table, reading.query))
        yield table


@contextmanager
def table_and_folder(
    file: str, reading: options.Reading, quiet: bool, scores: Path | None = None
) -> "Iterator[tuple[LocalTable, Path | None]]":
    """The local file, and a temporary folder if it has to be read in parts, otherwise ``None``.

    Raises if ``scores`` are to be written to a spreadsheet, which cannot be done in parts.
    """
    from odefs.cli.run import is_large, working_folder
    from odefs.tables.writers.excel import refuse_large

    with local_table(file, reading, quiet) as table:
        large = is_large(table, reading.delimiter, reading.sheet)
        if large and scores:
            refuse_large(scores)
        with working_folder(large) as folder:
            yield table, folder
