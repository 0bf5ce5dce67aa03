"""Outliers of a table that is larger than memory: encoder from a sample, fit in passes, scores in a file.

What comes back is a detection of the rows with the highest scores and of others drawn at random, which knows the scores of all (:mod:`odefs.tables.displayed_rows`).
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from odefs._progress import stage
from odefs.engines.row_blocks import RowBlocks
from odefs.ensemble.combine import RowScores
from odefs.exceptions import TableError
from odefs.system.tempfiles import temporary_folder
from odefs.tables.detection import Detection
from odefs.tables.encoder.encode import ENCODED
from odefs.tables.encoder.encoder import TableEncoder
from odefs.tables.encoder.learning import SAMPLE_ROWS, learn_large
from odefs.tables.flagging import flag_rows, model_convention
from odefs.tables.known_cases import known_note, known_rows
from odefs.tables.large import LargeTable
from odefs.tables.large_cells import recognised_batches
from odefs.tables.large_rows import hold_rows
from odefs.tables.notes import Note


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
    with temporary_folder() as folder:
        model.fit(encoded_blocks(table, encoder, folder), **(known or {}))
    rule = model_convention(model)
    flagging = flag_rows(model.outlier_scores_, -model.offset_, rule, contamination, threshold, flag)
    with stage("reading the foremost rows"):
        return hold_rows(
            table,
            model,
            encoder,
            RowScores(model.outlier_scores_, getattr(model, "agreement_", None)),
            flagging,
            id=id,
            hidden=frozenset(hide),
            notes=encoder.notes_,
            top=top,
            seed=seed,
            judged_by=min(table.n_rows, SAMPLE_ROWS),
        )


def require_columns(table: LargeTable, names: Sequence[str]) -> None:
    """Refuse names that no column has."""
    for name in names:
        if name not in table.names:
            raise TableError(f"there is no column {name!r}; the columns are {', '.join(table.names)}.")


def known_cases(table: LargeTable, column: str) -> tuple[dict[str, np.ndarray], Note]:
    """Rows of the known outliers and of the known ordinary rows, and a note on them."""
    require_columns(table, [column])
    none = np.empty(0, dtype=np.intp)
    found = [(none, none)]
    for start, part in table.batches([column]):
        found.append(known_rows(part.column(0).to_pylist(), column, start))
    outliers, normal = (np.concatenate(kind) for kind in zip(*found, strict=True))
    return {"known_outliers": outliers, "known_normal": normal}, known_note(column, outliers, normal)


def encoded_blocks(table: LargeTable, encoder: TableEncoder, folder: Path) -> RowBlocks:
    """The encoded rows, kept in a file where there is room for it: each pass would encode them anew otherwise."""
    width = len(encoder.get_feature_names_out())

    def encode() -> Iterator[np.ndarray]:
        for _, read in recognised_batches(table, encoder):
            yield encoder.encode_table(read)

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
