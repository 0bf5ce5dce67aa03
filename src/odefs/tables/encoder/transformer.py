"""``TableEncoder``: the column encoder as a scikit-learn transformer."""

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from odefs.exceptions import TableError
from odefs.models.fallbacks import whole
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.missing import Lost
from odefs.tables.encoder.warnings import warn_of_values
from odefs.tables.frames.columns import Columns
from odefs.tables.frames.convert import columns_of


class TableEncoder(TransformerMixin, BaseEstimator, ColumnEncoder):
    """Encode a pandas, polars or pyarrow data frame with columns of any type.

    Numeric arrays are accepted too; masked cells of ``numpy.ma`` count as missing.

    Encoded columns are on one scale already, so the estimator after it should not scale them again:
    ``make_pipeline(TableEncoder(), ODEFS(scaling="none"))``.

    Parameters
    ----------
    number, category : sequence of str or int
        Columns to read as numbers or as categories, regardless of their detected type. Integers are
        names, which frames of pandas may have.
    drop : sequence of str or int
        Columns to leave out.
    keep : sequence of str or int
        Columns to use even if they look like identifiers.
    na : sequence of str or float
        Further words (or numbers) that mean "missing".
    max_categories : int, default=50
        Maximum number of encoded columns per text column; its rarest values share the last one.
    mark_missing : bool, default=False
        Mark missing cells in a separate column, for tables where a missing cell is suspicious. In
        other tables cells are missing for reasons unrelated to the row, and marking them would turn
        every row with a blank into an outlier.
    keep_missing : bool, optional
        Leave missing numbers, booleans and times NaN, for a model with ``missing="ignore"``,
        instead of replacing them by the median or the most common value. By default
        :func:`odefs.detect` does so for such models; elsewhere None is False.
    by : str or sequence of str
        Columns whose values define groups of rows. Values of the other columns are then compared
        within the row's group: numbers relative to its centre and scale, categories by how rare
        they are in it. Group columns are not encoded themselves.

    Attributes
    ----------
    specs_ : list of ColumnSpec
    left_out_ : dict of Exclusion
        Columns that are not used, and why.
    notes_ : list of Note
        Detected types and formats; ``str`` of a note is a sentence. An encoder loaded from a file
        has only the notes on text formats.
    groups_ : Groups or None
        The known groups, with ``by``.
    feature_names_in_, n_features_in_
    """

    # A refit that fails leaves the encoder unfitted, not with the state of the fit before.
    @whole
    def fit(self, X: object, y: object = None) -> Self:
        """Learn the type and scale of each column.

        Parameters
        ----------
        X : data frame
        y : ignored
        """
        self._learn(X)
        return self

    @whole
    def fit_transform(self, X: object, y: object = None, **params: object) -> np.ndarray:
        """Fit to a data frame and encode it."""
        return self.encode_table(self._learn(X))

    def _learn(self, X: object) -> Columns:
        self.require_lists()
        given = columns_of(X, self.is_read)
        return self.learn_groups(given, self.learn_columns(given))

    def transform(self, X: object) -> np.ndarray:
        """Encode another data frame with the columns of the training frame.

        Warnings name columns with infinite numbers, which count as missing, and those with mostly
        unknown categories.
        """
        check_is_fitted(self, "specs_")
        # Columns of a frame are found by name, those of an array by position only. The wording is
        # the one that scikit-learn's estimator checks look for.
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] != self.n_features_in_:
            raise TableError(
                f"X has {X.shape[1]} features, but TableEncoder is expecting "
                f"{self.n_features_in_} features as input."
            )
        given = columns_of(X, self.is_used)
        read = self.recognised(given, self.formats_of(given))
        for spec, column in zip(self.specs_, read, strict=True):
            lost = Lost()
            lost.add_text(given[spec.name], column, self.na_words)
            lost.require_few(spec.name, spec.kind, spec.style)
        warn_of_values(self, read)
        return self.encode_table(read)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _require_fitted(self) -> None:
        check_is_fitted(self, "specs_")
