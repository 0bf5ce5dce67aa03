"""Files larger than memory: what ``detect`` and ``score`` share to read them in parts."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odefs._extras import command

LOW_MEMORY = 1500 * 10**6
"""Available bytes below which readers are switched to low memory use."""


def is_large(file: str, delimiter: str | None = None, sheet: str | None = None) -> bool:
    """Whether the file must be read in parts; raises if memory is too small even for that."""
    from odefs.system.memory import available_memory, reduce_reader_memory
    from odefs.tables.readers.memory_estimate import fits

    # What comes through a pipe can be read once only.
    if file == "-" or Path(file).is_fifo():
        return False
    if available_memory() < LOW_MEMORY:
        reduce_reader_memory()
    with named_errors(file):
        require_memory(file, delimiter, sheet)
        return os.environ.get("ODEFS_IN_PARTS", "0").strip() not in ("", "0") or not fits(
            file, delimiter, sheet
        )


def require_memory(
    file: str, delimiter: str | None = None, sheet: str | None = None, whole: bool = False
) -> None:
    """Raise before any work if there is too little memory.

    ``whole``: the command cannot read the file in parts.
    """
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
        by_limit = limit is not None and limit <= available
        given = "are allowed by ODEFS_MEMORY" if by_limit else "are available"
        needs = f"{'about' if whole else 'at least'} {needed / 1e6:,.0f} MB of memory"
        raise TableError(
            f"{file}: this run needs {needs}, but only {available / 1e6:,.0f} MB {given}."
        )


@contextmanager
def working_folder(large: bool) -> Iterator[Path | None]:
    """A temporary folder for the intermediate files of a large table, otherwise ``None``."""
    if not large:
        yield None
        return
    from odefs.system.tempfiles import temporary_folder

    with temporary_folder() as folder:
        yield folder


@contextmanager
def named_errors(file: str, output: str | None = None) -> Iterator[None]:
    """Prefix errors with the name of the file, and name the package to install if one is missing.

    Errors that start with the name of the ``output`` concern that file and stay as they are.
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
