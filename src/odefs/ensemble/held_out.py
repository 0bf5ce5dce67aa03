"""Held-out known outliers: components learn from one half and are tested on the other."""

from dataclasses import replace

import numpy as np

from odefs.ensemble.all_columns import AllColumnsScores
from odefs.ensemble.pilot import PilotSample
from odefs.ensemble.trainer import ComponentTrainer

FEWEST_KNOWN = 2
COMPONENTS = 8
"""Half of the components for each half of the known outliers."""


def gain_on_unseen(
    trainer: ComponentTrainer, pilot: PilotSample, view: AllColumnsScores
) -> float | None:
    """Mean gain in rank of held-out known outliers compared with scores on all columns.

    A rank is the share of the pilot rows that score below. ``None`` with too few known outliers.
    """
    known = trainer.known.outliers
    if known.size < FEWEST_KNOWN:
        return None
    # With an odd number, one outlier is seen by all, so that all have equally many examples.
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
    """The share of scores that lie below, plus half of those that are equal."""
    order = np.sort(among)
    return (np.searchsorted(order, scores, "left") + np.searchsorted(order, scores, "right")) / (
        2 * order.size
    )
