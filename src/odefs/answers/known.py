"""Cases that are known before a fit, remembered as answers are.

Known outliers alone say little about their cells, since nothing tells which rows there are
ordinary: ten wrong ones would do as much as ten right ones. They give a direction, which wrong ones
do not have. Once ordinary rows are known too, cells count as well.
"""

from collections.abc import Callable

import numpy as np

from odefs.answers.cells import draw_cells
from odefs.answers.memory import AnswerMemory, find_direction
from odefs.answers.posterior import amounts_for_new_rows, answer_gaps, kernel_of, prior_of

MOST_ROWS = 2**16
"""Rows whose scores are ranked and standardised."""

SAMPLE_ROWS = 4096
"""Rows from which columns are standardised, and known outliers that give the direction."""

MOST_OF_A_KIND = 250
"""Known outliers, and known normal rows, whose cells are remembered."""


def remember_known(
    scores: np.ndarray,
    take: Callable[[np.ndarray], np.ndarray],
    outliers: np.ndarray,
    normal: np.ndarray,
    rng: np.random.Generator,
) -> AnswerMemory:
    """What known outliers and known normal rows add to the scores of a fit.

    ``take`` returns scaled rows by their numbers in ascending order.
    """
    direction_rows = _some(outliers, SAMPLE_ROWS, rng)
    outliers, normal = (_some(rows, MOST_OF_A_KIND, rng) for rows in (direction_rows, normal))
    told = np.concatenate([outliers, normal])
    # Known rows are always included: their gaps are looked up there.
    some = np.union1d(_some(np.arange(scores.size), MOST_ROWS, rng), told)
    prior = prior_of(np.asarray(scores[some], dtype=np.float64))
    sample = take(_some(np.arange(scores.size), SAMPLE_ROWS, rng))
    # take needs ascending numbers; the memory lists outliers first.
    order = np.argsort(told, kind="stable")
    known = np.empty((told.size, sample.shape[1]), dtype=sample.dtype)
    known[order] = take(told[order])
    draws = draw_cells(
        prior.values, lambda places: take(some[places]), sample.shape[1], int(rng.integers(2**31))
    )
    is_outlier = np.arange(told.size) < outliers.size
    cells = draws.of(known)
    gaps = answer_gaps(prior, np.searchsorted(some, told), is_outlier)
    amounts = np.zeros(told.size)
    # Without known normal rows, wrong known outliers would raise their cells as right ones do:
    # average precision fell from 0.57 to 0.24 with ten wrong ones (research log, "Learning from
    # answers").
    if normal.size:
        amounts = amounts_for_new_rows(kernel_of(cells), gaps, is_outlier)
    return AnswerMemory(
        draws,
        prior.std,
        cells,
        gaps,
        amounts,
        is_outlier,
        told,
        find_direction(sample, take(direction_rows)),
    )


def _some(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """At most as many of the rows, ascending."""
    return rows if rows.size <= most else np.sort(rng.choice(rows, size=most, replace=False))
