"""Check whether expanded squares would lose too many digits, estimated from a few references.

References are a sample of the rows to be scored, so the distances from some of them to all others
show how often ``|x|^2 - 2 x.r + |r|^2`` would cancel.
"""

import numpy as np

PROBED_REFERENCES = 32

MAX_CANCELLED_SHARE = {np.dtype(np.float32): 0.02, np.dtype(np.float64): 0.04}
"""Squares are expanded if at most this share of them has to be recomputed.

A whole vector of 16 or 8 rows is recomputed if one of its rows is.
"""


def can_expand_squares(members: np.ndarray, cancellation_share: float) -> bool:
    """Return whether few enough squares fall below ``cancellation_share`` of ``|x|^2``.

    ``members`` are references of shape ``(members, subsets, columns)``. With a single subset
    nothing can be estimated and the result is False.
    """
    _, n_subsets, n_columns = members.shape
    if n_subsets == 1:
        return False
    references = members.reshape(-1, n_columns).astype(np.float64)
    probed = np.unique(np.linspace(0, len(references) - 1, PROBED_REFERENCES).astype(int))
    rows = references[probed]
    norms = np.einsum("ik,ik->i", references, references)
    row_norms = np.einsum("ik,ik->i", rows, rows)[:, None]
    # Not a matrix product: the bits of BLAS depend on its threads, and the result must not.
    squares = row_norms + norms - 2 * np.einsum("ik,jk->ij", rows, references)
    nearest = squares.reshape(len(squares), -1, n_subsets).min(axis=1)
    # The distance of a reference to its own subset is zero and carries no information.
    in_other_subset = probed[:, None] % n_subsets != np.arange(n_subsets)
    cancelled = (nearest < cancellation_share * row_norms)[in_other_subset]
    return float(cancelled.mean()) <= MAX_CANCELLED_SHARE[members.dtype]
