"""NumPy masked arrays (``numpy.ma``): masked cells count as missing, whatever value they hide."""

from typing import Any

import numpy as np


def unmasked(X: Any) -> Any:
    """Return ``X`` with NaN in masked cells; anything but masked arrays is returned unchanged.

    A list of masked arrays counts as one. Integers and booleans become floats if a cell is masked,
    because they have no NaN. Masked dates and durations become NaT, and text becomes objects with
    ``None``.
    """
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.array(X)
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if X.dtype.kind == "V" or not np.ma.getmaskarray(X).any():
        return X.data
    if X.dtype.kind in "mM":
        return np.where(np.ma.getmaskarray(X), np.array("NaT", X.dtype), X.data)
    if X.dtype.kind not in "biufcO":
        found = X.data.astype(object)
        found[np.ma.getmaskarray(X)] = None
        return found
    kept = X.dtype if X.dtype.kind in "fcO" else np.result_type(X.dtype, np.float32)
    return np.ma.filled(X.astype(kept), np.nan)
