"""An explanation as a small table: text for terminals, HTML for notebooks."""

from collections.abc import Sequence
from html import escape

ROWS = 10
LONGEST = 60
"""Characters of a name or a value."""

Line = tuple[object, Sequence[tuple[str, object, float]]]
"""Name of a row, and column, value and excess of its reasons."""


def as_text(title: str, lines: Sequence[Line], n_rows: int) -> str:
    """Return the title and one line for each of the first rows."""
    shown = [
        f"  row {short_text(str(row))}: {', '.join(_reasons(reasons))}" for row, reasons in lines
    ]
    return "\n".join([title, *shown, *_more(len(lines), n_rows)])


def as_html(title: str, lines: Sequence[Line], n_rows: int) -> str:
    """Return the same as a table; its size is bounded whatever the table of rows."""
    shown = "".join(
        f'<tr><td>{escape(short_text(str(row)))}</td><td style="text-align: left">'
        f"{'<br>'.join(escape(reason) for reason in _reasons(reasons))}</td></tr>"
        for row, reasons in lines
    )
    header = '<tr><th>row</th><th style="text-align: left">reasons (excess)</th></tr>'
    more = "".join(f"<p>{line.strip()}</p>" for line in _more(len(lines), n_rows))
    return (
        f"<div><p>{escape(title)}</p><table><thead>{header}</thead><tbody>{shown}</tbody></table>"
        f"{more}</div>"
    )


def _reasons(reasons: Sequence[tuple[str, object, float]]) -> list[str]:
    if not reasons:
        return ["no column contributes more than usual"]
    return [
        f"{short_text(column)} = {short_text(cell_text(value))} (+{excess:.3g})"
        for column, value, excess in reasons
    ]


def cell_text(value: object) -> str:
    """Return a cell as it is displayed."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def short_text(text: str) -> str:
    """Return printable text of at most :data:`LONGEST` characters."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"


def _more(n_shown: int, n_rows: int) -> list[str]:
    return [f"  and {n_rows - n_shown:,} more rows"] if n_rows > n_shown else []
