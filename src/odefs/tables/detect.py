"""Outlier detection and scoring of tables of any size, from files or data frames.

A table in memory is encoded into one matrix. A larger one is encoded batch by batch and fitted in
passes over a file, and the detection holds some of its rows
(:mod:`odefs.tables.results.displayed_rows`). Scores are bit-for-bit the same.
"""

import math
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from odefs._progress import report_progress, stage
from odefs.engines.row_blocks import RowBlocks
from odefs.ensemble.model import RowScores
from odefs.exceptions import TableError
from odefs.inspection.conformal import LEVEL, Reference
from odefs.kernels.row_reductions import count_and_mean, percentile_of_known
from odefs.models.base import OutlierModel
from odefs.models.odefs import ODEFSMethod
from odefs.models.select_engine import judge_rows
from odefs.system.tempfiles import temporary_folder
from odefs.tables.checks import find_checks
from odefs.tables.drift import DriftCounts
from odefs.tables.encoder.encode import ENCODED
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.groups import group_columns, require_group_columns, unknown_note
from odefs.tables.encoder.learning import SAMPLE_ROWS, learn_encoder
from odefs.tables.encoder.missing import Lost
from odefs.tables.flagging import flag_rows, model_convention, with_extreme_values
from odefs.tables.frames.columns import Columns
from odefs.tables.frames.time_zones import SeenZones
from odefs.tables.messages import no_columns
from odefs.tables.reasons.training_rows import TrainingRows, get_training
from odefs.tables.records.drift import ColumnDrift
from odefs.tables.records.notes import Exclusion, FlagConvention, Note, Provenance
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import with_names
from odefs.tables.results.hold_rows import EncodedRows, hold_rows
from odefs.tables.table import Table

BLOCK_BYTES = 2**24
"""Size of the blocks in which encoded rows are read from a file."""


class NoColumnsError(TableError):
    """No column of a table can be used; ``left_out`` has the reasons."""

    def __init__(
        self,
        left_out: Mapping[str, Exclusion],
        other_sheets: Sequence[str] = (),
        delimiter: str | None = None,
    ) -> None:
        super().__init__(no_columns(left_out, other_sheets, delimiter))
        self.left_out, self.other_sheets, self.delimiter = left_out, other_sheets, delimiter

    def __reduce__(self) -> tuple[object, ...]:
        # By default an exception is unpickled from its message, which is not what it takes.
        return type(self), (self.left_out, self.other_sheets, self.delimiter)


def detect_table(
    table: Table,
    model: OutlierModel,
    encoder: ColumnEncoder,
    *,
    id: str | None = None,
    ignore: Sequence[str] = (),
    known: Mapping[str, np.ndarray] | None = None,
    contamination: float | None = None,
    threshold: float | None = None,
    flag: int | None = None,
    hide: Sequence[str] = (),
    top: int = 10,
    seed: int = 0,
    checks: bool = True,
) -> TableDetection:
    """Fit encoder and model to a table, and flag its rows.

    ``known`` are the keyword arguments of :meth:`ODEFS.fit`, ``ignore`` columns to exclude, ``top``
    the number of highest-scoring rows that the detection must hold, ``checks`` whether to look for
    values to check.
    """
    _adapt(encoder, model)
    table.require_columns((*([] if id is None else [id]), *hide, *ignore))
    require_group_columns(group_columns(encoder.by), table.names)
    names = [name for name in table.names if name != id and name not in ignore]
    with stage("encoding"):
        report_progress(0, 0)
        learn_encoder(encoder, table, names, seed)
        if not encoder.columns:
            raise NoColumnsError(encoder.left_out_)
    # Before the fit, and apart from it: checks do not change scores or ranks.
    to_check = []
    if checks:
        to_check = find_checks(table, encoder, names, ignore, seed, hidden=hide, id=id)
    with encoded_rows(table, encoder) as rows, stage("fitting"):
        report_progress(0, 0)
        estimator: Any = model
        estimator.fit(rows.X, **(known or {}))
    found = RowScores(model.outlier_scores_, getattr(model, "agreement_", None))
    rule = model_convention(model)
    flagging = flag_rows(found.scores, -model.offset_, rule, contamination, threshold, flag)
    shown = [check for check in to_check if not check.concerns(frozenset(hide))]
    flagging = with_extreme_values(flagging, shown)
    detection = hold_rows(
        table,
        model,
        encoder,
        found,
        flagging,
        rows,
        id=id,
        hidden=frozenset(hide),
        notes=encoder.notes_,
        run=Provenance.of_model(model, seed=seed),
        top=top,
        seed=seed,
        judged_by=min(table.n_rows, SAMPLE_ROWS),
    )
    return replace(detection, checks=with_names(to_check, detection, table), checked=checks)


