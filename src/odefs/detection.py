"""``odefs.detect``: outliers of a data frame, and the result that it returns."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import clone

from odefs._extras import require_extra
from odefs._known_options import names_its_options, no_column
from odefs._row_selection import read_rows
from odefs.estimators import ODEFS
from odefs.exceptions import TableError
from odefs.inspection.explanation import Explanation
from odefs.inspection.result_frame import Library, as_frame, library_of
from odefs.models.base import OutlierModel
from odefs.plots.shortcuts import PlotShortcuts
from odefs.report.notebook import NotebookView
from odefs.report.outlier_groups import row_kinds
from odefs.review import Review
from odefs.tables.answers.apply import with_answers
from odefs.tables.detect import detect_table
from odefs.tables.encoder.arguments import column_names, missing_words
from odefs.tables.encoder.groups import group_columns
from odefs.tables.encoder.transformer import TableEncoder
from odefs.tables.error_messages import names_arguments
from odefs.tables.flagging import require_one_rule
from odefs.tables.model_files.tables import save_detection
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import (
    name_rows,
    numbered_checks,
    row_labels,
    shown_names,
    table_index,
)
from odefs.tables.results.named_rows import rows_of_results
from odefs.tables.results.row_checks import RowChecks
from odefs.tables.table import Table, table_of
from odefs.tables.writers.columns import reason_cells

SEED = 0
"""Seed of the default model."""

if TYPE_CHECKING:
    from odefs.tables.readers.open import Reading


# eq=False, because a comparison of arrays does not give a single boolean.
@dataclass(frozen=True, eq=False, repr=False)
class Detection(NotebookView, PlotShortcuts, TableDetection):
    """Scores of all rows of a table, which of them stand out, and why.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,)
        High is abnormal; the average is 1.0.
    is_outlier : ndarray of bool
    agreement : ndarray of shape (n_rows,) or None
        Weighted share of the model's components that put the row above their own threshold;
        ``None`` for models without thresholds.
    threshold : float
        Flagged rows score above it.
    model, encoder : the fitted ``ODEFS`` and ``TableEncoder``
    table : the columns that were used, as they were read
    left_out : dict of Exclusion
        Columns that were not used, and why.
    notes : list of Note
        What was recognised: ``kind`` is a stable keyword, ``str`` gives a sentence.
    checks : list of ValueCheck
        Values that are probably wrong, most certain first: ``kind`` is a stable keyword, ``rows``
        are row numbers from 0, ``names`` the same where rows have no names, ``str`` gives a
        sentence. Scores do not depend on them.
    run : Provenance
        Command, seed, parameters and versions.
    index : the frame's own index, where it has one
    """

    library: Library | None = None
    """Data frame library of the table; ``None`` for arrays."""
    page: Path | None = None
    """Where :meth:`save_report` wrote the report of this detection; notebooks link to it."""

    @classmethod
    def of(cls, found: TableDetection, library: Library | None = None) -> Self:
        """The same result with frames, a report and scores of other rows."""
        known = {field.name: getattr(found, field.name) for field in fields(TableDetection)}
        made = cls(**known, library=library)
        return replace(made, checks=numbered_checks(made, first=0))

    def to_frame(self) -> Any:
        """All rows in the order of the table, as a frame of the library that the table came in.

        Returns
        -------
        data frame
            ``score``, ``rank`` (1 for the most outlying), ``percentile``, ``agreement`` (absent for
            models without thresholds), ``outlier``, ``kind`` (what flagged rows have in common),
            ``reasons`` and ``checks``. Kind and reasons are missing for rows that are not flagged.
            ``checks`` names the cells of a row, flagged or not, that are probably wrong, such as
            ``age = -1 (negative)``; it is missing for most rows, and absent if
            ``odefs.detect(checks=False)`` was called. A pandas frame has the table's index; other
            frames name the rows first, by the id column or the row number from 0, which
            :meth:`explain` and others take.
        """
        return self._frame(np.arange(self.scores.size), np.flatnonzero(self.is_outlier))

    def top(self, n: int = 10) -> Any:
        """The ``n`` most outlying rows, most outlying first, with columns as :meth:`to_frame`.

        All of them are explained, flagged or not; reasons are missing where no column
        contributes more than usual.
        """
        if not isinstance(n, Integral) or isinstance(n, bool) or n < 0:
            raise TableError(f"n={n!r} must be a whole number of at least 0.")
        rows = self.order[:n]
        return self._frame(rows, rows)

    def _frame(self, rows: np.ndarray, explained: np.ndarray) -> Any:
        """Rows of the table as a frame; those ``explained`` have reasons."""
        name, names = shown_names(self, first=0)
        has_index = self.index is not None
        results = {
            "score": self.scores[rows],
            "rank": self.ranks[rows],
            "percentile": self.percentiles[rows],
            "agreement": None if self.agreement is None else self.agreement[rows],
            "outlier": self.is_outlier[rows],
            **self._why(rows, explained),
            "checks": self._checks_of(rows, names),
        }
        results = {name: cells for name, cells in results.items() if cells is not None}
        if not has_index or self.named:
            name = f"{name} (id)" if name in results else name
            results = {name: [names[row] for row in rows.tolist()], **results}
        index: Any = self.index
        return as_frame(results, self.library, index[rows] if has_index else None)

    def _why(self, rows: np.ndarray, explained: np.ndarray) -> dict[str, list[str | None]]:
        """Columns that say why rows stand out: missing for rows that are not ``explained``."""
        reasons = self.reasons(explained.tolist()) if explained.size else []
        texts = reason_cells(self.hidden, self.scores.size, explained, reasons)
        kinds: dict[int, str | None] = {}
        if explained.size:
            kinds = dict(zip(explained.tolist(), row_kinds(self)(explained, reasons), strict=True))
        return {
            "kind": [kinds.get(row) for row in rows.tolist()],
            "reasons": [texts[row] for row in rows.tolist()],
        }

    def _checks_of(self, rows: np.ndarray, names: Sequence[object]) -> list[str | None] | None:
        """The values to check of each row; ``None`` if there was no search."""
        checks = RowChecks.of(self)
        if checks is None or self.origin is None:
            return None
        return checks.of_rows(self.origin, rows, names.__getitem__)

    def numbers(self, rows: object) -> np.ndarray:
        """Row numbers of what was named; also those of a frame of :meth:`top`."""
        is_frame = library_of(rows) is not None
        return rows_of_results(self, rows, self.index) if is_frame else super().numbers(rows)

    def explain(self, rows: object = None) -> Explanation:
        """Contributions of the table's columns to the scores of rows.

        Hidden columns have contributions, but no values: their cells are ``(hidden)``.

        Parameters
        ----------
        rows : int, str, or array-like of int, bool or str, or data frame, optional
            As in :meth:`reasons`; by default the flagged rows, in the order of their scores. A
            frame of :meth:`top` or :meth:`to_frame` stands for its rows:
            ``found.explain(found.top(3))``.
        """
        return replace(super().explain(rows), library=self.library)

    def score(self, frame: object) -> np.ndarray:
        """Scores of other rows with the same columns; high is abnormal, as in :attr:`scores`.

        Infinite numbers count as missing, and a warning names their columns.
        """
        encoder: Any = self.encoder
        return np.asarray(self.model.outlier_scores(encoder.transform(frame)))

    def predict(self, frame: object) -> np.ndarray:
        """-1 for other rows that score above :attr:`threshold`, 1 for those that do not."""
        return np.where(self.score(frame) > self.threshold, -1, 1)

    def with_answers(self, review: Review) -> Self:
        """The detection after a review: its model has learned from the answers.

        The review must be of this table: one that :meth:`review` has started, or one that
        :func:`odefs.load` has read from a file. A review by another model is accepted if its rows
        have the same ids or labels.
        """
        if not isinstance(review, Review):
            raise TableError(
                f"with_answers takes a review, such as the one that review() starts, not "
                f"{type(review).__name__}."
            )
        if review.n_rows != self.n_rows:
            raise TableError(
                f"the review is not of this table: it has {review.n_rows:,} rows, the table "
                f"{self.n_rows:,}."
            )
        reviewed = None if review._are_named(self._labels) else review._learner.before
        learned = with_answers(self, review.asked, review.answers, reviewed=reviewed)
        return type(self).of(learned, self.library)

    def review(self, random_state: int = 0) -> Review:
        """A review of the rows, most suspicious first, that learns from every answer.

        Rows are named as in :meth:`reasons`; :meth:`with_answers` learns from the review.
        """
        review = Review(self.model, self.X, random_state)
        review._name_rows(self._labels, self.index)
        return review

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write model and encoder to one file; :func:`odefs.load` returns them as a pipeline."""
        save_detection(self, path)


