"""Rows that a detection holds: all rows in memory, otherwise top-ranked and sampled ones.

Of a larger table a detection knows the scores of all rows, and holds those with the highest scores
and a random sample that represents all rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from odefs.ensemble.model import RowScores
from odefs.kernels.row_reductions import row_chunks
from odefs.tables.encoder.encode import ENCODED
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.flagging import Flagging
from odefs.tables.frames.columns import Columns
from odefs.tables.frames.time_zones import SeenZones
from odefs.tables.records.notes import Note, Provenance
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import Extent, name_rows, table_index
from odefs.tables.table import Table

TOP_ROWS, DRAWN_ROWS, FLAGGED_ROWS = 20_000, 20_000, 1_000
"""Rows held of a larger table: highest scores, a sample of all rows, a sample of flagged rows."""
HELD_BYTES = 2**28
"""Memory limit for top-ranked rows, and for the sample: of wide tables fewer rows are held."""
MIN_HELD_ROWS = 2_000


@dataclass(eq=False)
class EncodedRows:
    """All rows of a table as numbers: a matrix with its columns, or blocks that can be reread."""

    X: Any
    columns: Columns | None = None
    """Columns of the matrix, for tables in memory."""
    formats: Mapping[str, str] = field(default_factory=dict)
    """Formats of text columns that had another type in training."""
    zones: SeenZones = field(default_factory=SeenZones)
    """Time zones of all rows, if these are blocks: known as soon as they have been read."""


def hold_rows(
    table: Table,
    model: Any,
    encoder: ColumnEncoder,
    found: RowScores,
    flagging: Flagging,
    rows: EncodedRows,
    *,
    id: str | None,
    hidden: frozenset[str],
    notes: list[Note],
    run: Provenance,
    top: int,
    seed: int = 0,
    judged_by: int | None = None,
) -> TableDetection:
    """Make a detection; ``judged_by`` is the number of rows the columns were learned from."""
    scores, agreement, part = found.scores, found.agreement, None
    columns, X = rows.columns, rows.X
    numbers = None
    if columns is None:
        part = _choose_rows(encoder, found, flagging, top, seed, judged_by)
        numbers = part.numbers
        held = table.column_rows(numbers, encoder.input_columns)
        # Text of the held rows may have a single offset, and the table several.
        columns = encoder.recognised(held, rows.formats).in_zones(rows.zones.of_columns())
        X = encoder.encode_table(columns)
        scores, agreement = (
            np.asarray(scores[numbers]),
            None if agreement is None else np.asarray(agreement[numbers]),
        )
        is_outlier = np.asarray(flagging.is_outlier[numbers])
        flagging = Flagging(is_outlier, flagging.threshold, flagging.convention)
    identifier, names = name_rows(table, id, numbers)
    return TableDetection(
        model,
        encoder,
        columns,
        X,
        scores,
        flagging,
        identifier,
        names,
        encoder.left_out_,
        notes,
        table_index(table),
        hidden,
        run=run,
        named=id is not None,
        agreement=agreement,
        part=part,
        formats=rows.formats,
        origin=table,
    )


def _choose_rows(
    encoder: ColumnEncoder,
    found: RowScores,
    flagging: Flagging,
    top: int,
    seed: int,
    judged_by: int | None,
) -> Extent:
    scores, n_rows = found.scores, found.scores.size
    width = len(encoder.get_feature_names_out())
    # Cells as columns (8 bytes) and encoded: one column of text has up to 50 encoded ones.
    room = max(MIN_HELD_ROWS, HELD_BYTES // (8 * len(encoder.columns) + ENCODED.itemsize * width))
    first = top_rows(scores, max(top, min(TOP_ROWS, room)))
    size = min(DRAWN_ROWS, room, n_rows)
    # The second number keeps this draw apart from those of other steps with the same seed.
    drawn = np.random.default_rng([seed, 8]).choice(n_rows, size=size, replace=False)
    flagged = draw_flagged(flagging.is_outlier, FLAGGED_ROWS, seed)
    numbers = np.unique(np.concatenate([first, drawn, flagged]))
    order, drawn, flagged = (
        np.searchsorted(numbers, rows) for rows in (first, np.sort(drawn), flagged)
    )
    return Extent(
        scores, flagging.is_outlier, found.agreement, numbers, order, drawn, flagged, judged_by
    )


def top_rows(scores: np.ndarray, n: int) -> np.ndarray:
    """Return the numbers of the ``n`` highest scores, highest first; ties in table order."""
    # Chunk by chunk: the scores may be in a file that is larger than memory.
    found = np.empty(0, dtype=np.int64)
    for part in row_chunks(scores.size):
        here = np.argsort(-scores[part], kind="stable")[:n] + part.start
        both = np.concatenate([found, here])
        found = both[np.argsort(-scores[both], kind="stable")[:n]]
    return found


def draw_flagged(is_outlier: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Draw at most ``n`` flagged rows at random, and return their numbers in ascending order."""
    total = sum(int(np.count_nonzero(is_outlier[part])) for part in row_chunks(is_outlier.size))
    chosen = np.sort(
        np.random.default_rng([seed, 9]).choice(total, size=min(n, total), replace=False)
    )
    found, before = [np.empty(0, dtype=np.int64)], 0
    for part in row_chunks(is_outlier.size):
        here = np.flatnonzero(is_outlier[part]) + part.start
        found.append(here[chosen[(chosen >= before) & (chosen < before + here.size)] - before])
        before += here.size
    return np.concatenate(found)
