"""Scoring a folder of parquet files: one output per input, written atomically and only once.

An output is written under a temporary name and renamed when it is complete, so an interrupted run
can be resumed. Outputs record in their parquet metadata what they were made with and from: a folder
may contain only outputs of the same model, threshold and id columns, and an output whose input has
changed since is written again. Existing outputs count like new ones.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from odefs._known_options import first_names
from odefs._progress import report_progress, stage
from odefs.engines.parquet import no_parquet, parquet_in
from odefs.engines.row_blocks import rows_at_once
from odefs.exceptions import TableError
from odefs.system.atomic_write import delete_leftovers
from odefs.tables.scoring.batches import BatchScorer, check_ids, score_batches
from odefs.tables.writers.files import replacing

if TYPE_CHECKING:
    import pyarrow.parquet as pq

KEY = b"odefs"
WORDS = {"model": "another model", "threshold": "another threshold", "id": "other id columns"}


@dataclass(frozen=True)
class Settings:
    """What determines an output, apart from the rows."""

    model: str
    """Digest of the model file."""
    threshold: float
    id: Sequence[str]

    def noted(self, input: Sequence[int]) -> dict[bytes, bytes]:
        """Return parquet metadata; ``input`` is :func:`state_of` the file that was scored."""
        return {KEY: json.dumps({**asdict(self), "input": input}, sort_keys=True).encode()}


@dataclass(frozen=True)
class Progress:
    """Result for all partitions; rows and flags include those of existing outputs."""

    written: int
    skipped: int
    n_rows: int
    n_flagged: int
    without_input: tuple[str, ...]
    """Names of parquet files in the output folder whose input no longer exists."""

    @property
    def flagged_share(self) -> float:
        return self.n_flagged / self.n_rows if self.n_rows else 0.0


def score_partitions(
    scorer: BatchScorer,
    folder: Path,
    target: Path,
    id: Sequence[str] = (),
    threshold: float | None = None,
    force: bool = False,
    model: str = "",
) -> Progress:
    """Score every parquet file of ``folder`` into ``target``.

    Existing outputs are kept, unless ``force`` is set or their input has changed since. Outputs
    made with another threshold, other ids or another model, of which ``model`` is the digest, are
    an error.
    """
    parts = parquet_in(folder)
    if not parts:
        raise TableError(no_parquet(folder, "score these folders one by one"))
    check_ids(scorer, id)
    settings = Settings(model, scorer.limit(threshold), tuple(id))
    outputs = [target / part.name for part in parts]
    _prepare(target, folder)
    _require_apart(parts, outputs)
    if not force:
        _require_same_settings(parts, outputs, settings)
    written = skipped = n_rows = n_flagged = 0
    with stage("scoring partitions"):
        for done, (part, out) in enumerate(zip(parts, outputs, strict=True), 1):
            # Check again: another run may have written it in the meantime.
            if not force and out.exists() and is_made_from(out, part, settings):
                rows, flagged = count(out)
                skipped += 1
            else:
                rows, flagged = _score_one(scorer, part, out, settings)
                written += 1
            n_rows, n_flagged = n_rows + rows, n_flagged + flagged
            report_progress(done, len(parts))
    return Progress(written, skipped, n_rows, n_flagged, _without_input(target, outputs))


def _without_input(target: Path, outputs: Sequence[Path]) -> tuple[str, ...]:
    """Return the names of parquet files in the output folder that are no outputs."""
    own = {out.name for out in outputs}
    return tuple(path.name for path in parquet_in(target) if path.name not in own)


def _require_same_settings(
    parts: Sequence[Path], outputs: Sequence[Path], settings: Settings
) -> None:
    """Raise if an existing output was made with other settings, before any work is done."""
    for part, out in zip(parts, outputs, strict=True):
        if out.exists():
            is_made_from(out, part, settings)


def _prepare(target: Path, folder: Path) -> None:
    """Create the output folder, and delete temporary files of processes that no longer exist."""
    if target.exists() and not target.is_dir():
        raise TableError(f"{target}: this is a file, but the scores of a folder need a folder.")
    if target.exists() and target.samefile(folder):
        raise TableError(f"{target}: choose an output folder other than the input folder.")
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TableError(f"{target}: cannot be written ({error.strerror or error}).") from error
    delete_leftovers(target)


def _require_apart(parts: Sequence[Path], outputs: Sequence[Path]) -> None:
    """Raise if an output is a link to an input, which would be replaced."""
    inputs = {part.resolve() for part in parts}
    for out in outputs:
        try:
            leads_to = out.resolve()
        except (OSError, RuntimeError) as error:
            raise TableError(f"{out}: cannot be written (the link refers to itself).") from error
        if leads_to in inputs:
            raise TableError(
                f"{out}: this leads to a file that is to be scored: choose another output folder."
            )


def _score_one(scorer: BatchScorer, part: Path, out: Path, settings: Settings) -> tuple[int, int]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Read before opening, so that the next run notices a change in the meantime.
        noted = settings.noted(state_of(part))
        # Opened here: Arrow assumes that file names are UTF-8.
        with (
            open(part, "rb") as source,
            pq.ParquetFile(source, pre_buffer=False) as opened,
            replacing(out) as partial,
            open(partial, "wb") as target,
        ):
            return _write_scores(scorer, opened, target, settings, noted)
    except (pa.ArrowException, ValueError, OSError) as error:
        if isinstance(error, TableError) and str(error).startswith(str(out)):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise TableError(f"{part}: {reason.strip().splitlines()[0].rstrip('.')}.") from error


def _write_scores(
    scorer: BatchScorer,
    opened: "pq.ParquetFile",
    target: BinaryIO,
    settings: Settings,
    noted: dict[bytes, bytes],
) -> tuple[int, int]:
    """Score an opened file; return the number of its rows and of those that were flagged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows = n_flagged = 0
    id, threshold = settings.id, settings.threshold
    empty = pa.RecordBatch.from_pylist([], schema=opened.schema_arrow)
    wanted = _wanted(opened.schema_arrow.names, {*scorer.names(empty, id), *id})
    height = rows_at_once(max(len(wanted), scorer.model.n_features_in_))
    batches = opened.iter_batches(batch_size=height, columns=wanted)
    writer: Any = None
    try:
        for batch in score_batches(scorer, batches, id, threshold):
            writer = writer or pq.ParquetWriter(target, batch.schema.with_metadata(noted))
            writer.write_batch(batch)
            n_rows += batch.num_rows
            n_flagged += int(batch.column("outlier").true_count)
        if writer is None:
            first = next(score_batches(scorer, [empty.select(wanted)], id, threshold))
            writer = pq.ParquetWriter(target, first.schema.with_metadata(noted))
    finally:
        if writer is not None:
            writer.close()
    return n_rows, n_flagged


