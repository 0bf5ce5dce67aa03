"""What ``detect`` and ``score`` have in common where a file would not fit into memory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odefs._extras import command

FRUGAL = 1500 * 10**6
"""Where a process has less than this, readers are told to spare memory."""


def is_large(file: str, delimiter: str | None = None, sheet: str | None = None) -> bool:
    """Whether the file is to be read in parts; refused where there is too little memory even for that."""
    from odefs.system.memory import available_memory, reduce_reader_memory
    from odefs.tables.readers.memory_estimate import fits

    if file == "-":
        return False
    if available_memory() < FRUGAL:
        reduce_reader_memory()
    with named_errors(file):
        require_memory(file, delimiter, sheet)
        return os.environ.get("ODEFS_IN_PARTS", "0").strip() not in ("", "0") or not fits(
            file, delimiter, sheet
        )


def require_memory(
    file: str, delimiter: str | None = None, sheet: str | None = None, whole: bool = False
) -> None:
    """Refuse work that there is too little memory for, before it begins; ``whole`` where the file cannot be read in parts."""
    from odefs.exceptions import TableError
    from odefs.system.memory import BASELINE, available_memory, configured_limit
    from odefs.tables.readers.memory_estimate import bytes_in_memory, least_memory

    if file == "-":
        return
    of = file, delimiter, sheet
    needed = BASELINE + bytes_in_memory(*of) if whole else least_memory(*of)
    available = available_memory()
    if needed > available:
        limit = configured_limit()
        source = (
            "is what ODEFS_MEMORY allows"
            if limit is not None and limit <= available
            else "are free here"
        )
        needs = f"{'about' if whole else 'at least'} {needed / 1e6:,.0f} MB of memory"
        raise TableError(f"{file}: this run needs {needs}, and {available / 1e6:,.0f} MB {source}.")


@contextmanager
def working_folder(large: bool) -> Iterator[Path | None]:
    """A folder for what lies in files while a large table is looked at; none for others."""
    if not large:
        yield None
        return
    from odefs.system.tempfiles import temporary_folder

    with temporary_folder() as folder:
        yield folder


@contextmanager
def named_errors(file: str, output: str | None = None) -> Iterator[None]:
    """Errors that begin with the file's name, and say what to install where something lacks.

    Those that begin with the name of the ``output`` are about that file.
    """
    from odefs.exceptions import TableError
    from odefs.tables.readers.open import table_name

    name = table_name(file)
    named = (file, name if file == "-" else f"{name}:", *([f"{Path(output)}:"] if output else []))
    try:
        yield
    except ModuleNotFoundError as error:
        raise TableError(
            f"{file}: reading it needs {error.name}, which is not installed: {command('cli')}"
        ) from error
    except ValueError as error:
        raise (error if str(error).startswith(named) else TableError(f"{file}: {error}")) from error
