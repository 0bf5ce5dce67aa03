"""Subset rule: keep columns with more than a small share of the largest weight.

This is the paper's Eq. "feature_selection".
"""

import numpy as np


def select_columns(w: np.ndarray, min_weight: float) -> np.ndarray:
    """``F = {k : w_k / max(w) > min_weight}``, ascending; all columns if ``w = 0``."""
    top = float(w.max(initial=0.0))
    if top <= 0.0:
        return np.arange(w.size)
    return np.flatnonzero(w / top > min_weight)
