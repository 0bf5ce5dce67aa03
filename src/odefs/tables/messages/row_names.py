"""How rows are named in texts: by their ids, and without one by their numbers."""

import re

ROW = "row"
"""What rows without ids go by."""
NUMBERED = re.compile(rf"{ROW} (\d+)")
MIDNIGHT = " 00:00:00"
DAY = re.compile(rf"(\d{{4}}-\d\d-\d\d){MIDNIGHT}")


def row_name(name: object, number: int) -> object:
    """Return the name of a row in a text: ``row 505`` if its id is missing.

    Days that the table stores as times have no time.
    """
    if name is None or name != name:
        return f"{ROW} {number}"
    if isinstance(name, str) and (day := DAY.fullmatch(name)):
        return day[1]
    return name


def row_title(identifier: str, name: object) -> str:
    """Return a name of :func:`row_name` with its column: ``case 1011``, or ``row 505``."""
    return str(name) if numbered_row(str(name)) is not None else f"{identifier} {name}"


def numbered_row(text: str) -> int | None:
    """Return the number of a row that :func:`row_name` names by it; ``None`` for ids."""
    match = NUMBERED.fullmatch(text)
    return int(match[1]) if match else None
