"""The L-BFGS-B solver of SciPy: on ``w >= 0`` the penalty is linear and the w-step is smooth.

SciPy solves one problem at a time, so components are solved one after the other.
"""

import numpy as np

from odefs.selection.objective import RankingObjective
from odefs.selection.penalty import optimality_violation
from odefs.selection.solvers.solution import Solution


def solve_lbfgs(
    objective: RankingObjective, v: np.ndarray, start: np.ndarray, tol: float, max_steps: int
) -> Solution:
    """Minimise over the weights of each component from ``start``."""
    found = [
        _solve_one(
            RankingObjective(G, objective.n_outliers, objective.loss, objective.l1),
            v_one,
            w,
            tol,
            max_steps,
        )
        for G, v_one, w in zip(objective.G, v, start, strict=True)
    ]
    return Solution(*(np.stack(part) for part in zip(*found, strict=True)))


def _solve_one(
    objective: RankingObjective, v: np.ndarray, start: np.ndarray, tol: float, max_steps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    def value_and_gradient(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective.smooth_value_and_gradient(w, v)
        return float(value) + objective.l1 * float(w.sum()), gradient + objective.l1

    # Imported here: it takes long, and the default solver does not need it.
    from scipy.optimize import Bounds, minimize

    found = minimize(
        value_and_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(0.0, np.inf),
        options={
            "maxiter": max_steps,
            "maxfun": 4 * max_steps,
            "gtol": tol,
            "ftol": 0.0,
            "maxcor": 20,
        },
    )
    w = np.maximum(found.x, 0.0)
    _, gradient = objective.smooth_value_and_gradient(w, v)
    return w, np.asarray(found.nit), optimality_violation(w, gradient, objective.l1)
