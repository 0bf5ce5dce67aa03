"""What expanded squares would lose, tried with a few references as rows: these are a sample of the rows to come."""

import numpy as np

PROBED, FEWER = 32, 4

MOST_CANCELLED = {np.dtype(np.float32): 0.02, np.dtype(np.float64): 0.04}
"""Squares are expanded where at most this share of them is to be computed again: a vector of 16 or 8 rows is, if one of its rows is."""


class Probe:
    """Squared distances of a few references to all. These are of shape (members, subsets, columns), the few are ``probed``, counted member by member.

    The answers must be the same at every call, so the sums are not left to BLAS, whose bits depend on its threads.
    """

    def __init__(self, members: np.ndarray) -> None:
        _, self._n_subsets, n_columns = members.shape
        references = members.reshape(-1, n_columns).astype(np.float64)
        self.probed = probed = np.unique(np.linspace(0, len(references) - 1, PROBED).astype(int))
        rows = references[probed]
        norms = np.einsum("ik,ik->i", references, references)
        self.row_norms = np.einsum("ik,ik->i", rows, rows)[:, None]
        self._squares = self.row_norms + norms - 2 * np.einsum("ik,jk->ij", rows, references)
        # To its own subset a reference has no distance.
        self._other = probed[:, None] % self._n_subsets != np.arange(self._n_subsets)

    def share_below(self, limits: np.ndarray) -> float:
        """How often the square of the distance to a subset is below a row's limit; always, where there is one subset only."""
        if self._n_subsets == 1:
            return 1.0
        return float((self._nearest(self._squares) < limits)[self._other].mean())

    def error(self, off: np.ndarray, limits: np.ndarray) -> float:
        """The largest relative change of a row's mean distance if the squares of every fourth row were ``off`` by so much, those below its limit excepted."""
        squares = self._squares[::FEWER]
        true, found = self._nearest(squares), self._nearest(squares + off)
        kept = self._other[::FEWER] & (true >= limits[::FEWER])
        distances = np.sqrt(np.where(kept, true, 0))
        changes = np.sqrt(np.where(kept, np.maximum(found, 0), 0)) - distances
        return float(np.max(np.abs(changes.sum(axis=1)) / np.maximum(distances.sum(axis=1), np.finfo(float).tiny)))

    @property
    def fewer(self) -> np.ndarray:
        """Every fourth of those probed."""
        return self.probed[::FEWER]

    def _nearest(self, squares: np.ndarray) -> np.ndarray:
        return squares.reshape(len(squares), -1, self._n_subsets).min(axis=1)
