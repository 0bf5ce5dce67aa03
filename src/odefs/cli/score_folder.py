"""``odefs score MODEL DIR -o OUTDIR``: one file of scores per parquet file, as many rows as there may be."""

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from odefs.cli.guard import say_error
from odefs.cli.progress import progress

TOO_MANY = 3
NOT_HERE = (
    "sheet",
    "delimiter",
    "no_header",
    "report_path",
    "reasons",
    "with_data",
    "excel",
    "raw",
    "contamination",
    "flag",
    "hide",
    "top",
)
"""Options that need all rows at once, or another kind of file."""


def goes_to_folder(file: str, output: str | None) -> bool:
    """Whether a folder of files is to become a folder of files."""
    from odefs.tables.write import WRITABLE

    return bool(output and output != "-" and Path(file).is_dir() and not output.lower().endswith(WRITABLE))


def _is_given(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def _of_no_input(output: str, names: Sequence[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{output}: {names[0]}{more} has no input of that name (any more) and is not counted; take it away if these files are read together."


def score_folder(path: Path, folder: Path, quiet: bool, **chosen: Any) -> None:
    """Score the partitions and say what became of them."""
    from odefs.exceptions import ODEFSWarning
    from odefs.tables.batches import BatchScorer
    from odefs.tables.columns import TableError
    from odefs.tables.files import load_table_model
    from odefs.tables.partitions import score_partitions
    from odefs.tables.read import fingerprint

    asked = [name for name in NOT_HERE if _is_given(name) and (name, chosen[name]) != ("reasons", "none")]
    if asked:
        name = {"report_path": "report"}.get(asked[0], asked[0]).replace("_", "-")
        raise click.UsageError(f"--{name} is for single tables; scores of a folder take --id, --threshold and --force.")
    if not path.is_file():
        raise TableError(f"{path}: there is no such model file.")
    loaded = load_table_model(path)
    loaded.model.set_params(n_jobs=chosen["jobs"])
    identifier = chosen["identifier"] or loaded.identifier
    with warnings.catch_warnings(record=True) as told, progress(quiet):
        # The command says nothing else of what is warned about; that a column cannot be read, nobody would find out.
        warnings.filterwarnings("once", "column .* held", ODEFSWarning)
        done = score_partitions(
            BatchScorer(loaded.model, loaded.encoder),
            folder,
            Path(chosen["output"]),
            [identifier] if identifier else [],
            chosen["threshold"],
            chosen["force"],
            fingerprint(path)[1],
        )
    for message in () if quiet else told:
        say_error(str(message.message))
    if done.without_input and not quiet:
        say_error(_of_no_input(chosen["output"], done.without_input))
    if chosen["as_json"]:
        counts = {"written": done.written, "skipped": done.skipped, "rows": done.n_rows, "flagged": done.n_flagged}
        click.echo(json.dumps(counts | {"without_input": list(done.without_input)}, sort_keys=True, ensure_ascii=False))
    elif not quiet:
        skipped = f", {done.skipped} were there already" if done.skipped else ""
        click.echo(f"{chosen['output']}: {done.written} files written{skipped}.")
        if done.n_rows:
            click.echo(f"{done.n_rows:,} rows, {done.n_flagged:,} flagged ({done.flagged_share:.2%}).")
    allowed = chosen["max_flagged"]
    if allowed is not None and done.flagged_share > allowed:
        say_error(f"{done.flagged_share:.2%} of the rows are flagged, more than the {allowed:.2%} allowed.")
        raise SystemExit(TOO_MANY)