@names_its_options
@names_arguments
def detect(
    frame: object,
    *,
    table: str | None = None,
    query: str | None = None,
    id: str | int | None = None,
    model: OutlierModel | None = None,
    encoder: TableEncoder | None = None,
    by: str | Sequence[str] | None = (),
    contamination: float | Literal["auto"] | None = None,
    threshold: float | None = None,
    flag: int | None = None,
    max_false_flags: float | None = None,
    hide: str | int | Sequence[str | int] | None = (),
    known_outliers: object = None,
    known_normal: object = None,
    random_state: int | np.random.RandomState | None = SEED,
    n_jobs: int | None = None,
    checks: bool = True,
    number: str | int | Sequence[str | int] | None = (),
    category: str | int | Sequence[str | int] | None = (),
    drop: str | int | Sequence[str | int] | None = (),
    keep: str | int | Sequence[str | int] | None = (),
    na: str | float | Sequence[str | float] | None = (),
    max_categories: int = 50,
    mark_missing: bool = False,
) -> Detection:
    """Find the outliers of a data frame or a file, and explain why they stand out.

    Parameters
    ----------
    frame : data frame of pandas, polars or pyarrow, array of numbers, path or address
        Paths and addresses are those of ``odefs detect``; the table is read into memory.
    table, query : str, optional
        Table of a database, file in a zip archive or key of a JSON document, and rows of a
        database as SQL.
    id : str or int, optional
        Column that names the rows; it is not used for detection. Columns of an array are called
        x0, x1 and so on.
    by : str or sequence of str
        Columns that define groups of rows, within which values are compared: a row is then odd for
        its group. See :class:`TableEncoder`. Columns that look like noise then count in full,
        because without the levels of the groups ordinary columns do.
    model : ODEFS, optional
        An unfitted estimator with custom parameters. Where they have their defaults, ``scaling``
        is ``"none"`` here, because the encoder scales the columns, and with ``by``,
        ``noise_columns`` is ``"keep"``. Without ``missing="ignore"``, missing cells are replaced.
    random_state, n_jobs
        Seed and number of threads of the default model: None uses every core available to the
        process, whereas scikit-learn's None is one. Results do not depend on ``n_jobs``. Both are
        parameters of ``model``, if it is given.
    contamination, threshold, flag
        What to flag: a share of the rows, scores above a number, or a number of rows. By default,
        which is also ``contamination="auto"``, rows that score higher than the bulk of the scores
        explains; of fewer than 30 rows, none.
    max_false_flags : float, optional
        Expected number of flagged rows in a table of this size without outliers (default 1). Give
        at most one of these four; a rule of ``model``, such as a share, counts as one.
    hide : str, int, or sequence of str or int
        Columns that are used, but whose values are not shown: frames, explanations, plots and the
        report name them without values. :meth:`Detection.reasons` and the table have the values.
    known_outliers, known_normal : int, str, or array-like of int, bool or str, optional
        Rows known to be outliers or normal, named as in :meth:`Detection.reasons`: row numbers from
        0, a boolean mask, or labels. Labels of all rows (0 and 1) are rejected: pass ``y == 1``.
        See :meth:`ODEFS.fit`.
    checks : bool
        Whether to look for values to check, such as zeros among sizes or dates in the future.
    encoder : TableEncoder, optional
        An unfitted encoder with custom parameters.
    number, category, drop, keep, na, max_categories, mark_missing
        Parameters of :class:`TableEncoder`, if ``encoder`` is not given. One name needs no list,
        and None names nothing.

    Examples
    --------
    >>> import polars as pl
    >>> import odefs
    >>> prices = [10.0 + i % 7 for i in range(99)] + [900.0]
    >>> frame = pl.DataFrame({"shop": ["a", "b"] * 50, "price": prices})
    >>> found = odefs.detect(frame)
    >>> int(found.order[0]), found.reasons([99])[0][0].column
    (99, 'price')
    """
    # Frames of pandas may have integers as names; elsewhere names are text.
    number, category = column_names("number", number), column_names("category", category)
    drop, keep, hide = (
        column_names(name, given)
        for name, given in (("drop", drop), ("keep", keep), ("hide", hide))
    )
    is_default = isinstance(contamination, str) and contamination == "auto"
    share: Any = None if is_default else contamination
    _require_estimators(model, encoder, random_state, n_jobs)
    require_one_rule(share, threshold, flag, max_false_flags, model)
    own = TableEncoder(
        number=number,
        category=category,
        drop=drop,
        keep=keep,
        na=missing_words("na", na),
        max_categories=max_categories,
        mark_missing=mark_missing,
        by=group_columns(by),
    )
    encoder = own if encoder is None else _alone(encoder, own)
    encoder.require_consistent(None if id is None else str(id))
    named = [*number, *category, *drop, *keep, *hide]
    read = _read(frame, table, query, id, by, named)
    given = table_of(frame) if read is None else read.table
    id = None if id is None else str(id)
    given.require_columns([] if id is None else [id])
    _require_hidden(given, hide)
    # clone() leaves the given model unfitted, as scikit-learn's meta-estimators do.
    if model is None:
        model = ODEFS(missing="ignore", random_state=random_state, n_jobs=n_jobs)
    model = clone(model)
    _fit_for_encoded_rows(model, encoder.by)
    if is_default or max_false_flags is not None:
        model.set_params(contamination="auto")
    if max_false_flags is not None:
        model.set_params(max_false_flags=max_false_flags)
    found = detect_table(
        given,
        model,
        encoder,
        id=id,
        known=_row_numbers(
            given, id, {"known_outliers": known_outliers, "known_normal": known_normal}
        ),
        contamination=share,
        threshold=threshold,
        flag=flag,
        hide=hide,
        seed=random_state if isinstance(random_state, int) else 0,
        checks=checks,
    )
    if read is not None:
        found = replace(found, source=read.source, notes=[*read.notes, *found.notes])
    return Detection.of(found, library_of(frame))


