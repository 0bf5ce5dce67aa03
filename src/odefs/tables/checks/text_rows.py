"""Rows with text in several columns of numbers, such as a header that is repeated in the data.

Each of their cells would be a check of its column. One check of the row replaces them.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence

from odefs.tables.checks.rows import Located
from odefs.tables.records.checks import CheckKind, ValueCheck

FEWEST_NAMES, FEWEST_TEXTS = 2, 3
"""Least number of columns: of cells that are the names of their columns, and of other text."""


def text_rows(located: Sequence[Located], hidden: Collection[str] = ()) -> list[ValueCheck]:
    """Return a check for the rows that repeat the header, and one for each other set of columns.

    Cells of ``hidden`` columns are left out: the rows of one check must not reveal another column.
    """
    cells = defaultdict[int, dict[str, str]](dict)
    for one in located:
        suspect = one.suspect
        # Of a column with more cells than are listed, they are not rare rows of the table.
        is_listed = suspect.kind == "text_in_numbers" and one.count == len(one.rows)
        for row, cell in zip(one.rows, one.values, strict=True) if is_listed else ():
            if suspect.column not in hidden:
                cells[row][suspect.column] = str(cell)
    headers = defaultdict[tuple[str, ...], list[int]](list)
    others = defaultdict[tuple[str, ...], list[int]](list)
    for row in sorted(cells):
        names = tuple(name for name, cell in cells[row].items() if _is_name(cell, name))
        if len(names) >= FEWEST_NAMES:
            headers[names].append(row)
        elif len(cells[row]) >= FEWEST_TEXTS:
            others[tuple(cells[row])].append(row)
    return [
        *(_check("repeated_header", names, rows) for names, rows in headers.items()),
        *(_check("text_row", names, rows) for names, rows in others.items()),
    ]


def are_replaced(check: ValueCheck, rows: Sequence[ValueCheck]) -> bool:
    """Whether all cells of a check of text among numbers are in rows of :func:`text_rows`."""
    if check.kind != "text_in_numbers" or check.count != len(check.rows):
        return False
    of_column = (one.rows for one in rows if check.column in one.columns)
    return {*check.rows} <= {row for found in of_column for row in found}


def _is_name(cell: str, name: str) -> bool:
    return cell.strip().casefold() == name.strip().casefold()


def _check(kind: CheckKind, names: tuple[str, ...], rows: Sequence[int]) -> ValueCheck:
    certainty = 0.95 if kind == "repeated_header" else 0.9
    return ValueCheck(kind, None, len(rows), tuple(rows), columns=names, certainty=certainty)
