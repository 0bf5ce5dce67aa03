"""Known outliers as a test of the subsets: components learn from one half of them and are asked about the other."""

from dataclasses import replace

import numpy as np

from odefs.ensemble.all_columns import AllColumnsScores
from odefs.ensemble.pilot import PilotSample
from odefs.ensemble.trainer import ComponentTrainer

FEWEST_KNOWN = 2
COMPONENTS = 8
"""Half of them for each half of the known outliers."""


def gain_on_unseen(
    trainer: ComponentTrainer, pilot: PilotSample, view: AllColumnsScores
) -> float | None:
    """How much higher components place the known outliers that they have not seen than the full space does, on average; ``None`` with too few of them.

    A place is the share of the trial rows that score below.
    """
    known = trainer.known.outliers
    if known.size < FEWEST_KNOWN:
        return None
    # Of an odd number one is seen by all, so that all have equally many examples.
    even = known[: known.size - known.size % 2]
    halves = even[::2], even[1::2]
    trainer.engine.prefetch("known", even)
    tested = replace(trainer, held_out=halves, seeds=trainer.seeds.cross_fit()).train_all(
        COMPONENTS
    )
    gains = []
    for fold, unseen in enumerate(halves):
        X = np.concatenate([pilot.X, trainer.engine.take(unseen, trainer.scaling)])
        rows, n = replace(pilot, X=X), pilot.numbers.size
        learned = rows.scores([component for component, _ in tested[fold::2]]).mean(axis=0)
        full = rows.scores(view.members).mean(axis=0)
        gains.append(_places(learned[n:], learned[:n]) - _places(full[n:], full[:n]))
    return float(np.concatenate(gains).mean())


def _places(scores: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The share of scores that lie below, and half of those that are equal."""
    order = np.sort(among)
    return (np.searchsorted(order, scores, "left") + np.searchsorted(order, scores, "right")) / (
        2 * order.size
    )
