"""``odefs.detect``: outliers of a data frame, and the result that it returns."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone

from odefs._extras import require_extra
from odefs._row_selection import read_rows
from odefs.estimators import ODEFS
from odefs.exceptions import TableError
from odefs.models.base import OutlierModel
from odefs.report import build_report, missing_packages
from odefs.report.report import Report
from odefs.review import Review
from odefs.tables.detect import detect_table
from odefs.tables.detection import TableDetection
from odefs.tables.displayed_rows import name_rows, row_labels, table_index
from odefs.tables.encoder.groups import group_columns
from odefs.tables.encoder.transformer import TableEncoder
from odefs.tables.model_files import save_detection
from odefs.tables.table import Table, table_of

if TYPE_CHECKING:
    from odefs.tables.readers.open import Reading


class Detection(TableDetection):
    """Scores of all rows of a table, which of them stand out, and why.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,)
        High is abnormal; 1.0 is an ordinary row.
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
        are row numbers from 0, ``str`` gives a sentence. Scores do not depend on them.
    run : Provenance
        Command, seed, parameters and versions.
    index : the frame's own index, where it has one
    """

    @classmethod
    def of(cls, found: TableDetection) -> Self:
        """The same result with a report."""
        return cls(**{field.name: getattr(found, field.name) for field in fields(found)})

    def report(self) -> Report:
        """The report: ``.save("page.html")``, ``.markdown()``, ``.json()``; shown in notebooks."""
        self.require_importances()
        return build_report(self)

    def review(self, random_state: int = 0) -> Review:
        """A review of the rows, most suspicious first, that learns from every answer.

        Rows go by their numbers in this detection; :meth:`with_answers` takes the review up.
        """
        return Review(self.model, self.X, random_state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write model and encoder to one file; :func:`odefs.load` returns them as a pipeline."""
        save_detection(self, path)

    def _repr_html_(self) -> str | None:
        """The report, if it can be made; otherwise notebooks show ``repr``."""
        if missing_packages() or not hasattr(self.model, "feature_importances_"):
            return None
        return build_report(self)._repr_html_()


def detect(
    frame: object,
    *,
    table: str | None = None,
    query: str | None = None,
    id: str | int | None = None,
    model: OutlierModel | None = None,
    encoder: TableEncoder | None = None,
    by: str | Sequence[str] = (),
    contamination: float | None = None,
    threshold: float | None = None,
    flag: int | None = None,
    max_false_flags: float | None = None,
    hide: Sequence[str] = (),
    known_outliers: object = None,
    known_normal: object = None,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    checks: bool = True,
    **encoding: Any,
) -> Detection:
    """Find the outliers of a data frame or a file, and explain why they stand out.

    Parameters
    ----------
    frame : data frame of pandas, polars or pyarrow, array of numbers, path or address
        Paths and addresses are those of ``odefs detect``; the table is read into memory.
    table, query : str, optional
        Table of a database or file in a zip archive, and rows of a database as SQL.
    id : str or int, optional
        Column that names the rows; it is not used for detection. Columns of an array are called
        x0, x1 and so on.
    by : str or sequence of str
        Columns that define groups of rows, within which values are compared: a row is then odd for
        its group. See :class:`TableEncoder`. Columns that look like noise then count in full,
        because without the levels of the groups ordinary columns do.
    model : ODEFS, optional
        An unfitted estimator with custom parameters.
    contamination, threshold, flag
        What to flag: a share of the rows, scores above a number, or a number of rows. By default,
        rows that score higher than the bulk of the scores explains; of fewer than 30 rows, none.
    max_false_flags : float, optional
        Expected number of flagged rows in a table of this size without outliers (default 1).
    hide : sequence of str
        Columns that are used, but whose values the report does not show.
    known_outliers, known_normal : int, str, or array-like of int, bool or str, optional
        Rows known to be outliers or normal, named as in :meth:`Detection.reasons`: row numbers from
        0, a boolean mask, or labels. Labels of all rows (0 and 1) are rejected: pass ``y == 1``.
        See :meth:`ODEFS.fit`.
    checks : bool
        Whether to look for values to check, such as zeros among sizes or dates in the future.
    encoder : TableEncoder, optional
        An unfitted encoder with custom parameters.
    **encoding
        Parameters of :class:`TableEncoder` (``number``, ``category``, ``drop``, ``keep``, ``na``),
        if ``encoder`` is not given.

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
    if encoder is not None and encoding:
        raise TableError(
            f"{', '.join(encoding)} cannot be combined with encoder: set them on the encoder."
        )
    if encoder is not None and by:
        raise TableError("by cannot be combined with encoder: set it on the encoder.")
    if isinstance(hide, str):
        raise TableError(f"hide={hide!r} must be a list of names, not one name.")
    read = _read(frame, table, query, id, by)
    given = table_of(frame) if read is None else read.table
    # pandas frames may have integers as names; elsewhere names are text.
    id, hide = None if id is None else str(id), [str(column) for column in hide]
    given.require_columns([] if id is None else [id])
    _require_hidden(given, hide)
    grouped = by if encoder is None else encoder.by
    model = (
        ODEFS(
            scaling="none",
            # Without the levels of groups, columns of clean tables look like noise.
            noise_columns="keep" if group_columns(grouped) else "damp",
            random_state=random_state,
            n_jobs=n_jobs,
        )
        if model is None
        else clone(model)
    )
    if max_false_flags is not None:
        rules = {"contamination": contamination, "threshold": threshold, "flag": flag}
        for name, value in rules.items():
            if value is not None:
                raise TableError(f"max_false_flags and {name} contradict each other: give one.")
        model.set_params(contamination="auto", max_false_flags=max_false_flags)
    found = detect_table(
        given,
        model,
        TableEncoder(by=by, **encoding) if encoder is None else clone(encoder),
        id=id,
        known=_row_numbers(
            given, id, {"known_outliers": known_outliers, "known_normal": known_normal}
        ),
        contamination=contamination,
        threshold=threshold,
        flag=flag,
        hide=hide,
        seed=random_state if isinstance(random_state, int) else 0,
        checks=checks,
    )
    if read is not None:
        found = replace(found, source=read.source, notes=[*read.notes, *found.notes])
    return Detection.of(found)


def _read(
    frame: object,
    table: str | None,
    query: str | None,
    id: str | int | None,
    by: str | Sequence[str],
) -> "Reading | None":
    """Read a path or address into memory; ``None`` for data frames and arrays."""
    if not isinstance(frame, str | Path):
        if table is not None or query is not None:
            raise TableError("table and query are for files and addresses, not for data frames.")
        return None
    with require_extra("reading files", "cli"):
        from odefs.tables.readers.local_tables import located
        from odefs.tables.readers.memory_estimate import fits
        from odefs.tables.readers.open import ReadOptions, open_table

        # Not to be parsed as numbers.
        text = [*group_columns(by), *([] if id is None else [str(id)])]
        with located(frame, table, query) as local:
            if local.path != "-" and not fits(local.path):
                raise TableError(
                    f"{local.shown}: the table does not fit into memory: 'odefs detect' reads it "
                    "in parts."
                )
            return open_table(local, ReadOptions(text_columns=text))


def _require_hidden(table: Table, hide: Sequence[str]) -> None:
    unknown = [column for column in hide if column not in table.names]
    if unknown:
        raise TableError(
            f"there is no column {unknown[0]!r} to hide; the columns are {', '.join(table.names)}."
        )


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
