"""Scoring of Arrow record batches.

Spark, Ray, polars and DuckDB pass rows to Python functions in this form.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from odefs._extras import require_extra
from odefs._known_options import first_names
from odefs.ensemble.model import RowScores
from odefs.ensemble.score_percentiles import percentiles
from odefs.exceptions import TableError, UnreadableColumnWarning, warn
from odefs.models.select_engine import judge_matrix
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.missing import is_mostly_unreadable
from odefs.tables.encoder.warnings import warn_of_values
from odefs.tables.frames.convert import columns_of
from odefs.tables.messages import unreadable_column

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class BatchScorer:
    """A fitted model, and its table encoder if it has one."""

    model: Any
    encoder: ColumnEncoder | None

    def names(self, batch: "pa.RecordBatch", ids: Sequence[str]) -> list[str]:
        """The columns of a batch that the model uses."""
        if self.encoder is not None:
            return self.encoder.input_columns
        known = getattr(self.model, "feature_names_in_", None)
        return (
            [name for name in batch.schema.names if name not in ids]
            if known is None
            else [str(n) for n in known]
        )

    @property
    def has_agreement(self) -> bool:
        return hasattr(self.model, "agreement") and bool(self.model._model.has_thresholds)

    @property
    def results(self) -> list[str]:
        """Names of the output columns after the id columns."""
        has_percentiles = self.model.score_quantiles_ is not None
        optional = {"percentile": has_percentiles, "agreement": self.has_agreement}
        return ["score", *(name for name, is_there in optional.items() if is_there), "outlier"]

    def limit(self, threshold: float | None = None) -> float:
        """The score above which rows are flagged."""
        return float(-self.model.offset_ if threshold is None else threshold)

    def judged(self, batch: "pa.RecordBatch", ids: Sequence[str]) -> RowScores:
        """Scores of the rows of a record batch, and the agreement of the components."""
        import pyarrow as pa

        from odefs.engines.parquet import as_matrix, matrix_dtype

        names = self.names(batch, ids)
        held = Counter(batch.schema.names)
        absent = [name for name in (*names, *ids) if name not in held]
        if absent:
            raise TableError(
                f"the batch lacks column {absent[0]!r}; its columns are "
                f"{first_names(batch.schema.names)}."
            )
        twice = [name for name in (*names, *ids) if held[name] > 1]
        if twice:
            raise TableError(
                f"two columns of the batch are called {twice[0]!r}: give each a name of its own."
            )
        if not batch.num_rows:
            return RowScores(np.empty(0), np.empty(0) if self.has_agreement else None)
        if self.encoder is not None:
            return judge_matrix(
                self.model, _encoded(self.encoder, pa.Table.from_batches([batch]).select(names))
            )
        X = as_matrix(batch.select(names), matrix_dtype(batch.schema, names))
        return judge_matrix(self.model, X)


def _encoded(encoder: ColumnEncoder, rows: object) -> np.ndarray:
    """Encoded rows, each independent of the other rows in its batch.

    Text is read in the format of training, or as plain numbers and dates; cells that cannot be read
    are missing. Formats are not detected here, as the result would depend on the batch.
    """
    # No formats, unlike in ``score_table``: the same row must score alike in every batch.
    table = columns_of(rows)
    read = encoder.recognised(table)
    warn_of_values(encoder, read)
    for spec, column in zip(encoder.specs_, read, strict=True):
        if is_mostly_unreadable(table[spec.name], column, encoder.na_words):
            # The message contains no counts: Python then shows it once, not for every batch.
            warn(unreadable_column(spec.name, spec.kind), UnreadableColumnWarning)
    return encoder.encode_table(read)


def batch_scorer(model: object) -> BatchScorer:
    """Scorer for a model file, a fitted estimator, or a pipeline from :func:`odefs.load`."""
    if isinstance(model, BatchScorer):
        return model
    # Imported late: the command line scores without scikit-learn.
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    from odefs.tables.model_files.pipelines import load

    found = load(model) if isinstance(model, str | os.PathLike) else model
    if not isinstance(found, Pipeline):
        check_is_fitted(found)
        return BatchScorer(found, None)
    first, last = found.steps[0][1], found.steps[-1][1]
    if len(found.steps) != 2 or not isinstance(first, ColumnEncoder):
        raise TypeError(
            "score_batches takes pipelines of a TableEncoder and an estimator, as returned by "
            "odefs.load."
        )
    check_is_fitted(last)
    return BatchScorer(last, first)


def check_ids(scorer: BatchScorer, ids: Sequence[str]) -> None:
    """Raise TableError if an id column would clash with another output column."""
    for place, name in enumerate(ids):
        if name in scorer.results:
            raise TableError(
                f"the id column {name!r} is called as a result is ({', '.join(scorer.results)}): "
                "rename it, or name another one."
            )
        if name in ids[:place]:
            raise TableError(f"the id column {name!r} is named twice; once is enough.")


def _batches(given: object) -> "Iterable[pa.RecordBatch]":
    """Record batches of a batch, a table, a reader or an iterable.

    A table or a reader without rows gives one empty batch, so that the output has its columns.
    """
    import pyarrow as pa

    if isinstance(given, pa.RecordBatch):
        return [given]
    if not isinstance(given, pa.Table | pa.RecordBatchReader):
        return cast("Iterable[pa.RecordBatch]", given)
    # A query without rows gives a reader without batches, but with a schema.
    batches = iter(given.to_batches() if isinstance(given, pa.Table) else given)
    first = next(batches, None)
    if first is None:
        return [pa.RecordBatch.from_pylist([], schema=given.schema)]
    return chain([first], batches)


def score_batches(
    model: object, batches: object, id: str | Sequence[str] = (), threshold: float | None = None
) -> "Iterator[pa.RecordBatch]":
    """Score record batches one at a time.

    Parameters
    ----------
    model : str, path or fitted estimator
        A model file is loaded when the first batch is requested, so its path can be sent to
        workers.
    batches : iterable of pyarrow.RecordBatch, a pyarrow.RecordBatchReader or a pyarrow.Table
        A row's score does not depend on the division into batches: text is read as in training, or
        as plain numbers and dates for columns without text in training, and other cells are
        missing.
    id : str or sequence of str
        Columns to copy to the output; they must not have the name of another output column.
    threshold : float, optional
        Rows that score above it are flagged; by default, the threshold found in training.

    Yields
    ------
    pyarrow.RecordBatch
        One batch per input batch with the id columns, ``score`` (float64; high = abnormal, training
        rows average 1.0), ``percentile`` (float64; position among the training scores, 0 for the
        lowest and 100 for the highest; absent for model files of earlier versions), ``agreement``
        (float64; share of the components that score the row above their own threshold; absent for
        models without thresholds) and ``outlier`` (bool).

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> import odefs
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> model = odefs.ODEFS(random_state=0).fit(X)
    >>> rows = {"key": [1, 2], "a": [0.1, 9.0], "b": [0.0, 0.0], "c": [0.2, 0.1]}
    >>> batch = pa.RecordBatch.from_pydict(rows)
    >>> next(odefs.score_batches(model, [batch], id="key")).schema.names
    ['key', 'score', 'percentile', 'agreement', 'outlier']
    """
    with require_extra("score_batches", "stream"):
        import pyarrow as pa

    ids = [id] if isinstance(id, str) else list(id)
    scorer = batch_scorer(model)
    check_ids(scorer, ids)
    limit = scorer.limit(threshold)
    for batch in _batches(batches):
        if not isinstance(batch, pa.RecordBatch):
            raise TypeError(
                "batches must be a table or an iterable over record batches, and it gave "
                f"{type(batch).__name__}."
            )
        judged = scorer.judged(batch, ids)
        carried = [batch.column(batch.schema.get_field_index(name)) for name in ids]
        fields = [batch.schema.field(name) for name in ids]
        found = {
            "score": judged.scores,
            "percentile": percentiles(scorer.model.score_quantiles_, judged.scores),
            "agreement": judged.agreement,
            "outlier": judged.scores > limit,
        }
        arrays = [pa.array(found[name]) for name in scorer.results]
        named = [
            pa.field(name, array.type) for name, array in zip(scorer.results, arrays, strict=True)
        ]
        yield pa.RecordBatch.from_arrays([*carried, *arrays], schema=pa.schema([*fields, *named]))
