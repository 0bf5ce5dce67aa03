"""Settings that a scored partition was made with, stored in its parquet metadata.

A folder may contain only outputs of the same model, threshold and id columns; an output whose input
has changed since is written again.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from odefs.exceptions import TableError

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
        noted = (pq.read_metadata(output).metadata or {}).get(KEY)
        there = None if noted is None else json.loads(noted)
    except (pa.ArrowException, OSError, ValueError):
        raise _refused(output, "already exists and cannot be read") from None
    if not isinstance(there, dict):
        raise _refused(
            output,
            "already exists and does not record its model, threshold and id columns",
        )
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
        with pq.ParquetFile(output, pre_buffer=False) as opened:
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
