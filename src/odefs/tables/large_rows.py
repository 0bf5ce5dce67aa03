"""The rows of a table larger than memory that a detection holds: the highest scores, and rows drawn at random that stand for all."""

from typing import Any

import numpy as np

from odefs.ensemble.combine import RowScores
from odefs.kernels.row_reductions import stretches
from odefs.tables.detection import Detection
from odefs.tables.displayed_rows import Extent
from odefs.tables.encoder.encode import ENCODED
from odefs.tables.encoder.encoder import TableEncoder
from odefs.tables.flagging import Flagging
from odefs.tables.large import LargeTable
from odefs.tables.notes import Note
from odefs.tables.row_names import split_identifier

FOREMOST_ROWS, DRAWN_ROWS, FLAGGED_ROWS = 20_000, 20_000, 1_000
"""Rows that are held: the highest scores, a sample of all rows, and one of the flagged rows."""
HELD_BYTES = 2**28
"""Of wide tables fewer rows are held, so that the foremost ones take no more than this, and the sample likewise."""
LEAST_ROWS = 2_000


def hold_rows(
    table: LargeTable,
    model: Any,
    encoder: TableEncoder,
    judged: RowScores,
    flagging: Flagging,
    *,
    id: str | None = None,
    hidden: frozenset[str] = frozenset(),
    notes: list[Note],
    top: int = 10,
    seed: int = 0,
    judged_by: int | None = None,
) -> Detection:
    """A detection that knows the scores of all rows and holds some of them; ``judged_by`` is how many rows the columns were learned from, where it was now."""
    scores, agreement, n_rows = judged.scores, judged.agreement, table.n_rows
    width = len(encoder.get_feature_names_out())
    room = max(LEAST_ROWS, HELD_BYTES // (8 * len(encoder.columns) + ENCODED.itemsize * width))
    foremost = highest(scores, max(top, min(FOREMOST_ROWS, room)))
    drawn = np.random.default_rng([seed, 8]).choice(n_rows, size=min(DRAWN_ROWS, room, n_rows), replace=False)
    flagged = draw_flagged(flagging.is_outlier, FLAGGED_ROWS, seed)
    numbers = np.unique(np.concatenate([foremost, drawn, flagged]))
    identifier, names, part = split_identifier(table.rows(numbers, [*([id] if id else []), *encoder.columns]), id)
    used = encoder.recognised(part, is_part=True)
    order, drawn, flagged = (np.searchsorted(numbers, rows) for rows in (foremost, np.sort(drawn), flagged))
    return Detection(
        model,
        encoder,
        used,
        encoder.encode_table(used),
        np.asarray(scores[numbers]),
        Flagging(np.asarray(flagging.is_outlier[numbers]), flagging.threshold, flagging.convention),
        identifier,
        names if id else (numbers + 1).tolist(),
        encoder.left_out_,
        notes,
        hidden=hidden,
        named=id is not None,
        agreement=None if agreement is None else np.asarray(agreement[numbers]),
        part=Extent(scores, flagging.is_outlier, agreement, numbers, order, drawn, flagged, judged_by),
    )


def highest(scores: np.ndarray, n: int) -> np.ndarray:
    """Numbers of the rows with the ``n`` highest scores, highest first; in the order of the table among equals."""
    found = np.empty(0, dtype=np.int64)
    for part in stretches(scores.size):
        here = np.argsort(-scores[part], kind="stable")[:n] + part.start
        both = np.concatenate([found, here])
        found = both[np.argsort(-scores[both], kind="stable")[:n]]
    return found


def draw_flagged(is_outlier: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Numbers of at most ``n`` flagged rows, drawn at random, ascending."""
    total = sum(int(np.count_nonzero(is_outlier[part])) for part in stretches(is_outlier.size))
    chosen = np.sort(np.random.default_rng([seed, 9]).choice(total, size=min(n, total), replace=False))
    found, before = [np.empty(0, dtype=np.int64)], 0
    for part in stretches(is_outlier.size):
        here = np.flatnonzero(is_outlier[part]) + part.start
        found.append(here[chosen[(chosen >= before) & (chosen < before + here.size)] - before])
        before += here.size
    return np.concatenate(found)