def _wanted(names: Sequence[str], needed: set[str]) -> list[str]:
    """Return the needed columns in the order of the file."""
    if absent := sorted(needed.difference(names)):
        held = first_names(names)
        raise TableError(f"the file lacks column {absent[0]!r}; its columns are {held}")
    return [name for name in names if name in needed]


def state_of(input: Path) -> list[int]:
    """Return size and modification time, which change when a file is replaced."""
    found = input.stat()
    return [found.st_size, found.st_mtime_ns]


def is_made_from(output: Path, input: Path, settings: Settings) -> bool:
    """Whether ``input`` has not changed since ``output`` was made.

    Raise if the output was made with other settings, or if its settings cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open(output, "rb") as file:
            noted = (pq.read_metadata(file).metadata or {}).get(KEY)
        there = None if noted is None else json.loads(noted)
    except (pa.ArrowException, OSError, ValueError):
        raise _refused(output, "already exists and cannot be read") from None
    if not isinstance(there, dict):
        raise _refused(
            output,
            "already exists and does not record its model, threshold and id columns",
        )
    # Through JSON, which turns tuples into lists as in the file.
    here = json.loads(settings.noted(state_of(input))[KEY])
    other = [
        words
        for name, words in WORDS.items()
        if json.dumps(there.get(name)) != json.dumps(here[name])
    ]
    if other:
        raise _refused(output, f"already exists and was made with {' and '.join(other)}")
    return bool(there.get("input") == here["input"])


def count(output: Path) -> tuple[int, int]:
    """Count the rows and flagged rows of an output."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows = n_flagged = 0
    try:
        with open(output, "rb") as file, pq.ParquetFile(file, pre_buffer=False) as opened:
            for batch in opened.iter_batches(columns=["outlier"]):
                n_rows += batch.num_rows
                n_flagged += int(batch.column("outlier").true_count)
    except (pa.ArrowException, OSError, KeyError, AttributeError):
        raise _refused(output, "already exists and its flags cannot be read") from None
    return n_rows, n_flagged


def _refused(output: Path, why: str) -> TableError:
    return TableError(
        f"{output}: the output {why}: replace all outputs with --force, or choose another folder."
    )
