"""How far learned subsets rest on columns of two values.

The rare value of such a column stands out by itself: that rows which have it score high on this
column alone shows neither that the other columns are noise nor that these rows are outliers.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from odefs.ensemble.model import Component
from odefs.kernels.two_values import two_valued_columns


class DiscreteWeights(NamedTuple):
    """Shares in the weights of learned subsets, as means over the components."""

    all_columns: float
    """Of all columns of at most two values."""
    largest: float
    """Of the one of them that has the largest share."""


def discrete_weights(components: Sequence[Component], X: np.ndarray) -> DiscreteWeights:
    """Return the shares of the two-valued columns of ``X``, the scaled pilot rows."""
    shares = np.zeros(X.shape[1])
    for component in components:
        weights = np.ones(component.columns.size) if component.w is None else component.w
        shares[component.columns] += weights / weights.sum() / len(components)
    used = np.flatnonzero(shares)
    two_valued = used[two_valued_columns(X[:, used])]
    return DiscreteWeights(
        float(shares[two_valued].sum()), float(shares[two_valued].max(initial=0.0))
    )