def _require_estimators(
    model: object, encoder: object, random_state: object, n_jobs: int | None
) -> None:
    """Raise for estimators of another kind, before anything is read or fitted.

    ``random_state`` and ``n_jobs`` are those of the default model.
    """
    for name, given, kind in (
        ("model", model, OutlierModel),
        ("encoder", encoder, TableEncoder),
    ):
        if given is not None and not isinstance(given, kind):
            example = "odefs.ODEFS()" if name == "model" else "odefs.TableEncoder()"
            raise TableError(
                f"{name} must be an estimator of odefs such as {example}, not "
                f"{type(given).__name__}."
            )
    is_seeded = not (isinstance(random_state, Integral) and random_state == SEED)
    for name, is_given in (("random_state", is_seeded), ("n_jobs", n_jobs is not None)):
        if model is not None and is_given:
            raise TableError(f"{name} cannot be combined with model: set it on the model.")


def _alone(encoder: TableEncoder, own: TableEncoder) -> TableEncoder:
    """The given encoder, unfitted; raise if parameters of another one, ``own``, are given too."""
    plain = TableEncoder().get_params()
    given = [name for name, value in own.get_params().items() if value != plain[name]]
    if given:
        raise TableError(
            f"{', '.join(given)} cannot be combined with encoder: set them on the encoder."
        )
    return clone(encoder)


