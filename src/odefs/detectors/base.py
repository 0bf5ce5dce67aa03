"""What a detector must offer to be trained with feature weights: the paper's ``s(x, w)``.

Outlyingness throughout: high means abnormal. Rows arrive scaled. A detector is a frozen dataclass
of settings; whatever it learns from the reference rows is the state that :meth:`Detector.prepare`
returns, itself a frozen dataclass of arrays.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np


def row_sums(values: np.ndarray) -> np.ndarray:
    """Sums over the columns, each row's added up in the same order however many rows there are; a
    matrix product has another order for few rows.
    """
    return np.asarray(np.ascontiguousarray(values).sum(axis=1))


class Detector(ABC):
    """Base class and documentation of the protocol.

    An additive detector, whose score is a sum over columns, needs :meth:`prepare` and
    :meth:`linearise` and nothing else: score and contributions follow. Others override
    :meth:`score`, and :meth:`contributions` if their score can be split over the columns.
    """

    name: ClassVar[str]

    attribution: ClassVar[str | None] = "the score is a sum over columns"
    """How :meth:`contributions` splits a score, said to the user; ``None`` where it cannot be
    split.
    """

    handles_missing: ClassVar[bool] = False
    """Whether rows and references may hold NaN."""

    depends_on_scale: ClassVar[bool] = True
    """Whether a column counts less when its values are scaled down, as in distances; otherwise
    noise columns are not looked for.
    """

    chooses_columns: ClassVar[bool] = False
    """Whether weights enter as the odds of columns in :meth:`prepare`, so that final scores must
    not count them again.
    """

    def shortage(self, n_rows: int) -> str | None:
        """A sentence for the user where there are fewer rows than the settings ask for."""
        return None

    def sample(self, n_rows: int, rng: np.random.Generator) -> np.ndarray:
        """Numbers of the rows that :meth:`prepare` wants to see, of ``n_rows``; repeats allowed,
        order kept.
        """
        return np.sort(rng.choice(n_rows, size=min(n_rows, 4096), replace=False))

    @abstractmethod
    def prepare(
        self, rows: np.ndarray, rng: np.random.Generator, w: np.ndarray | None = None
    ) -> Any:
        """Learn the state from the sampled rows; ``w`` matters only to detectors that choose
        columns at random.
        """

    @abstractmethod
    def linearise(self, X: np.ndarray, state: Any, w: np.ndarray | None = None) -> np.ndarray:
        """The matrix ``G`` with ``s(x, w) = G(x) . w`` while what the detector chose under ``w`` is
        held fixed; float64.
        """

    def score(self, X: np.ndarray, state: Any, w: np.ndarray | None = None) -> np.ndarray:
        """Outlyingness of each row, at least 0; NaN for a row that has no observed column."""
        G = self.linearise(X, state, w)
        return row_sums(G if w is None else G * w)

    def score_columns(
        self, X: np.ndarray, columns: np.ndarray, state: Any, w: np.ndarray | None = None
    ) -> np.ndarray:
        """:meth:`score` on some columns of a block; for detectors that can pick them without a
        copy.
        """
        return self.score(
            X if columns.size == X.shape[1] else np.take(X, columns, axis=1), state, w
        )

    def contributions(self, X: np.ndarray, state: Any, w: np.ndarray | None = None) -> np.ndarray:
        """Shares of the columns in :meth:`score`; rows add up to it, and are NaN where it is NaN."""
        G = self.linearise(X, state, w)
        return G if w is None else G * w

    def total_contributions(
        self, X: np.ndarray, state: Any, w: np.ndarray | None = None
    ) -> np.ndarray:
        """:meth:`contributions` added up over the rows, for detectors that know a shorter way; NaN
        where any of them is.
        """
        return np.asarray(self.contributions(X, state, w).sum(axis=0))

    def calls_blas(self, n_columns: int) -> bool:
        """Whether :meth:`score` on up to so many columns may call BLAS, whose threads are then set
        to one meanwhile.
        """
        return True

    def bytes_per_row(self, n_columns: int) -> int:
        """Rough working memory of :meth:`score` per row, from which block heights are derived."""
        return 16 * n_columns

    def bytes_per_explained_row(self, n_columns: int) -> int:
        """The same of :meth:`contributions`."""
        return self.bytes_per_row(n_columns)
