"""Protocol of detectors that can be trained with feature weights: the paper's ``s(x, w)``.

Scores are outlyingness: high means abnormal. Rows are already scaled. A detector is a frozen
dataclass of settings; what it learns from the reference rows is the state that
:meth:`Detector.prepare` returns, itself a frozen dataclass of arrays.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, Literal, TypeVar, get_args

import numpy as np

State = TypeVar("State")

Metric = Literal["euclidean", "sqeuclidean"]
METRICS: tuple[str, ...] = get_args(Metric)
"""Distances, and their squares."""


def row_sums(values: np.ndarray) -> np.ndarray:
    """Sum over the columns, in an order that does not depend on the number of rows.

    A matrix product sums few rows in a different order than many.
    """
    # NumPy sums each row of a C-contiguous array by itself; in Fortran order it adds column to
    # column, which rounds in another way.
    return np.asarray(np.ascontiguousarray(values).sum(axis=1))


class Detector(ABC, Generic[State]):
    """Base class of detectors and documentation of the protocol.

    An additive detector, whose score is a sum over columns, needs only :meth:`prepare` and
    :meth:`linearise`: score and contributions follow. Others override :meth:`score`, and
    :meth:`contributions` if their score can be split over the columns.
    """

    name: ClassVar[str]

    attribution: ClassVar[str | None] = "the score is a sum over columns"
    """Description for users of how :meth:`contributions` splits a score; ``None`` if it cannot be
    split.
    """

    handles_missing: ClassVar[bool] = False
    """Whether rows and references may contain NaN."""

    depends_on_scale: ClassVar[bool] = True
    """Whether scaling a column down reduces its influence, as with distances. Otherwise noise
    columns are not searched for.
    """

    chooses_columns: ClassVar[bool] = False
    """Whether :meth:`prepare` uses the weights as probabilities of choosing columns, so that final
    scores must not apply them again.
    """

    n_references: int = 4096
    """Rows that :meth:`sample` draws; detectors that let users choose declare it as a setting."""

    def shortage(self, n_rows: int) -> str | None:
        """Return a sentence for the user if there are fewer rows than the settings require."""
        return None

    def sample(self, n_rows: int, rng: np.random.Generator) -> np.ndarray:
        """Return the numbers of the rows that :meth:`prepare` needs, out of ``n_rows``.

        Repeats are allowed and the order is kept.
        """
        # Ascending, since out-of-core engines read the table in order.
        return np.sort(rng.choice(n_rows, size=min(n_rows, self.n_references), replace=False))

    @abstractmethod
    def prepare(
        self, rows: np.ndarray, rng: np.random.Generator, w: np.ndarray | None = None
    ) -> State:
        """Learn the state from the sampled rows.

        ``w`` is used only by detectors that choose columns at random.
        """

    @abstractmethod
    def linearise(self, X: np.ndarray, state: State, w: np.ndarray | None = None) -> np.ndarray:
        """Return the float64 matrix ``G`` with ``s(x, w) = G(x) . w``.

        What the detector chose under ``w``, such as nearest references, is held fixed.
        """

    def score(self, X: np.ndarray, state: State, w: np.ndarray | None = None) -> np.ndarray:
        """Return the outlyingness of each row, at least 0; NaN for a row without observed cells."""
        G = self.linearise(X, state, w)
        return row_sums(G if w is None else G * w)

    def score_columns(
        self, X: np.ndarray, columns: np.ndarray, state: State, w: np.ndarray | None = None
    ) -> np.ndarray:
        """Return :meth:`score` on some columns of a block.

        Detectors that can select columns without a copy override this.
        """
        return self.score(
            X if columns.size == X.shape[1] else np.take(X, columns, axis=1), state, w
        )

    def contributions(self, X: np.ndarray, state: State, w: np.ndarray | None = None) -> np.ndarray:
        """Return the columns' shares in :meth:`score`; each row sums to its score, or is NaN with
        it.
        """
        G = self.linearise(X, state, w)
        return G if w is None else G * w

    def total_contributions(
        self, X: np.ndarray, state: State, w: np.ndarray | None = None
    ) -> np.ndarray:
        """Return :meth:`contributions` summed over the rows; NaN where any of them is.

        Detectors with a faster way override this.
        """
        return np.asarray(self.contributions(X, state, w).sum(axis=0))

    def calls_blas(self, n_columns: int) -> bool:
        """Return whether :meth:`score` on up to ``n_columns`` may call BLAS, which then runs on one
        thread.
        """
        return True

    def bytes_per_row(self, n_columns: int) -> int:
        """Return the approximate working memory of :meth:`score` per row, which determines block
        heights.
        """
        return 16 * n_columns

    def bytes_per_explained_row(self, n_columns: int) -> int:
        """Return the approximate working memory of :meth:`contributions` per row."""
        return self.bytes_per_row(n_columns)
