"""A table that is larger than memory under a saved model: one pass for scores and drift, scores in a file.

The encoder is the model's and every cell is read by itself, so a row's score is that of the run in memory wherever batches are cut.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from odefs._progress import stage
from odefs.engines.row_blocks import RowBlocks
from odefs.tables.columns import Columns
from odefs.tables.detection import Detection, judge
from odefs.tables.drift import ColumnDrift, DriftCounts
from odefs.tables.encoder.encode import ENCODED
from odefs.tables.encoder.encoder import TableEncoder
from odefs.tables.encoder.missing import Lost
from odefs.tables.flagging import flag_rows, model_convention
from odefs.tables.large import LargeTable
from odefs.tables.large_cells import recognised_batches
from odefs.tables.large_detection import require_columns
from odefs.tables.large_rows import hold_rows


@dataclass
class _Seen:
    """What is counted of a column while its rows are scored."""

    drift: DriftCounts = field(default_factory=DriftCounts)
    lost: Lost = field(default_factory=Lost)


def score_large(
    table: LargeTable,
    model: Any,
    encoder: TableEncoder,
    *,
    id: str | None = None,
    contamination: float | None = None,
    threshold: float | None = None,
    flag: int | None = None,
    hide: Sequence[str] = (),
    top: int = 10,
) -> tuple[Detection, list[ColumnDrift]]:
    """The rows of another table under a fitted model and encoder, and how the table differs from the training table, by all rows."""
    require_columns(table, [id] if id else [])
    encoder.require_columns([name for name in table.names if name != id])
    seen = [_Seen() for _ in encoder.specs_]

    def read() -> Iterator[np.ndarray]:
        for given, part in recognised_batches(table, encoder):
            _look_at(seen, encoder, given, part)
            yield encoder.encode_table(part)

    with stage("scoring"):
        # One pass, so that each row is counted once.
        judged = judge(model, RowBlocks(read, len(encoder.get_feature_names_out()), ENCODED, None, table.n_rows))
    for spec, counts in zip(encoder.specs_, seen, strict=True):
        counts.lost.require_few(spec.name, spec.kind, spec.style)
    rule = model_convention(model, by_training=True)
    flagging = flag_rows(judged.scores, -model.offset_, rule, contamination, threshold, flag)
    with stage("reading the foremost rows"):
        found = hold_rows(table, model, encoder, judged, flagging, id=id, hidden=frozenset(hide), notes=[], top=top)
    return found, [counts.drift.drift(spec) for spec, counts in zip(encoder.specs_, seen, strict=True)]


def _look_at(seen: Sequence[_Seen], encoder: TableEncoder, given: Columns, read: Columns) -> None:
    for counts, spec, column in zip(seen, encoder.specs_, read, strict=True):
        counts.drift.add(spec, column)
        text = given[spec.name]
        if text.kind == "category" and spec.kind != "category":
            counts.lost.add(text, column, encoder.na)
