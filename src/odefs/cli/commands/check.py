"""Check command, ``odefs check FILE --model MODEL``: a table passes or fails, for pipelines."""

from collections.abc import Sequence
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
from odefs.cli.shares import ShareType
from odefs.cli.terminal.messages import document_text, write_document
from odefs.cli.terminal.progress import progress

if TYPE_CHECKING:
    from odefs.cli.check_results import Checked, Finding
    from odefs.cli.scoring import Scored
    from odefs.tables.records.checks import ValueCheck

FAILING = ("values", "drift")
MAX_DRIFT = 0.01


class _Rules(click.ParamType):
    """``values``, ``drift`` or both, separated by a comma."""

    name = "rules"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        # click passes the default through convert() as well.
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
    type=ShareType(0, 1),
    default=MAX_DRIFT,
    show_default=True,
    metavar="SHARE",
    help="Share of a column's rows (0.05, 5%) that may lie outside the training range, be of "
    "unseen categories, differ in how many are missing, or have moved to other values (at least "
    "0.1 of the rows).",
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
@click.option("--quiet", is_flag=True, help="Print no lines of text, only errors.")
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
    from odefs.tables.error_messages import without_options

    if run.as_json and run.form != "text":
        raise click.UsageError("--json and --format are mutually exclusive: give only one of them.")
    file = run.file
    require_apart([run.metrics], [Path(file) if file != "-" else None, run.model])
    # Before any work: a model file without the share in training cannot resolve a multiple.
    allowed = allowed_share(run.limit, run.model, None)
    refuse_all(run.reading.sheet, "a check is of one table")
    # Words for missing are those of the model.
    with without_options("na"):
        with table_and_folder(file, run.reading, run.quiet) as (local, folder):
            with progress(run.quiet):
                checked = _checked(run, score_file(run, local, folder, top=1), allowed)
            checked = replace(checked, path=file if Path(file).is_file() else None)
            if run.metrics is not None:
                # The node exporter may read the file at any moment, and must not see half of it.
                with atomic_write(run.metrics) as partial:
                    partial.write_text(as_metrics(checked), encoding="utf-8", newline="\n")
        if run.as_json:
            write_document(document_text(as_document(checked)))
        elif run.form == "text":
            if not run.quiet:
                click.echo(FORMATS[run.form](checked), nl=False)
        # Programs read the other formats, so --quiet leaves them. There may be no annotations.
        elif text := FORMATS[run.form](checked):
            write_document(text)
    if checked.has_failed():
        raise SystemExit(TOO_MANY)


def _checked(run: CheckRun, scored: "Scored", allowed: float | None) -> "Checked":
    from odefs.cli.check_results import (
        Checked,
        column_findings,
        drift_findings,
        first_lines,
        value_findings,
    )
    from odefs.tables.results.displayed_rows import shown_drift, shown_names

    found, table, rules = scored.found, scored.read.table, run.rules
    checks = _value_checks(scored)
    drift = shown_drift(found, scored.drift)
    findings = [
        *_flagged_findings(run, scored, allowed),
        *value_findings(
            checks, shown_names(found)[0], first_lines(table, checks), "values" in rules
        ),
        *drift_findings(drift, run.max_drift, "drift" in rules),
        *column_findings(found.notes),
    ]
    # Far more flagged rows than in training count as drift too.
    judged = (*(["flagged"] if run.limit is not None or "drift" in rules else []), *rules)
    return Checked(
        scored.read.name,
        found.n_rows,
        found.n_flagged,
        tuple(findings),
        tuple(checks),
        tuple(drift),
        judged,
    )


def _value_checks(scored: "Scored") -> "Sequence[ValueCheck]":
    """Values of the table that are probably wrong, as they are shown."""
    from odefs.tables.checks import find_checks
    from odefs.tables.results.displayed_rows import shown_checks, with_names

    found, table, encoder = scored.found, scored.read.table, scored.model.encoder
    # As for detect, all columns of the training table: ids are left out of the model, but may be
    # repeated here. Other columns, such as labels, only tell whether a whole row is repeated.
    trained = frozenset(encoder.feature_names_in_)
    id = found.identifier if found.named else None
    names = [name for name in table.names if name in trained and name != id]
    others = [name for name in table.names if name not in trained and name != id]
    suspects = find_checks(table, encoder, names, others, hidden=found.hidden, id=id)
    return shown_checks(replace(found, checks=with_names(suspects, found, table)))


def _flagged_findings(
    run: CheckRun, scored: "Scored", allowed: float | None
) -> "Sequence[Finding]":
    """Whether too many rows are flagged: more than a limit allows, or far more than in training."""
    from odefs.cli.check_results import Finding
    from odefs.tables.messages import many_more_flagged, too_many_flagged

    limit, share = run.limit, scored.found.n_flagged / max(scored.found.n_rows, 1)
    # A limit that was given decides alone.
    if limit is not None:
        if allowed is None or share <= allowed:
            return []
        multiple = limit.given if limit.times is not None else None
        text = too_many_flagged(share, allowed, multiple)
        return [Finding("flagged", "flagged rows", text, True)]
    if not flags_many_more(scored, run.flagging):
        return []
    text = many_more_flagged(share, share_in_training(scored.model, None))
    return [Finding("flagged", "flagged rows", text, "drift" in run.rules)]
