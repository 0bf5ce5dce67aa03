"""Scoring from Arrow batch to Arrow batch: the form in which Spark, Ray, polars and DuckDB hand rows to a Python function."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from odefs._extras import require_extra
from odefs._warning import warn
from odefs.ensemble.combine import RowScores
from odefs.exceptions import TableError, UnreadableColumnWarning
from odefs.models.select_engine import judge_matrix
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.missing import is_mostly_unreadable
from odefs.tables.frames import columns_of
from odefs.tables.messages import unreadable_column


@dataclass(frozen=True, eq=False)
class BatchScorer:
    """A fitted model, and the encoder of its table where it has one."""

    model: Any
    encoder: ColumnEncoder | None

    def names(self, batch: Any, ids: Sequence[str]) -> list[str]:
        """The columns of a batch that the model looks at."""
        if self.encoder is not None:
            return self.encoder.columns
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
        """Names of the columns that come out, beside the ids."""
        return ["score", *(["agreement"] if self.has_agreement else []), "outlier"]

    def limit(self, threshold: float | None = None) -> float:
        """The score above which rows are flagged."""
        return float(-self.model.offset_ if threshold is None else threshold)

    def judged(self, batch: Any, ids: Sequence[str]) -> RowScores:
        """Outlyingness of the rows of a record batch, and how far components agree about it."""
        import pyarrow as pa

        from odefs.engines.parquet import as_matrix, matrix_dtype

        names = self.names(batch, ids)
        held = Counter(batch.schema.names)
        absent = [name for name in (*names, *ids) if name not in held]
        if absent:
            raise TableError(
                f"the batch lacks column {absent[0]!r}; its columns are {', '.join(batch.schema.names)}."
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


def _encoded(encoder: ColumnEncoder, rows: Any) -> np.ndarray:
    """Rows in numbers that do not depend on the rows beside them: text is read as in training or plainly, and what cannot be read is missing."""
    table = columns_of(rows)
    read = encoder.recognised(table)
    encoder.warn_unseen_categories(read)
    for spec, column in zip(encoder.specs_, read, strict=True):
        if is_mostly_unreadable(table[spec.name], column, encoder.na):
            # The sentence has no number in it, so that Python shows it once and not for every batch.
            warn(unreadable_column(spec.name, spec.kind), UnreadableColumnWarning)
    return encoder.encode_table(read)


def batch_scorer(model: Any) -> BatchScorer:
    """From a model file, a fitted estimator, or the pipeline that :func:`odefs.load` gives."""
    if isinstance(model, BatchScorer):
        return model
    # The command line scores without scikit-learn.
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    from odefs.tables.pipeline_files import load

    found = load(model) if isinstance(model, str | os.PathLike) else model
    if not isinstance(found, Pipeline):
        check_is_fitted(found)
        return BatchScorer(found, None)
    first, last = found.steps[0][1], found.steps[-1][1]
    if len(found.steps) != 2 or not isinstance(first, ColumnEncoder):
        raise TypeError(
            "score_batches takes pipelines of a TableEncoder and an estimator, as odefs.load gives them."
        )
    check_is_fitted(last)
    return BatchScorer(last, first)


def check_ids(scorer: BatchScorer, ids: Sequence[str]) -> None:
    """Refuse ids whose names the output could not hold beside the others."""
    for place, name in enumerate(ids):
        if name in scorer.results:
            raise TableError(
                f"the id column {name!r} is called as a result is ({', '.join(scorer.results)}): rename it, or name another one."
            )
        if name in ids[:place]:
            raise TableError(f"the id column {name!r} is named twice; once is enough.")


def _batches(given: Any) -> Iterable[Any]:
    """Record batches of whatever holds rows; of a table without rows one without rows, so that its columns are known."""
    import pyarrow as pa

    if isinstance(given, pa.RecordBatch):
        return [given]
    if isinstance(given, pa.Table):
        return given.to_batches() or [pa.RecordBatch.from_pylist([], schema=given.schema)]
    return cast("Iterable[Any]", given)


def score_batches(
    model: Any, batches: Any, id: str | Sequence[str] = (), threshold: float | None = None
) -> Iterator[Any]:
    """Score record batches one after the other.

    Parameters
    ----------
    model : str, path or fitted estimator
        A model file is loaded when the first batch is asked for, so its name can be shipped to workers.
    batches : iterable of pyarrow.RecordBatch, or a pyarrow.Table
        A row's score does not depend on where batches are cut: text is read as in training, or as plain numbers and dates where training had no text, and cells
        that cannot be read so are missing.
    id : str or sequence of str
        Columns that go along as they are; none may be called as a result is.
    threshold : float, optional
        Rows that score above it are flagged; by default the threshold of the training rows.

    Yields
    ------
    pyarrow.RecordBatch
        The id columns, ``score`` (float64; high = abnormal, 1.0 = an ordinary row), ``agreement`` (float64; the share of the components that put the row above
        their own threshold; not for models that have none) and ``outlier`` (bool): one batch for each that comes in.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> import odefs
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> model = odefs.ODEFS(random_state=0).fit(X)
    >>> batch = pa.RecordBatch.from_pydict({"key": [1, 2], "a": [0.1, 9.0], "b": [0.0, 0.0], "c": [0.2, 0.1]})
    >>> next(odefs.score_batches(model, [batch], id="key")).schema.names
    ['key', 'score', 'agreement', 'outlier']
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
                f"batches must be a table or an iterable over record batches, and it gave {type(batch).__name__}."
            )
        judged = scorer.judged(batch, ids)
        carried = [batch.column(batch.schema.get_field_index(name)) for name in ids]
        fields = [batch.schema.field(name) for name in ids]
        found = {
            "score": judged.scores,
            "agreement": judged.agreement,
            "outlier": judged.scores > limit,
        }
        arrays = [pa.array(found[name]) for name in scorer.results]
        named = [
            pa.field(name, array.type) for name, array in zip(scorer.results, arrays, strict=True)
        ]
        yield pa.RecordBatch.from_arrays([*carried, *arrays], schema=pa.schema([*fields, *named]))
