"""A small table of the most outlying rows for notebooks: bounded in size whatever the table."""

from collections.abc import Sequence
from html import escape
from urllib.parse import unquote

from odefs.report.rows import cell
from odefs.tables.messages import count, flagged, more_checks, reason_texts, score
from odefs.tables.results.detection import READING_LINES, TableDetection
from odefs.tables.results.displayed_rows import RowTexts, reading_lines, shown_checks

ROWS = 10
CHECKS = 3
LONGEST = 120
"""Characters of a cell or reason."""
LONGEST_LINE = 320
"""Characters of a line on columns left out, which is never cut, or of a note."""

NEXT = (
    "<code>.save_report('page.html')</code> adds a link to the whole page, <code>.show()</code> "
    "opens it in a browser, <code>.report()</code> shows it here. "
)
FRAME = "<code>.to_frame()</code> returns all rows."

STYLE = "text-align: left; vertical-align: top"


def render_light(detection: TableDetection, page: str | None = None) -> str:
    """Return the most outlying rows with their reasons as HTML, and what to do next.

    ``page`` is the address of the whole page, if there is one.
    """
    names = RowTexts(detection, first=0)
    rows = [int(row) for row in detection.order[:ROWS]]
    reasons = detection.reasons(rows) if rows else []
    header = _line("th", [names.identifier, "score", "flagged", "reasons"])
    lines = [
        _line(
            "td",
            [
                str(names[row]),
                score(float(detection.scores[row])),
                "yes" if detection.is_outlier[row] else "",
                "\n".join(reason_texts(found, detection.hidden)),
            ],
        )
        for row, found in zip(rows, reasons, strict=True)
    ]
    listed = "".join(f"<li>{_text(line)}</li>" for line in _checks(detection))
    to_page = NEXT if page is None else _link(page)
    return "".join(
        [
            f"<div><p>{escape(_headline(detection))}</p>",
            f"<p>Values to check:</p><ul>{listed}</ul>" if listed else "",
            f"<table><thead>{header}</thead><tbody>{''.join(lines)}</tbody></table>",
            _reading(detection),
            f"<p>{to_page if detection.has_importances else ''}{FRAME}</p></div>",
        ]
    )


def _checks(detection: TableDetection) -> list[str]:
    """Return the most certain values to check, and how many more there are."""
    checks = shown_checks(detection, first=0)
    more = len(checks) - CHECKS
    first = [str(check) for check in checks[:CHECKS]]
    return [*first, *([more_checks(more, in_python=True)] if more > 0 else [])]


def _reading(detection: TableDetection) -> str:
    """Return which columns were left out, and the most important notes."""
    lines = reading_lines(detection, first=0, most=READING_LINES)
    return f"<p>{'<br>'.join(_text(line, LONGEST_LINE) for line in lines)}</p>" if lines else ""


def _link(page: str) -> str:
    return (
        f'<a href="{escape(page)}" target="_blank" rel="noopener">Open the whole page</a> '
        f"({_text(unquote(page))}). "
    )


def _headline(detection: TableDetection) -> str:
    rows = count(detection.n_rows, "row")
    columns = count(len(detection.encoder.columns), "column")
    return f"{rows}, {columns} used. {flagged(detection.n_flagged, detection.convention)}"


def _line(tag: str, cells: Sequence[str]) -> str:
    inner = "".join(
        f'<{tag} style="{STYLE}">{"<br>".join(_text(line) for line in one.splitlines())}</{tag}>'
        for one in cells
    )
    return f"<tr>{inner}</tr>"


def _text(text: str, longest: int = LONGEST) -> str:
    # Shortened first: a cut through escaped text could leave half of an entity.
    return escape(str(cell(text, longest)))