def _adapt(encoder: ColumnEncoder, model: OutlierModel) -> None:
    """Let an encoder leave missing cells to a model that scores them, if it was not told."""
    if encoder.keep_missing is None:
        encoder.keep_missing = takes_missing(model)
    elif encoder.keep_missing and not takes_missing(model):
        raise TableError(
            f"the encoder keeps missing cells (keep_missing=True), which this "
            f"{type(model).__name__} does not score: set missing='ignore' on the model, or leave "
            "out keep_missing."
        )


def takes_missing(model: OutlierModel) -> bool:
    """Whether a model scores missing numbers as such; otherwise they become the median.

    With the median a row may break the relation between two columns of which it has one.
    """
    return bool(model.get_params(deep=False).get("missing") == "ignore")


@contextmanager
def encoded_rows(table: Table, encoder: ColumnEncoder) -> Iterator[EncodedRows]:
    """The encoded rows; a temporary file for them is deleted at the end of the ``with`` block."""
    if table.is_in_memory:
        _, batch = next(table.column_batches(encoder.input_columns))
        columns = encoder.recognised(batch)
        yield EncodedRows(encoder.encode_table(columns), columns)
        return
    zones = SeenZones()
    with temporary_folder() as folder:
        yield EncodedRows(_encoded_blocks(table, encoder, folder, zones), zones=zones)


