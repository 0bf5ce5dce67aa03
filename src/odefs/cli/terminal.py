"""What the terminal shows: what was read, what stands out and why, what the model relies on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from odefs.tables.wording import say_place, say_reason, say_usual

if TYPE_CHECKING:
    from odefs.cli.targets import Targets
    from odefs.tables.detection import Detection
    from odefs.tables.drift import ColumnDrift


def console() -> Console:
    """Names and values are the user's: square brackets in them are no markup."""
    return Console(highlight=False, markup=False, emoji=False)


def show_detection(out: Console, found: "Detection", top: int) -> None:
    """The foremost outliers with their reasons; identical rows once, with their number."""
    name = found.source.get("name", "table")
    out.print(f"{name}: {found.n_rows:,} rows, {len(found.encoder.columns)} columns used", style="bold")
    for column, reason in found.left_out.items():
        out.print(f"  left out: {column} ({reason})")
    for note in found.notes:
        out.print(f"  {note}")
    flagged = int(found.is_outlier.sum())
    verb = "row stands" if flagged == 1 else "rows stand"
    out.print(f"{flagged:,} {verb} out: {found.convention}. An ordinary row scores 1.0.\n")
    if top:
        out.print(outlier_table(found, top))
    columns = ", ".join(f"{column} {share:.0%}" for column, share in found.importances[:6] if share >= 0.005)
    out.print(f"\nColumns the model relies on: {columns or 'none more than others'}")


def outlier_table(found: "Detection", top: int) -> Table:
    """The foremost rows with their reasons; identical ones once."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("rank", justify="right")
    table.add_column(Text(found.identifier))
    table.add_column("score", justify="right")
    table.add_column("why")
    groups = equal_rows(found, top)
    for group, reasons in zip(groups, found.reasons([group[0] for group in groups]), strict=True):
        row = group[0]
        name = str(found.row_names[row]) + (f" and {len(group) - 1} more" if len(group) > 1 else "")
        why = ", ".join(say_reason(reason, reason.column in found.hidden) for reason in reasons)
        table.add_row(str(found.ranks[row]), Text(name), f"{found.scores[row]:.2f}", Text(why))
    return table


def equal_rows(found: "Detection", top: int) -> list[list[int]]:
    """The first ``top`` groups of rows, most outlying first; rows that are the same in all used columns form one group."""
    groups: list[list[int]] = []
    by_content: dict[bytes, list[int]] = {}
    for row in found.order:
        content = np.ascontiguousarray(found.X[row]).tobytes()
        if content in by_content:
            by_content[content].append(int(row))
            continue
        if len(groups) == top:
            # Equal rows have equal scores: nothing further down can join.
            if found.scores[row] < found.scores[groups[-1][0]]:
                break
            continue
        by_content[content] = [int(row)]
        groups.append(by_content[content])
    return groups


def show_files(out: Console, targets: "Targets") -> None:
    """What was written where."""
    if targets.scores:
        out.print(f"Scores of all rows: {targets.scores}")
    if targets.model:
        out.print(f"Model: {targets.model} (it holds some rows of the table: share it as you would share the table)")
    if targets.page:
        out.print(f"Report: {targets.page}")
    elif targets.lacks_report:
        out.print('No report: it needs further packages, pip install "odefs[report]"')


def show_reasons(out: Console, found: "Detection", rows: Sequence[int]) -> None:
    """Rows in full: every reason with its place in the column and what ordinary rows have."""
    for row, reasons in zip(rows, found.reasons(rows, 5), strict=True):
        mark = "stands out" if found.is_outlier[row] else "not flagged"
        out.print(
            f"{found.identifier} {found.row_names[row]}: score {found.scores[row]:.2f}, rank {found.ranks[row]} of {found.n_rows:,}, {mark}",
            style="bold",
        )
        for reason in reasons:
            hidden = reason.column in found.hidden
            parts = [
                part for part in ("" if hidden else say_place(reason), "" if hidden else say_usual(reason)) if part
            ]
            said = f" ({'; '.join(parts)})" if parts else ""
            out.print(f"  {say_reason(reason, hidden)}{said}: {reason.share:.0%} of the score")
        if not reasons:
            out.print("  no column is out of the ordinary")


def show_drift(out: Console, drift: Sequence["ColumnDrift"], flagged: float, flagged_before: float | None) -> None:
    """How the table differs from the training table."""
    before = "" if flagged_before is None else f", {flagged_before:.2%} in training"
    out.print(f"Flagged: {flagged:.2%} of the rows{before}")
    notable = [entry for entry in drift if entry.is_notable]
    if not notable:
        out.print("No column differs from training: no value out of range, no category unseen.")
    for entry in notable:
        out.print(f"  {entry.column}: {'; '.join(_differences(entry))}")


def _differences(entry: Any) -> list[str]:
    parts = []
    if entry.out_of_range:
        parts.append(f"{entry.out_of_range:.2%} of the values out of the training range")
    if entry.unseen_share:
        shown = ", ".join(entry.unseen[:3]) + (", ..." if len(entry.unseen) > 3 else "")
        parts.append(f"{entry.unseen_share:.2%} of the rows with categories never seen ({shown})")
    if entry.missing_now != entry.missing_before:
        parts.append(f"missing {entry.missing_now:.2%}, {entry.missing_before:.2%} in training")
    return parts
