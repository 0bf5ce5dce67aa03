"""``ODEFS().fit(X)`` against fit and score of scikit-learn's isolation forest on two threads.

``fit`` includes the scores of the training rows.
"""

import numpy as np
from sklearn.ensemble import IsolationForest

from benchmarks.data import folder, load
from benchmarks.result import Result, best_of
from odefs import ODEFS

LIMITS = {"mnist": 1.2, "bank": 1.2, "probe": 1.2, "census": 1.5}
ROUNDS = {"census": 2}
"""Fewer where a round takes long; otherwise five."""


NORMAL = ((10_000, 30), (100_000, 100))
"""Shapes of tables of normal numbers."""
NORMAL_LIMIT = 1.2


def run() -> list[Result]:
    rng = np.random.default_rng(0)
    normal = [_one("normal numbers", rng.normal(size=s), NORMAL_LIMIT) for s in NORMAL]
    data = folder()
    if data is None:
        return normal
    return [
        _one(name, load(data / f"{name}.npz")[0], most) for name, most in LIMITS.items()
    ] + normal


def _one(name: str, X: np.ndarray, limit: float) -> Result:
    models = []

    def ours() -> None:
        models.append(ODEFS(n_jobs=2, random_state=0).fit(X))

    def theirs() -> None:
        IsolationForest(n_jobs=2, random_state=0).fit(X).score_samples(X)

    # Taken in turns, so that a slow moment of the machine hits both.
    times = [(best_of(1, ours), best_of(1, theirs)) for _ in range(ROUNDS.get(name, 5))]
    fit, forest = (min(column) for column in zip(*times, strict=True))
    ratio = fit / forest
    return Result(
        f"ODEFS().fit(X) on {name}, {X.shape[0]:,} x {X.shape[1]}, against "
        "IsolationForest(n_jobs=2) fit and score",
        f"{ratio:.2f} x ({fit:.2f} s, {forest:.2f} s; {models[-1].fit_info_['n_components']} "
        "components)",
        f"at most {limit} x",
        ratio <= limit,
    )
