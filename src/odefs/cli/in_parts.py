"""What ``detect`` and ``score`` have in common where a file would not fit into memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odefs._extras import command


def is_large(file: str, delimiter: str | None = None) -> bool:
    """Whether the file would not fit."""
    from odefs.tables.sizes import fits

    return file != "-" and not fits(file, delimiter)


@contextmanager
def working_folder(large: bool) -> Iterator[Path | None]:
    """A folder for what lies in files while a large table is looked at; none for others."""
    if not large:
        yield None
        return
    from odefs._ops.temporary import temporary_folder

    with temporary_folder() as folder:
        yield folder


@contextmanager
def named_errors(file: str) -> Iterator[None]:
    """Errors that begin with the file's name, and say what to install where something lacks."""
    from odefs.tables.columns import TableError

    try:
        yield
    except ModuleNotFoundError as error:
        raise TableError(
            f"{file}: a table that is larger than memory needs {error.name}: {command('stream')}"
        ) from error
    except ValueError as error:
        raise error if str(error).startswith(file) else TableError(f"{file}: {error}") from error
