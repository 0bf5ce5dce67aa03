"""Terminal output: the table, its outliers with reasons, and the columns of the model.

Names and values come from the user's data: square brackets in them are not markup, and control
characters do not reach the terminal.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from odefs._extras import command
from odefs.cli.terminal.text_table import Column, table_lines, wrap
from odefs.kernels.row_reductions import median
from odefs.report.rows import foremost_rows
from odefs.tables import messages
from odefs.tables.messages import percent, reason_details, reason_text, without_controls
from odefs.tables.results.displayed_rows import (
    RowTexts,
    reading_lines,
    shown_checks,
    shown_names,
)

if TYPE_CHECKING:
    from odefs.cli.outputs import Targets
    from odefs.tables.records.checks import ValueCheck
    from odefs.tables.records.drift import ColumnDrift
    from odefs.tables.results.detection import TableDetection

SHOWN_FALLBACKS = ("off_device",)
"""Other fallbacks concern the training, and are listed in the report."""

UNLIMITED = 10_000
"""Width if standard output is not a terminal, where lines must not be wrapped."""
SHOWN_CHECKS = 5


class Screen:
    """Standard output: plain in a pipe, with bold text and wrapped on a terminal."""

    def __init__(self) -> None:
        columns = os.environ.get("COLUMNS", "")
        # COLUMNS=0 would show nothing, so it is ignored.
        given = columns.isdecimal() and int(columns) > 0
        is_terminal = sys.stdout.isatty()
        # get_terminal_size() takes COLUMNS first, so a width can be set for a pipe as well.
        self.width = shutil.get_terminal_size().columns if given or is_terminal else UNLIMITED
        self.has_styles = (is_terminal or _is_set("FORCE_COLOR")) and not (
            _is_set("NO_COLOR") or os.environ.get("TERM", "").lower() in ("dumb", "unknown")
        )

    def say(self, text: str = "", bold: bool = False) -> None:
        """Print one or more lines without control characters."""
        lines = map(without_controls, text.split("\n"))
        self._print([part for line in lines for part in wrap(line, self.width)], bold)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        """Print a table whose cells are lines without control characters."""
        header, lines = table_lines(columns, rows, self.width)
        self._print(header, bold=True)
        self._print(lines)

    def _print(self, lines: Sequence[str], bold: bool = False) -> None:
        if bold and self.has_styles:
            lines = [click.style(line, bold=True) if line else line for line in lines]
        if lines:
            # By default click removes styles in a pipe, where FORCE_COLOR requests them.
            click.echo("\n".join(lines), color=self.has_styles)


def _is_set(variable: str) -> bool:
    # An empty NO_COLOR counts as unset (no-color.org).
    return os.environ.get(variable, "") != ""


def show_detection(out: Screen, found: "TableDetection", top: int) -> None:
    """Show the table, its top-ranked outliers with reasons, and the columns of the model."""
    out.say(
        f"{_line(messages.table_title(found.source))}: {messages.count(found.n_rows, 'row')}, "
        f"{messages.count(len(found.encoder.columns), 'column')} used",
        bold=True,
    )
    show_checks(out, shown_checks(found), shown_names(found)[0])
    # Of a table larger than memory, found.scores are those of a few rows, most of them the
    # highest.
    scores = found.scores if found.part is None else found.part.scores
    average = messages.average(median(scores), found.training is not None, found.has_answers)
    out.say(f"{messages.flagged(found.n_flagged, found.convention)} {average}\n")
    if top:
        groups = foremost_rows(found, found.order, top)
        out.table(*outlier_table(found, groups))
        show_agreement(out, found, [group[0] for group in groups])
    show_columns(out, found)
    if found.labels:
        out.say(messages.labels(found.labels))
    show_reading(out, found)


def show_agreement(out: Screen, found: "TableDetection", rows: Sequence[int]) -> None:
    """Show what the agreement means; ``rows`` are those of the table."""
    if found.agreement is None:
        return
    # Extreme rows raise the threshold of each component, so a flagged row may exceed none of them.
    none = any(found.agreement[row] == 0 and found.is_outlier[row] for row in rows)
    out.say(f"{messages.AGREEMENT} {messages.NO_AGREEMENT}" if none else messages.AGREEMENT)


def show_reading(out: Screen, found: "TableDetection") -> None:
    """Show how the table was read: columns left out, formats recognised, what was not possible."""
    if found.part is not None:
        out.say(messages.sampled(found.n_rows, found.part.judged_by, found.part.drawn.size))
    for line in reading_lines(found):
        out.say(line)
    for fallback in getattr(found.model, "fit_info_", {}).get("fallbacks", []):
        if fallback.kind in SHOWN_FALLBACKS:
            out.say(_line(fallback.message))


def show_checks(out: Screen, checks: Sequence["ValueCheck"], identifier: str) -> None:
    """Show the most certain of the values to check; ``identifier`` is the column of row names."""
    if not checks:
        return
    out.say(f"{messages.CHECKS_TITLE}:", bold=True)
    for check in checks[:SHOWN_CHECKS]:
        out.say(f"  {check} [{messages.check_rows(check, identifier)}]")
    if len(checks) > SHOWN_CHECKS:
        out.say(f"  {messages.more_checks(len(checks) - SHOWN_CHECKS)}")
    out.say()


def show_columns(out: Screen, found: "TableDetection") -> None:
    """Show which columns reveal the flagged rows, and the weight of the learned columns.

    Models that do not learn about columns show nothing.
    """
    if not hasattr(found.model, "feature_importances_"):
        return
    # A column of noise may be high in flagged rows, even at a tenth of its weight.
    shares = [(name, share) for name, share in found.importances if name not in found.noise]
    out.say(f"\n{_line(messages.importances(shares))}")
    if found.noise:
        out.say(_line(messages.noise(found.noise)))
    trust = getattr(found.model, "trust_", None)
    if trust is not None and (
        text := messages.trusted(
            trust, getattr(found.model, "trust", "auto") != "auto", bool(found.noise)
        )
    ):
        out.say(text)


def outlier_table(
    found: "TableDetection", groups: Sequence[Sequence[int]]
) -> tuple[list[Column], list[list[str]]]:
    """The top-ranked rows with their reasons; the identical rows of a group share a line."""
    names = RowTexts(found)
    agreement = [] if found.agreement is None else [Column("agree", is_right=True)]
    columns = [
        Column("rank", is_right=True),
        Column(_line(names.identifier)),
        Column("score", is_right=True),
        *agreement,
        Column("why"),
    ]
    rows = []
    for group, reasons in zip(groups, found.reasons([group[0] for group in groups]), strict=True):
        row = group[0]
        name = _line(names[row]) + (f" and {len(group) - 1} more" if len(group) > 1 else "")
        why = ", ".join(messages.reason_texts(reasons, found.hidden))
        agree = [] if found.agreement is None else [percent(found.agreement[row])]
        rows.append([str(found.ranks[row]), name, f"{found.scores[row]:.2f}", *agree, _line(why)])
    return columns, rows


def _line(text: object) -> str:
    """A name or value on one line."""
    return without_controls(str(text))


def show_files(out: Screen, targets: "Targets", found: "TableDetection") -> None:
    """Show the paths of the written files."""
    if targets.scores:
        out.say(f"Scores of all rows: {targets.scores}")
    if targets.checks:
        out.say(f"Values to check: {targets.checks}")
    if targets.model:
        hidden = sorted(found.hidden & set(found.encoder.input_columns))
        out.say(_line(messages.model_saved(targets.model, hidden)))
    if targets.page:
        out.say(f"Report: {targets.page}")
    elif targets.lacks_report:
        out.say(f"No report was written, since it needs further packages: {command('report')}")


def show_reasons(out: Screen, found: "TableDetection", rows: Sequence[int]) -> None:
    """Show rows with every reason, the position of its value in the column and usual values."""
    names = RowTexts(found)
    for row, reasons in zip(rows, found.reasons(rows, 5), strict=True):
        # Not "stands out": a table without outliers has about one flagged row.
        mark = "flagged" if found.is_outlier[row] else "not flagged"
        agree = ""
        if found.agreement is not None:
            agree = f", {messages.agreement(found.agreement[row])}"
        rank = f"rank {found.ranks[row]} of {found.n_rows:,}"
        place = f"score {found.scores[row]:.2f}, {rank}, {mark}{agree}"
        title = _line(messages.row_title(names.identifier, names[row]))
        out.say(f"{title}: {place}", bold=True)
        for reason in reasons:
            hidden = reason.column in found.hidden
            details = "" if hidden else reason_details(reason, found.hidden)
            text = reason_text(reason, hidden) + (f" ({_line(details)})" if details else "")
            out.say(f"  {text}: {reason.share:.0%} of the score")
        if not reasons:
            out.say(f"  {messages.NO_REASON}")


def show_drift(
    out: Screen,
    drift: Sequence["ColumnDrift"],
    flagged: float,
    flagged_before: float | None,
    many_more: bool,
) -> None:
    """Show how the table differs from the training table."""
    out.say(messages.flagged_share(flagged, flagged_before, many_more))
    notable = [entry for entry in drift if entry.is_notable]
    if not notable:
        out.say(messages.NO_DRIFT)
    for entry in notable:
        out.say(f"  {messages.drift(entry)}")
