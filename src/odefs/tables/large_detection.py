"""Outliers of a table that is larger than memory: encoder from a sample, fit in passes, scores in a file.

What comes back is a detection of the rows with the highest scores and of others drawn at random, which knows the scores of all (:mod:`odefs.tables.extent`).
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from odefs._ops.stretches import stretches
from odefs._progress import stage
from odefs.engines.blocks import RowBlocks
from odefs.tables.columns import TableError
from odefs.tables.detection import Detection, split_identifier
from odefs.tables.encoder import ENCODED, TableEncoder
from odefs.tables.extent import Extent
from odefs.tables.flags import Flagging, flag_rows
from odefs.tables.frames import table_of
from odefs.tables.known import known_rows, say_known
from odefs.tables.large import LargeTable
from odefs.tables.learning import SAMPLE_ROWS, learn_large

FOREMOST_ROWS, DRAWN_ROWS, FLAGGED_ROWS = 20_000, 20_000, 1_000
"""Rows that are held: the highest scores, a sample of all rows, and one of the flagged rows."""
HELD_BYTES = 2**28
"""Of wide tables fewer rows are held, so that the foremost ones take no more than this, and the sample likewise."""
LEAST_ROWS = 2_000


def detect_large(
    table: LargeTable,
    model: Any,
    *,
    id: str | None = None,
    known: dict[str, np.ndarray] | None = None,
    ignore: Sequence[str] = (),
    contamination: float | None = None,
    threshold: float | None = None,
    flag: int | None = None,
    hide: Sequence[str] = (),
    top: int = 10,
    seed: int = 0,
    **encoding: Any,
) -> Detection:
    """Fit the model to the table in passes over its files.

    ``known`` are rows as :meth:`ODEFS.fit` takes them, ``ignore`` columns that are no part of the table.
    """
    require_columns(table, (*([id] if id else []), *hide, *ignore))
    columns = [name for name in table.names if name != id and name not in ignore]
    encoder = TableEncoder(**encoding)
    with stage("learning what the columns hold"):
        learn_large(encoder, table, columns, seed)
    with tempfile.TemporaryDirectory(prefix="odefs-") as folder:
        model.fit(encoded_blocks(table, encoder, Path(folder)), **(known or {}))
    flagging = flag_rows(model.outlier_scores_, -model.offset_, model.contamination, contamination, threshold, flag)
    with stage("reading the foremost rows"):
        return _held(table, model, encoder, flagging, id, frozenset(hide), top, seed)


def require_columns(table: LargeTable, names: Sequence[str]) -> None:
    """Refuse names that no column has."""
    for name in names:
        if name not in table.names:
            raise TableError(f"there is no column {name!r}; the columns are {', '.join(table.names)}.")


def known_cases(table: LargeTable, column: str) -> tuple[dict[str, np.ndarray], str]:
    """Rows of the known outliers and of the known ordinary rows, and what to say about them."""
    require_columns(table, [column])
    none = np.empty(0, dtype=np.intp)
    found = [(none, none)]
    for start, part in table.batches([column]):
        found.append(known_rows(part.column(0).to_pylist(), column, start))
    outliers, normal = (np.concatenate(kind) for kind in zip(*found, strict=True))
    return {"known_outliers": outliers, "known_normal": normal}, say_known(column, outliers.size, normal.size)


def encoded_blocks(table: LargeTable, encoder: TableEncoder, folder: Path) -> RowBlocks:
    """The encoded rows, kept in a file where there is room for it: each pass would encode them anew otherwise."""
    width = len(encoder.get_feature_names_out())
    columns = encoder.columns

    def encode() -> Iterator[np.ndarray]:
        for _, part in table.batches(columns, width):
            yield encoder.encode_table(encoder.recognised(table_of(part), is_part=True))

    read: Callable[[], Iterator[np.ndarray]] = encode
    n_bytes = table.n_rows * width * ENCODED.itemsize
    if 2 * n_bytes < shutil.disk_usage(folder).free:
        path = folder / "encoded.bin"
        with stage("encoding the table"), open(path, "wb") as file:
            for block in encode():
                file.write(np.ascontiguousarray(block).data)
        height = max(1, 2**24 // (width * ENCODED.itemsize))

        def read() -> Iterator[np.ndarray]:
            with open(path, "rb") as file:
                while (cells := np.fromfile(file, dtype=ENCODED, count=height * width)).size:
                    yield cells.reshape(-1, width)

    return RowBlocks(read, width, ENCODED, None, table.n_rows)


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


def _held(
    table: LargeTable,
    model: Any,
    encoder: TableEncoder,
    flagging: Flagging,
    id: str | None,
    hidden: frozenset[str],
    top: int,
    seed: int,
) -> Detection:
    scores, n_rows = model.outlier_scores_, table.n_rows
    agreement = getattr(model, "agreement_", None)
    width = len(encoder.get_feature_names_out())
    room = max(LEAST_ROWS, HELD_BYTES // (8 * len(encoder.columns) + ENCODED.itemsize * width))
    foremost = highest(scores, max(top, min(FOREMOST_ROWS, room)))
    drawn = np.random.default_rng([seed, 8]).choice(n_rows, size=min(DRAWN_ROWS, room, n_rows), replace=False)
    flagged = draw_flagged(flagging.is_outlier, FLAGGED_ROWS, seed)
    numbers = np.unique(np.concatenate([foremost, drawn, flagged]))
    identifier, names, part = split_identifier(table.rows(numbers, [*([id] if id else []), *encoder.columns]), id)
    used = encoder.recognised(part, is_part=True)
    order, drawn, flagged = (np.searchsorted(numbers, rows) for rows in (foremost, np.sort(drawn), flagged))
    judged_by = min(n_rows, SAMPLE_ROWS)
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
        encoder.notes_,
        hidden=hidden,
        named=id is not None,
        agreement=None if agreement is None else np.asarray(agreement[numbers]),
        part=Extent(scores, flagging.is_outlier, agreement, numbers, order, drawn, flagged, judged_by),
    )