def _encoded_blocks(
    table: Table, encoder: ColumnEncoder, folder: Path, zones: SeenZones
) -> RowBlocks:
    """Encoded rows, cached in a file if the disk has room, as each pass would encode them again."""
    width = len(encoder.get_feature_names_out())

    def encode() -> Iterator[np.ndarray]:
        for _, batch in table.column_batches(encoder.input_columns, width):
            columns = encoder.recognised(batch)
            zones.add(columns)
            yield encoder.encode_table(columns)

    read: Callable[[], Iterator[np.ndarray]] = encode
    # At most half of the free space: scores and flags go to files, too.
    if 2 * table.n_rows * width * ENCODED.itemsize < shutil.disk_usage(folder).free:
        path = folder / "encoded.bin"
        with stage("encoding the table"), open(path, "wb") as file:
            for block in encode():
                file.write(np.ascontiguousarray(block).data)
        height = max(1, BLOCK_BYTES // (width * ENCODED.itemsize))

        def read() -> Iterator[np.ndarray]:
            with open(path, "rb") as file:
                while (cells := np.fromfile(file, dtype=ENCODED, count=height * width)).size:
                    yield cells.reshape(-1, width)

    return RowBlocks(read, width, ENCODED, None, table.n_rows)


def score_table(
    table: Table,
    model: OutlierModel,
    encoder: ColumnEncoder,
    *,
    id: str | None = None,
    contamination: float | None = None,
    threshold: float | None = None,
    flag: int | None = None,
    hide: Sequence[str] = (),
    top: int = 10,
    reference: Reference | None = None,
    level: float = LEVEL,
    training: TrainingRows | None = None,
) -> tuple[TableDetection, list[ColumnDrift]]:
    """Score another table with a fitted model and encoder, and measure its drift from training.

    One pass encodes each cell independently and counts the differences from training. With a
    ``reference``, rows are flagged by their p-values and the share ``level`` of false discoveries.
    Reasons compare the rows with the ``training`` rows of the model file.
    """
    table.require_columns([] if id is None else [id])
    encoder.require_columns([name for name in table.names if name != id])
    with stage("scoring"):
        report_progress(0, 0)
        reader = _ScoredRows(table, encoder)
        rows = EncodedRows(reader.encoded(), reader.columns, reader.formats, reader.zones)
        found = judge(model, rows.X)
    rule, default = model_convention(model, by_training=True), -model.offset_
    if reference is not None:
        rule = FlagConvention("reference", share=level, n_rows=reference.scores.size)
        default = _finite(reference.threshold(found.scores, level), found.scores)
    flagging = flag_rows(found.scores, default, rule, contamination, threshold, flag)
    # Cells that cannot be read are counted in the pass that scores the rows.
    reader.require_readable()
    hidden = frozenset(hide)
    scored = hold_rows(
        table,
        model,
        encoder,
        found,
        flagging,
        rows,
        id=id,
        hidden=hidden,
        notes=[*reader.notes(), *_unused_columns(table, encoder, {*hide, id})],
        run=Provenance(),
        top=top,
    )
    training = get_training(None, {}, encoder.specs_) if training is None else training
    return replace(scored, reference=reference, training=training), reader.drift()


def _finite(threshold: float, scores: np.ndarray) -> float:
    """Return a threshold that flags the same rows; infinity would flag none of them, or all."""
    if math.isfinite(threshold):
        return threshold
    count, _ = count_and_mean(scores)
    extreme = percentile_of_known(scores, count, 100.0 if threshold > 0 else 0.0) if count else 0.0
    return extreme if threshold > 0 else math.nextafter(extreme, -math.inf)


class _ScoredRows:
    """Rows of another table, encoded batch by batch; the same pass counts drift."""

    def __init__(self, table: Table, encoder: ColumnEncoder) -> None:
        self.table, self.encoder = table, encoder
        sample = table.column_rows(np.arange(min(table.n_rows, SAMPLE_ROWS)), encoder.input_columns)
        self.formats = encoder.formats_of(sample)
        self.columns: Columns | None = None
        self.zones = SeenZones()
        self._drift = [DriftCounts() for _ in encoder.specs_]
        self._unreadable = [Lost() for _ in encoder.specs_]
        self._infinite = [0 for _ in encoder.specs_]
        self._of_unknown_groups = 0

    def encoded(self) -> np.ndarray | RowBlocks:
        """A matrix for a table in memory, otherwise blocks; reading twice would count twice."""
        if self.table.is_in_memory:
            return next(self._blocks())
        width = len(self.encoder.get_feature_names_out())
        return RowBlocks(self._blocks, width, ENCODED, None, self.table.n_rows)

    def _blocks(self) -> Iterator[np.ndarray]:
        encoder = self.encoder
        for _, given in self.table.column_batches(
            encoder.input_columns, len(encoder.get_feature_names_out())
        ):
            read = encoder.recognised(given, self.formats)
            self.zones.add(read)
            counters = zip(self._drift, self._unreadable, encoder.specs_, read, strict=True)
            for drift, unreadable, spec, column in counters:
                drift.add(spec, column)
                unreadable.add_text(given[spec.name], column, encoder.na_words)
            for k, column in enumerate(read):
                self._infinite[k] += column.n_infinite
            if read.groups is not None and encoder.groups_ is not None:
                self._of_unknown_groups += int((read.groups == encoder.groups_.unknown).sum())
            if self.table.is_in_memory:
                self.columns = read
            yield encoder.encode_table(read)

    def require_readable(self) -> None:
        """Raise TableError for a column most of whose text does not match its type in training."""
        for spec, lost in zip(self.encoder.specs_, self._unreadable, strict=True):
            lost.require_few(spec.name, spec.kind, spec.style)

    def notes(self) -> list[Note]:
        """Notes on infinite cells and on rows of unknown groups, if there are any."""
        infinite = [
            Note("infinite_cells", spec.name, count=count)
            for spec, count in zip(self.encoder.specs_, self._infinite, strict=True)
            if count
        ]
        groups = self.encoder.groups_
        unknown = [] if groups is None else unknown_note(groups, self._of_unknown_groups)
        return [*infinite, *unknown]

    def drift(self) -> list[ColumnDrift]:
        return [
            counts.drift(spec)
            for counts, spec in zip(self._drift, self.encoder.specs_, strict=True)
        ]


def _unused_columns(
    table: Table, encoder: ColumnEncoder, others: Collection[str | None]
) -> list[Note]:
    """A note on columns that the training table lacked; ``others`` have another use."""
    known = {*map(str, encoder.feature_names_in_), *encoder.input_columns, *others}
    unused = tuple(name for name in table.names if name not in known)
    return [Note("unused_columns", columns=unused, count=len(unused))] if unused else []


def judge(model: OutlierModel, X: np.ndarray | RowBlocks) -> RowScores:
    """Scores of encoded rows, and the agreement for models that provide it."""
    return (
        judge_rows(model, X)
        if isinstance(model, ODEFSMethod)
        else RowScores(model.outlier_scores(X))
    )
