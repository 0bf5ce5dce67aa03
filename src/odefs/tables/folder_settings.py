"""What the scores of a partition were made with, noted in the file itself.

Only outputs of the same model, threshold and ids may stand in one folder; one whose input has been replaced since is made anew.
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
    """What decides about an output, beside the rows."""

    model: str
    """Digest of the model file."""
    threshold: float
    id: Sequence[str]

    def noted(self, input: Sequence[int]) -> dict[bytes, bytes]:
        """The entry in the metadata of a parquet file; ``input`` is :func:`state_of` what it was made from."""
        return {KEY: json.dumps({**asdict(self), "input": input}, sort_keys=True).encode()}


def state_of(input: Path) -> list[int]:
    """Size and time of the last change: another one tells that a file was replaced."""
    found = input.stat()
    return [found.st_size, found.st_mtime_ns]


def is_made_from(output: Path, input: Path, settings: Settings) -> bool:
    """Whether ``input`` is as it was when ``output`` was made; refuses an output that was made with other settings, or that does not say with which."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        noted = (pq.read_metadata(output).metadata or {}).get(KEY)
        there = None if noted is None else json.loads(noted)
    except (pa.ArrowException, OSError, ValueError):
        raise _refused(output, "is there already and cannot be read") from None
    if not isinstance(there, dict):
        raise _refused(
            output,
            "is there already and does not say with which model, threshold and ids it was made",
        )
    here = json.loads(settings.noted(state_of(input))[KEY])
    other = [
        words
        for name, words in WORDS.items()
        if json.dumps(there.get(name)) != json.dumps(here[name])
    ]
    if other:
        raise _refused(output, f"is there already and was made with {' and '.join(other)}")
    return bool(there.get("input") == here["input"])


def count(output: Path) -> tuple[int, int]:
    """Rows and flagged rows of an output."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows = n_flagged = 0
    try:
        with pq.ParquetFile(output, pre_buffer=False) as opened:
            for batch in opened.iter_batches(columns=["outlier"]):
                n_rows += batch.num_rows
                n_flagged += int(batch.column("outlier").true_count)
    except (pa.ArrowException, OSError, KeyError, AttributeError):
        raise _refused(output, "is there already and its flags cannot be read") from None
    return n_rows, n_flagged


def _refused(output: Path, why: str) -> TableError:
    return TableError(
        f"{output}: this output {why}; --force makes all anew, another folder keeps both."
    )
