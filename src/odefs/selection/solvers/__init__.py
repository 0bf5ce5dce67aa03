"""Solvers of the w-step ``min_{w >= 0} 1/m* sum_i v_i L_i(w) + theta |w|_1``, one per file.

A solver is a function ``(objective, v, start, tol, max_steps) -> Solution``. Components are the
first axis of all arrays; each stops when its first-order violation falls below ``tol``, and gets
the bits it would get alone.
"""

from collections.abc import Callable

import numpy as np

from odefs.selection.objective import RankingObjective
from odefs.selection.solvers.lbfgs import solve_lbfgs
from odefs.selection.solvers.proximal import solve_proximal
from odefs.selection.solvers.solution import Solution

Solver = Callable[[RankingObjective, np.ndarray, np.ndarray, float, int], Solution]

SOLVERS: dict[str, Solver] = {"proximal": solve_proximal, "lbfgs": solve_lbfgs}

__all__ = ["SOLVERS", "Solution", "Solver", "solve_lbfgs", "solve_proximal"]
