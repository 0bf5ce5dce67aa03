"""``TableEncoder``: the encoder as a scikit-learn transformer."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from odefs.exceptions import TableError
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.missing import Lost
from odefs.tables.frames import columns_of


class TableEncoder(TransformerMixin, BaseEstimator, ColumnEncoder):
    """Encode a data frame of pandas, polars or pyarrow with columns of any kind.

    Arrays of numbers are taken too; masked cells of ``numpy.ma`` are missing cells.

    Encoded columns are on one scale already: an estimator behind it should not scale them again, as in
    ``make_pipeline(TableEncoder(), ODEFS(scaling="none"))``.

    Parameters
    ----------
    number, category : sequence of str
        Columns to be read as numbers, or as categories, whatever they look like.
    drop : sequence of str
        Columns to leave out.
    keep : sequence of str
        Columns to use even if they look like identifiers.
    na : sequence of str
        Further words (or numbers) that mean "missing".
    max_categories : int, default=50
        Columns that one text column may become; its rarer values share the last one.
    mark_missing : bool, default=False
        Mark missing cells in a column of their own, for tables where a missing cell is suspicious. Otherwise cells are missing for reasons that have
        nothing to do with the row, and marking them would make outliers of all rows with a blank.

    Attributes
    ----------
    specs_ : list of ColumnSpec
    left_out_ : dict of Exclusion
        Columns that are not used, and why.
    notes_ : list of Note
        What was recognised; of an encoder from a file only how text was read. ``str`` of a note is a sentence.
    feature_names_in_, n_features_in_
    """

    def __init__(
        self,
        number: Sequence[str] = (),
        category: Sequence[str] = (),
        drop: Sequence[str] = (),
        keep: Sequence[str] = (),
        na: Sequence[str] = (),
        max_categories: int = 50,
        mark_missing: bool = False,
    ) -> None:
        super().__init__(
            number=number,
            category=category,
            drop=drop,
            keep=keep,
            na=na,
            max_categories=max_categories,
            mark_missing=mark_missing,
        )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what each column holds.

        Parameters
        ----------
        X : data frame
        y : ignored
        """
        self.learn_columns(columns_of(X, self.is_read))
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> np.ndarray:
        """Learn what each column holds and encode the frame."""
        return self.encode_table(self.learn_columns(columns_of(X, self.is_read)))

    def transform(self, X: Any) -> np.ndarray:
        """Encode another frame with the columns of the training frame."""
        check_is_fitted(self, "specs_")
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] != self.n_features_in_:
            raise TableError(
                f"X has {X.shape[1]} features, but TableEncoder is expecting {self.n_features_in_} features as input."
            )
        given = columns_of(X, self.is_used)
        read = self.recognised(given, self.formats_of(given))
        for spec, column in zip(self.specs_, read, strict=True):
            lost = Lost()
            lost.add_text(given[spec.name], column, self.na)
            lost.require_few(spec.name, spec.kind, spec.style)
        self.warn_unseen_categories(read)
        return self.encode_table(read)

    def _require_fitted(self) -> None:
        check_is_fitted(self, "specs_")