def _fit_for_encoded_rows(model: OutlierModel, by: str | Sequence[str] | None) -> None:
    """Set the parameters that encoded rows need, unless they differ from the model's defaults."""
    wanted = {
        # The encoder brings all columns to one scale already.
        "scaling": "none",
        # Without the levels of groups, columns of clean tables look like noise.
        **({"noise_columns": "keep"} if group_columns(by) else {}),
    }
    defaults = type(model)().get_params(deep=False)
    own = model.get_params(deep=False)
    unset = {name for name in wanted if name in own and own[name] == defaults[name]}
    model.set_params(**{name: wanted[name] for name in unset})


def _read(
    frame: object,
    table: str | None,
    query: str | None,
    id: str | int | None,
    by: str | Sequence[str] | None,
    named: Sequence[str],
) -> "Reading | None":
    """Read a path or address into memory; ``None`` for data frames and arrays.

    ``named`` are other columns that arguments name.
    """
    if not isinstance(frame, str | Path):
        if table is not None or query is not None:
            raise TableError("table and query are for files and addresses, not for data frames.")
        return None
    with require_extra("reading files", "cli"):
        from odefs.tables.readers.memory_estimate import fits
        from odefs.tables.readers.open import open_table
        from odefs.tables.readers.options import ReadOptions
        from odefs.tables.readers.sources.locate import located

        # Not to be parsed as numbers.
        text = [*group_columns(by), *([] if id is None else [str(id)])]
        with located(frame, table, query) as local:
            if local.path != "-" and not fits(local.path):
                raise TableError(
                    f"{local.shown}: the table does not fit into memory: 'odefs detect' reads it "
                    "in parts."
                )
            return open_table(local, ReadOptions(text_columns=text, named_columns=named))


def _require_hidden(table: Table, hide: Sequence[str]) -> None:
    unknown = [column for column in hide if column not in table.names]
    if unknown:
        raise TableError(no_column(unknown[0], table.names, " to hide"))


def _row_numbers(
    table: Table, id: str | None, chosen: Mapping[str, object]
) -> dict[str, np.ndarray]:
    """Numbers of the rows that each argument names, without arguments that are None."""
    given = {name: rows for name, rows in chosen.items() if rows is not None}
    if not given:
        return {}
    index = table_index(table)
    labels = row_labels(id is not None, name_rows(table, id)[1], index)
    return {
        name: np.unique(read_rows(rows, name).numbers(table.n_rows, labels, index))
        for name, rows in given.items()
    }
