"""What ``odefs check`` finds, and its forms: text, GitHub annotations, JUnit, JSON, metrics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from odefs.cli.terminal.messages import annotation
from odefs.tables import messages
from odefs.tables.messages.values import without_controls

if TYPE_CHECKING:
    from odefs.tables.records.checks import ValueCheck
    from odefs.tables.records.drift import ColumnDrift
    from odefs.tables.records.notes import Note
    from odefs.tables.table import Table

Samples = Sequence[tuple[Sequence[tuple[str, str]], float]]
"""Labels and value of each gauge of a family."""

RULES = ("flagged", "values", "drift")
MINOR_DRIFT = 0.01
"""Up to this share of the rows, drift that does not fail is not printed: a few cells of a new table
are often outside the training range.
"""


@dataclass(frozen=True)
class Finding:
    """One thing that was found, and whether it makes the check fail."""

    rule: str
    """One of ``RULES``."""
    name: str
    """What it is about: a column, a kind of value."""
    message: str
    fails: bool
    line: int | None = None
    """Line of the file at which the first of its rows begins, if that is known."""
    is_minor: bool = False
    """Whether only the formats for programs that list everything, JSON and JUnit, have it."""

    def record(self) -> dict[str, object]:
        """The finding in JSON."""
        found = asdict(self)
        del found["is_minor"]
        return found


@dataclass(frozen=True)
class Checked:
    """The results for one table."""

    table: str
    n_rows: int
    n_flagged: int
    findings: tuple[Finding, ...]
    checks: "tuple[ValueCheck, ...]"
    drift: "tuple[ColumnDrift, ...]"
    rules: tuple[str, ...]
    """Rules that can make the check fail."""
    path: str | None = None
    """The file as it was given, if it is one: annotations are shown at this file."""

    @property
    def printed(self) -> list[Finding]:
        """The findings that people read."""
        return [one for one in self.findings if not one.is_minor]

    def has_failed(self, rule: str | None = None) -> bool:
        """Whether the check failed, by one rule or by any."""
        return any(one.fails and rule in (None, one.rule) for one in self.findings)


def as_text(checked: Checked) -> str:
    """One line for each finding, failures first, and the verdict."""
    lines = [
        f"{'FAILED' if one.fails else 'note'} {one.rule}: {one.message}"
        for one in sorted(checked.printed, key=lambda one: not one.fails)
    ]
    failed = [rule for rule in RULES if checked.has_failed(rule)]
    verdict = f"failed: {', '.join(failed)}" if failed else "passed"
    counts = f"{messages.count(checked.n_rows, 'row')}, {checked.n_flagged:,} flagged"
    return "\n".join([*lines, f"{without_controls(checked.table)}: {verdict} ({counts})."]) + "\n"


def as_annotations(checked: Checked) -> str:
    """Commands by which GitHub Actions shows annotations: errors for failures, else warnings."""
    file = checked.path or checked.table
    return "".join(
        annotation("error" if one.fails else "warning", one.rule, one.message, file, one.line)
        for one in checked.printed
    )


def as_junit(checked: Checked) -> str:
    """A test suite with one case for each finding, and one for each rule without any."""
    cases = [
        *checked.findings,
        # A rule without findings has passed. Without a case of its own it would not be listed.
        *(
            Finding(rule, rule, "", False)
            for rule in checked.rules
            if not any(one.rule == rule for one in checked.findings)
        ),
    ]
    n_failures = sum(one.fails for one in cases)
    counts = {"tests": len(cases), "failures": n_failures, "errors": 0, "skipped": 0}
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": f"odefs check {without_controls(checked.table)}",
            **{name: str(number) for name, number in counts.items()},
        },
    )
    for one in cases:
        # XML 1.0 has no form for control characters: ElementTree would write them as they are, and
        # no parser would read the file.
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"odefs.{one.rule}", name=without_controls(one.name)
        )
        if one.fails:
            text = without_controls(one.message)
            ElementTree.SubElement(case, "failure", message=text, type=one.rule).text = text
        elif one.message:
            ElementTree.SubElement(case, "system-out").text = without_controls(one.message)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def as_document(checked: Checked) -> dict[str, object]:
    """The result for ``--json``."""
    from odefs.report.checks import collect_checks
    from odefs.tables.drift import as_plain

    checks = collect_checks(checked.checks)
    return {
        "table": checked.table,
        "rows": checked.n_rows,
        "flagged": checked.n_flagged,
        "passed": not checked.has_failed(),
        "rules": list(checked.rules),
        "findings": [one.record() for one in checked.findings],
        "checks": checks,
        "checks_omitted": len(checked.checks) - len(checks),
        "drift": as_plain(list(checked.drift)),
    }


FORMATS = {"text": as_text, "github": as_annotations, "junit": as_junit}


def as_metrics(checked: Checked) -> str:
    """Gauges in the text format of Prometheus, as its node exporter reads them from a file."""
    table = ("table", checked.table)
    share = checked.n_flagged / max(checked.n_rows, 1)
    drift = [
        ([table, ("column", entry.column), ("kind", kind)], value)
        for entry in checked.drift
        for kind, value in (
            ("out_of_range", entry.out_of_range),
            ("unseen", entry.unseen_share),
            ("missing_change", entry.missing_now - entry.missing_before),
            ("shift", entry.shift),
        )
    ]
    families: list[tuple[str, str, Samples]] = [
        ("odefs_rows", "Rows of the table.", [([table], checked.n_rows)]),
        ("odefs_flagged_rows", "Rows that the model flags.", [([table], checked.n_flagged)]),
        ("odefs_flagged_ratio", "Share of the rows that are flagged.", [([table], share)]),
        (
            "odefs_values_to_check",
            "Values that are probably wrong.",
            [
                ([table, ("column", check.column or ""), ("kind", check.kind)], check.count)
                for check in checked.checks
            ],
        ),
        ("odefs_drift_ratio", "Difference from the training table, as a share of rows.", drift),
        (
            "odefs_check_failed",
            "Whether a rule of the check failed.",
            [([table, ("rule", rule)], int(checked.has_failed(rule))) for rule in checked.rules],
        ),
    ]
    return "".join(_family(*family) for family in families)


def value_findings(
    checks: "Sequence[ValueCheck]", identifier: str, lines: Mapping[int, int], fails: bool
) -> list[Finding]:
    """Findings on values, with the rows that have them.

    ``identifier`` is the column of row names, ``lines`` are those of row numbers.
    """
    return [
        Finding(
            "values",
            f"{check.column or 'rows'} {check.kind}",
            f"{check} [{messages.check_rows(check, identifier)}]",
            fails,
            lines.get(check.rows[0]) if check.rows else None,
        )
        for check in checks
    ]


def first_lines(table: "Table", checks: "Sequence[ValueCheck]") -> dict[int, int]:
    """The line of the first row of each check; empty for files without lines."""
    import numpy as np

    from odefs.tables.frames.convert import column_cells

    rows = sorted({check.rows[0] for check in checks if check.rows})
    line = table.line_column
    if line is None or not rows:
        return {}
    found = table.take(np.array(rows), [line])
    return dict(zip(rows, map(int, column_cells(found, line)), strict=True))


def drift_findings(drift: "Iterable[ColumnDrift]", allowed: float, fails: bool) -> list[Finding]:
    """Findings on columns that differ from training; those within the allowed share only inform."""
    return [
        _drift_finding(entry, fails and entry.largest > allowed)
        for entry in drift
        if entry.is_notable
    ]


def _drift_finding(entry: "ColumnDrift", fails: bool) -> Finding:
    is_minor = not fails and entry.largest <= MINOR_DRIFT
    return Finding("drift", entry.column, messages.drift(entry), fails, is_minor=is_minor)


def column_findings(notes: "Iterable[Note]") -> list[Finding]:
    """Findings on columns that the model lacks, which never make a check fail."""
    return [
        Finding("drift", "columns", messages.note_message(note), False)
        for note in notes
        if note.kind == "unused_columns"
    ]


def _family(name: str, what: str, samples: Samples) -> str:
    if not samples:
        return ""
    lines = [f"# HELP {name} {what}", f"# TYPE {name} gauge"]
    for labels, value in samples:
        text = ",".join(f'{key}="{_label(cell)}"' for key, cell in labels)
        lines.append(f"{name}{{{text}}} {value:.10g}")
    return "\n".join(lines) + "\n"


def _label(text: str) -> str:
    # Escapes of Prometheus' text format; the backslash first, since the others introduce it.
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
