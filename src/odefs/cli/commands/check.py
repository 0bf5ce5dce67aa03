"""Check command, ``odefs check FILE --model MODEL``: a table passes or fails, for pipelines."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odefs.cli import options
from odefs.cli.errors import reports_errors
from odefs.cli.flag_limit import (
    TOO_MANY,
    Limit,
    LimitType,
    allowed_share,
    flags_many_more,
    share_in_training,
)
from odefs.cli.option_records import as_record
from odefs.cli.scoring import ModelRun, score_file
from odefs.cli.terminal.messages import document_text, write_document
from odefs.cli.terminal.progress import progress

if TYPE_CHECKING:
    from odefs.cli.check_results import Checked
    from odefs.cli.scoring import Scored

FAILING = ("values", "drift")
MAX_DRIFT = 0.01


class _Rules(click.ParamType):
    """``values``, ``drift`` or both, separated by a comma."""

    name = "rules"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        given = tuple(part.strip() for part in str(value).split(","))
        unknown = [part for part in given if part not in FAILING]
        if unknown:
            raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(FAILING)}.")
        return given


@dataclass(frozen=True, kw_only=True)
class CheckRun(ModelRun):
    """Options of ``odefs check``."""

    limit: Limit | None
    rules: tuple[str, ...]
    max_drift: float
    form: str
    metrics: Path | None
    as_json: bool
    quiet: bool


@click.command()
@click.argument("file")
@click.option(
    "--model",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="MODEL",
    help="File written by 'odefs detect --save' for a table that is known to be good.",
)
@click.option(
    "--max-flagged",
    "limit",
    type=LimitType(),
    metavar="SHARE",
    help="Fail if more rows are flagged: a share (0.005, 0.5%) or a multiple of the share in "
    "training (2x).",
)
@click.option(
    "--fail-on",
    "rules",
    type=_Rules(),
    default=(),
    metavar="RULES",
    help="Fail on 'values' that are probably wrong, on 'drift' from the training table (of a "
    "column, or far more flagged rows), or on both (values,drift).",
)
@click.option(
    "--max-drift",
    type=click.FloatRange(0, 1),
    default=MAX_DRIFT,
    show_default=True,
    metavar="SHARE",
    help="Share of a column's rows that may lie outside the training range, be of unseen "
    "categories, differ in how many are missing, or have moved to other values (the last counts "
    "from 0.1).",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "github", "junit"]),
    default="text",
    show_default=True,
    help="Lines of text, annotations of GitHub Actions, or JUnit XML.",
)
@click.option(
    "--metrics",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write gauges in the text format of Prometheus; an existing file is replaced.",
)
@options.hide
@options.one_table
@options.jobs
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, also for errors.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@reports_errors
@as_record(CheckRun)
def command(run: CheckRun) -> None:
    """Check FILE against a saved MODEL: exit code 0 if it passes, 3 if it does not.

    Without --max-flagged and --fail-on nothing fails: the findings are printed.
    """
    from odefs.cli.check_results import FORMATS, as_document, as_metrics
    from odefs.cli.outputs import require_apart
    from odefs.cli.sheets import refuse_all
    from odefs.cli.sources import table_and_folder
    from odefs.system.atomic_write import atomic_write

    if run.as_json and run.form != "text":
        raise click.UsageError("--json and --format are mutually exclusive: give only one of them.")
    file = run.file
    require_apart(run.metrics, Path(file) if file != "-" else None, run.model)
    allowed = allowed_share(run.limit, run.model, None)
    refuse_all(run.reading.sheet, "a check is of one table")
    with table_and_folder(file, run.reading, run.quiet) as (local, folder):
        with progress(run.quiet):
            checked = _checked(run, score_file(run, local, folder, top=1), allowed)
        checked = replace(checked, path=file if Path(file).is_file() else None)
        if run.metrics is not None:
            with atomic_write(run.metrics) as partial:
                partial.write_text(as_metrics(checked), encoding="utf-8", newline="\n")
    if run.as_json:
        write_document(document_text(as_document(checked)))
    elif not run.quiet:
        click.echo(FORMATS[run.form](checked), nl=False)
    if checked.has_failed():
        raise SystemExit(TOO_MANY)


def _checked(run: CheckRun, scored: "Scored", allowed: float | None) -> "Checked":
    from odefs.cli.check_results import (
        Checked,
        Finding,
        drift_findings,
        first_lines,
        value_findings,
    )
    from odefs.tables.checks import find_checks
    from odefs.tables.displayed_rows import shown_checks, shown_drift, with_names
    from odefs.tables.messages import many_more_flagged, too_many_flagged

    found, table, encoder = scored.found, scored.read.table, scored.model.encoder
    suspects = find_checks(table, encoder, encoder.input_columns, hidden=found.hidden)
    checks = shown_checks(replace(found, checks=with_names(suspects, found, table)))
    drift = shown_drift(found, scored.drift)
    share = found.n_flagged / max(found.n_rows, 1)
    findings: list[Finding] = []
    limit, rules = run.limit, run.rules
    if limit is not None and allowed is not None and share > allowed:
        multiple = limit.given if limit.times is not None else None
        text = too_many_flagged(share, allowed, multiple)
        findings.append(Finding("flagged", "flagged rows", text, True))
    elif limit is None and flags_many_more(scored, run.flagging):
        text = many_more_flagged(share, share_in_training(scored.model, None))
        findings.append(Finding("flagged", "flagged rows", text, "drift" in rules))
    findings += value_findings(checks, first_lines(table, checks), "values" in rules)
    findings += drift_findings(drift, run.max_drift, "drift" in rules)
    judged = (*(["flagged"] if limit is not None or "drift" in rules else []), *rules)
    return Checked(
        scored.read.name,
        found.n_rows,
        found.n_flagged,
        tuple(findings),
        tuple(checks),
        tuple(drift),
        judged,
    )
