"""A second detector for discrete columns, as one more member of the ensemble.

Distances say little about columns with few values: most rows are equally far from each other there.
``detector="auto"`` lets :class:`odefs.detectors.CouplingDetector` score them beside LeSiNN. With
``S`` the score of all other components and ``C`` that of the companion, both with mean 1, the
ranking is that of ``z(S) + weight z(C)``. The weight grows with the share of discrete columns, and
falls with the trust in learned subsets: these have found the columns that matter, and the companion
scores all of them.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from odefs.detectors.coupling import CouplingDetector, cut_columns, some_rows
from odefs.ensemble.model import Component
from odefs.ensemble.pilot import PilotSample

FULL_WEIGHT = 1.5
"""Weight of the companion where all columns are discrete and nothing learned is trusted."""


def with_companion(
    pilot: PilotSample, components: Sequence[Component], detector: CouplingDetector, trust: float
) -> tuple[list[Component], Component | None]:
    """The components with less weight, and the companion with the rest of it.

    The weights keep their sum, so that 1.0 is still the score of an ordinary row. ``None`` where
    the companion would have no weight.
    """
    if cut_columns(some_rows(pilot.X), detector.n_bins).discrete_share == 0:
        return list(components), None
    rng = np.random.default_rng(0)  # The detector draws nothing.
    state = detector.prepare(pilot.X, rng)
    weight = FULL_WEIGHT * (1 - trust) * state.discrete_share
    member = Component(np.arange(pilot.X.shape[1]), None, state, 1.0, 1.0, 0.0, detector=detector)
    if weight > 0:
        scores = pilot.scores(components)
        spread = float((np.array([one.weight for one in components]) @ scores).std())
        own = float(pilot.scores([member]).std())
        weight = weight * spread / own if own > 0 else 0.0
    if weight == 0:
        return list(components), None
    share = weight / (1 + weight)
    total = sum(one.weight for one in components)
    reduced = [replace(one, weight=one.weight * (1 - share)) for one in components]
    return reduced, replace(member, weight=share * total)
