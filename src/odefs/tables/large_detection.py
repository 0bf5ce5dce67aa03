"""Outliers of a table that is larger than memory: encoder from a sample, fit in passes, scores in a file, reasons for the foremost rows."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from odefs._ops.stretches import stretches
from odefs._progress import stage
from odefs.engines.blocks import RowBlocks
from odefs.tables.columns import TableError
from odefs.tables.detection import Detection, split_identifier
from odefs.tables.encoder import ENCODED, TableEncoder
from odefs.tables.flags import Flagging, flag_rows
from odefs.tables.frames import table_of
from odefs.tables.known import known_rows, say_known
from odefs.tables.large import LargeTable
from odefs.tables.learning import learn_large

SHOWN_ROWS = 5000
"""Ordinary rows beside the foremost ones, to say where a value lies in its column."""


@dataclass(frozen=True, eq=False)
class LargeDetection:
    """Scores of all rows, in a file; ``foremost`` is a detection of the highest scores and a sample of other rows, and has the reasons."""

    table: LargeTable
    model: Any
    encoder: TableEncoder
    scores: np.ndarray
    flagging: Flagging
    identifier: str | None
    foremost: Detection
    agreement: np.ndarray | None = None


def detect_large(
    table: LargeTable,
    model: Any,
    *,
    id: str | None = None,
    known: str | None = None,
    ignore: Sequence[str] = (),
    contamination: float | None = None,
    threshold: float | None = None,
    flag: int | None = None,
    hide: Sequence[str] = (),
    top: int = 10,
    seed: int = 0,
    **encoding: Any,
) -> LargeDetection:
    """Fit the model to the table in passes over its files; ``known`` names a column of known cases."""
    ignore = [*ignore, *([known] if known else [])]
    unknown = [name for name in (*([id] if id else []), *hide, *ignore) if name not in table.schema.names]
    if unknown:
        raise TableError(f"there is no column {unknown[0]!r}; the columns are {', '.join(table.schema.names)}.")
    columns = [name for name in table.schema.names if name != id and name not in ignore]
    cases = {} if known is None else _known_cases(table, known)
    encoder = TableEncoder(**encoding)
    with stage("learning what the columns hold"):
        learn_large(encoder, table, columns, seed)
    with tempfile.TemporaryDirectory(prefix="odefs-") as folder:
        model.fit(encoded_blocks(table, encoder, Path(folder)), **cases)
    scores = model.outlier_scores_
    flagging = flag_rows(scores, -model.offset_, model.contamination, contamination, threshold, flag)
    if known is not None:
        encoder.notes_.append(say_known(known, *(rows.size for rows in cases.values())))
    foremost = _foremost(table, model, encoder, scores, flagging, id, columns, hide, top, seed)
    return LargeDetection(table, model, encoder, scores, flagging, id, foremost, getattr(model, "agreement_", None))


def _known_cases(table: LargeTable, column: str) -> dict[str, np.ndarray]:
    """Rows of the known outliers and of the known ordinary rows."""
    cells = (cell for _, part in table.batches([column]) for cell in part.column(0).to_pylist())
    outliers, normal = known_rows(cells, column)
    return {"known_outliers": outliers, "known_normal": normal}


def encoded_blocks(table: LargeTable, encoder: TableEncoder, folder: Path) -> RowBlocks:
    """The encoded rows, kept in a file where there is room for it: each pass would encode them anew otherwise."""
    width = len(encoder.get_feature_names_out())
    columns = encoder.columns

    def encode() -> Iterator[np.ndarray]:
        for _, part in table.batches(columns):
            yield encoder.encode_table(encoder.recognised(table_of(part)))

    read: Callable[[], Iterator[np.ndarray]] = encode
    n_bytes = table.n_rows * width * ENCODED.itemsize
    if 2 * n_bytes < shutil.disk_usage(folder).free:
        path = folder / "encoded.bin"
        with stage("encoding the table"), open(path, "wb") as file:
            for block in encode():
                file.write(block.tobytes())
        height = max(1, 2**24 // (width * ENCODED.itemsize))

        def read() -> Iterator[np.ndarray]:
            with open(path, "rb") as file:
                while (cells := np.fromfile(file, dtype=ENCODED, count=height * width)).size:
                    yield cells.reshape(-1, width)

    return RowBlocks(read, width, ENCODED, None, table.n_rows)


def highest(scores: np.ndarray, n: int) -> np.ndarray:
    """Numbers of the rows with the ``n`` highest scores, in the order of the table."""
    found = np.empty(0, dtype=np.int64)
    for part in stretches(scores.size):
        here = np.argsort(-scores[part], kind="stable")[:n] + part.start
        both = np.concatenate([found, here])
        found = both[np.argsort(-scores[both], kind="stable")[:n]]
    return np.sort(found)


def _foremost(
    table: LargeTable,
    model: Any,
    encoder: TableEncoder,
    scores: np.ndarray,
    flagging: Flagging,
    id: str | None,
    columns: Sequence[str],
    hide: Sequence[str],
    top: int,
    seed: int,
) -> Detection:
    size = min(SHOWN_ROWS, table.n_rows)
    others = np.random.default_rng([seed, 8]).choice(table.n_rows, size=size, replace=False)
    rows = np.union1d(highest(scores, max(10 * top, 100)), others)
    identifier, names, part = split_identifier(table.rows(rows, [*([id] if id else []), *columns]), id)
    used = encoder.recognised(part)
    return Detection(
        model,
        encoder,
        used,
        encoder.encode_table(used),
        np.asarray(scores[rows]),
        Flagging(np.asarray(flagging.is_outlier[rows]), flagging.threshold, flagging.convention),
        identifier,
        names if id else (rows + 1).tolist(),
        encoder.left_out_,
        encoder.notes_,
        hidden=frozenset(hide),
        named=id is not None,
        agreement=np.asarray(model.agreement_[rows]) if hasattr(model, "agreement_") else None,
    )
