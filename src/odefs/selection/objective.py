"""The pairwise ranking objective (the paper's Eqs. "log_loss", "final_loss" and "update_w").

With ``G*`` the linearised rows of the ``m*`` outlier examples of a component and ``G`` those of its
``m`` unlabelled ones,

    L_i(w) = 1/m sum_j h(G*_i . w - G_j . w)
    objective = 1/m* sum_i v_i (L_i(w) - lambda) + theta |w|_1

A weighted distance needs ``w >= 0``. There the l1 norm is the sum, so the penalty is linear on the
feasible set and its proximal operator is a shift followed by a projection.

Arrays may have a leading axis of components that learn in one batch: each gets the bits it would
get alone.
"""

from dataclasses import dataclass, replace

import numpy as np

from odefs.selection.losses import Loss


@dataclass(frozen=True, eq=False)
class RankingObjective:
    """The objective with the detector's choices held fixed.

    ``G`` is ``(..., examples, columns)`` with the outlier examples first.
    """

    G: np.ndarray
    n_outliers: int
    loss: Loss
    l1: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "G", _evenly_placed(self.G))

    def of(self, which: np.ndarray) -> "RankingObjective":
        """The objective of some of the components."""
        return replace(self, G=self.G[which])

    def scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``G* . w`` and ``G . w``."""
        # One product of a matrix and a vector per component: BLAS rounds by the shape of a product,
        # which must not depend on the batch.
        s = np.matmul(self.G, w[..., None])[..., 0]
        return s[..., : self.n_outliers], s[..., self.n_outliers :]

    def example_losses(self, w: np.ndarray) -> np.ndarray:
        """``L_i(w)`` of each outlier example."""
        return np.asarray(self.loss.of_pairs(*self.scores(w)).mean(axis=-1))

    def total(
        self,
        example_losses: np.ndarray,
        w: np.ndarray,
        v: np.ndarray,
        lam: np.ndarray | float = 0.0,
    ) -> np.ndarray:
        """The whole objective, given the examples' losses at ``w``, their weights and the age."""
        paced = v * (example_losses - np.asarray(lam)[..., None])
        return np.asarray(paced.sum(axis=-1) / self.n_outliers + penalty_value(w, self.l1))

    def value(self, w: np.ndarray, v: np.ndarray, lam: np.ndarray | float = 0.0) -> np.ndarray:
        """The whole objective for given example weights and age."""
        return self.total(self.example_losses(w), w, v, lam)

    def smooth_value_and_gradient(
        self, w: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The objective without penalty and age: the part that is smooth in ``w``."""
        s_outlier, s_unlabeled = self.scores(w)
        values = self.loss.of_pairs(s_outlier, s_unlabeled)
        # m* in the denominator even if some examples are left out, as in Eq. 8.
        value = (v * values.mean(axis=-1)).sum(axis=-1) / self.n_outliers
        slopes = self.loss.slopes_of_pairs(s_outlier, s_unlabeled, values)
        # Derivatives by the scores: row i of G* has v_i sum_j h', row j of G has -sum_i v_i h'.
        pull = np.concatenate(
            [v * slopes.sum(axis=-1), -np.matmul(v[..., None, :], slopes)[..., 0, :]], axis=-1
        )
        gradient = np.matmul(pull[..., None, :], self.G)[..., 0, :]
        return value, gradient / (slopes.shape[-2] * slopes.shape[-1])


def _evenly_placed(G: np.ndarray) -> np.ndarray:
    """The same numbers, each component at an even number of float64 from the first.

    OpenBLAS rounds some products in another way if the matrix starts at an odd one: 0.3.31 (in the
    wheels of NumPy 2.4) those of one column, with its kernels for Prescott.
    """
    if G.ndim < 3 or G.strides[0] % 16 == 0:
        return G
    size = G[0].size
    placed = np.zeros((G.shape[0], size + size % 2), dtype=G.dtype)[:, :size].reshape(G.shape)
    placed[...] = G
    return placed


def penalty_value(w: np.ndarray, l1: float) -> np.ndarray:
    """``theta |w|_1``, which is ``theta`` times the sum of weights that are not negative."""
    return np.asarray(l1 * w.sum(axis=-1))


def penalty_prox(u: np.ndarray, step: np.ndarray | float, l1: float) -> np.ndarray:
    """``argmin_{w >= 0} step * l1 * sum(w) + |w - u|^2 / 2``."""
    return np.maximum(u - np.asarray(step * l1)[..., None], 0.0)


def optimality_violation(w: np.ndarray, gradient: np.ndarray, l1: float) -> np.ndarray:
    """Largest first-order violation: ``g + l1 = 0`` if ``w > 0``, ``g + l1 >= 0`` if ``w = 0``."""
    slope = gradient + l1
    # At w = 0 only a negative slope is a violation: the weight cannot become negative.
    violation = np.where(w > 0, np.abs(slope), np.maximum(-slope, 0.0))
    return np.asarray(violation.max(axis=-1, initial=0.0))
