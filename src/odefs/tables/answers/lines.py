"""The lines of a file of answers: names of its columns, csv text, and delimiters of other programs.

Names of odefs' own columns are read in any case, so a column of the table or an id column must not
have one of them. What :func:`csv_line` writes, :func:`read_lines` reads again.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from odefs.exceptions import TableError
from odefs.tables.formulas import defused_name, restored_name
from odefs.tables.readers.text.dialect import DELIMITERS, HEAD_BYTES, long_cells, text_encoding

OWN_NAMES = ("row", "answer", "score", "reasons", "time", "table")
REPORT_NAMES = ("answer", "score", "reasons", "table")
"""Own columns of answers that are saved from a report, after the id column or the row number."""
MAX_BYTES = 2**28
BLANKS = " \t\r\n\u00a0"
SEPARATOR_LINE = re.compile(r'"?sep=[^\r\n]"?\r?\n', re.IGNORECASE)
"""First line of files for Excel; longer lines are headers."""

Lines = list[tuple[int, dict[str, str]]]


def own_name(name: str) -> str | None:
    """The own column that a name is read as; ``None`` for all others."""
    lower = name.strip(BLANKS).lower()
    return lower if lower in OWN_NAMES else None


def key_name(identifier: str) -> str:
    """The name of the id column in the file."""
    return identifier if own_name(identifier) is None else f"{identifier} (id)"


def report_header(key: str, columns: Iterable[str]) -> list[str]:
    """The header of answers saved from a report: the columns of the table give way to others."""
    header = [key, *REPORT_NAMES]
    for column in columns:
        name = column
        while own_name(name) is not None or name in header:
            name += " (input)"
        header.append(name)
    return header


def csv_line(cells: Iterable[str]) -> str:
    """Return a line of csv; the csv module does not quote carriage returns in every version."""
    return ",".join(map(_quoted, map(defused_name, cells))) + "\n"


def read_lines(path: Path, key: str | None = None) -> Lines:
    """Return number and cells of each line that is not blank; own columns under their own names.

    ``key`` is the name of the id column, if there is one.
    """
    text = _text(path)
    try:
        with long_cells():
            delimiter = _delimiter(text)
            if delimiter is None:
                raise TableError(f"{path}: there is no column 'answer' in its first line.")
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            header = next(reader)
            names = [own_name(cell) or restored_name(cell) for cell in header]
            _require_once(path, header, names, key)
            return [
                (reader.line_num, dict(zip(names, map(restored_name, cells), strict=False)))
                for cells in reader
                if any(cell.strip() for cell in cells)
            ]
    except csv.Error as error:
        raise TableError(f"{path}: it cannot be read as csv ({error}).") from error


def _text(path: Path) -> str:
    try:
        content = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}.") from error
    if content is None:
        raise TableError(f"{path}: this is too large for a file of answers.")
    if not content.strip():
        raise TableError(f"{path}: the file is empty.")
    # People edit the file in spreadsheets, which save it in other encodings and delimiters.
    text = content.decode(text_encoding(content[:HEAD_BYTES]), errors="replace")
    text = text.removeprefix("\ufeff")
    marked = SEPARATOR_LINE.match(text)
    return text[marked.end() :] if marked else text


def _delimiter(text: str) -> str | None:
    """The first delimiter by which the header has a column of answers."""
    for delimiter in DELIMITERS:
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
        if any(own_name(cell) == "answer" for cell in header):
            return delimiter
    return None


def _require_once(path: Path, header: Sequence[str], names: Sequence[str], key: str | None) -> None:
    """Raise if two columns would be read as the same one: an answer must not hide another."""
    for name in (*OWN_NAMES, key):
        same = [cell for cell, read_as in zip(header, names, strict=True) if read_as == name]
        if len(same) > 1:
            raise TableError(
                f"{path}: the columns {same[0]!r} and {same[1]!r} have the same meaning: rename "
                "or remove one of them."
            )


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if re.search('[",\r\n]', cell) else cell
