"""Reviews in files: the model, the cells and scores of all rows, and the answers.

The rows themselves are not stored, except for the references that model files hold anyway.
"""

import os
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from odefs.answers.cells import Cells
from odefs.models.base import OutlierModel
from odefs.models.files import Loaded, save_model
from odefs.persist.answers import get_cells, put_cells, require_cells
from odefs.persist.header_values import Arrays, need, require

if TYPE_CHECKING:
    from odefs.review.review import Review

CODES = {None: -1, False: 0, True: 1}
ANSWERS = {code: answer for answer, code in CODES.items()}


def save_review(review: "Review", path: str | os.PathLike[str]) -> None:
    """Write a review to one file, whole or not at all."""
    arrays = {
        "scores": review._learner.before,
        "directed": review._learner.directed,
        "cells": review._cells,
        "asked": review.asked.astype(np.int64),
        "answers": np.array([CODES[answer] for answer in review.answers], dtype=np.int8),
    }
    draws = put_cells(review._learner.draws, arrays, "references")
    save_model(review._model, path, {"review": {"draws": draws}}, arrays)


def is_review(loaded: Loaded) -> bool:
    """Whether a file holds a review."""
    return loaded.extra is not None and "review" in loaded.extra


def _are_equal(one: Cells, other: Cells) -> bool:
    """Whether the draws of two reviews are the same."""
    return len(one.groups) == len(other.groups) and all(
        np.array_equal(mine.rows, its.rows, equal_nan=True) and mine.n_draws == its.n_draws
        for mine, its in zip(one.groups, other.groups, strict=True)
    )


class ReviewParts(TypedDict):
    """What a review is made of, by the names of its parts."""

    model: OutlierModel
    scores: np.ndarray
    directed: np.ndarray
    draws: Cells
    cells: np.ndarray
    asked: list[int]
    answers: list[bool | None]


def read_review(loaded: Loaded) -> ReviewParts:
    """The checked parts of a review."""
    assert loaded.extra is not None
    arrays = Arrays(loaded.extra_arrays)
    described = need(loaded.extra, "review", dict)
    draws = get_cells(
        need(described, "draws", list), arrays, "references", loaded.estimator.n_features_in_
    )
    earlier = loaded.estimator._model.answers
    if earlier is not None:
        # Answers in the model are stored by cells of its draws and would be looked up in other
        # cells.
        same = _are_equal(draws, earlier.draws)
        require(same, "the draws of its review are not those of its model")
    scores = arrays.take("scores", "f")
    require(scores.ndim == 1 and scores.size > 0, "the scores of its review are not a list")
    directed = arrays.take("directed", "f", scores.shape)
    for values in (scores, directed):
        require(
            values.dtype == np.float64 and bool(np.isfinite(values).all()),
            "the scores of its review are not finite",
        )
    cells = arrays.take("cells", "u", (draws.n_draws, scores.size))
    require_cells(cells, draws)
    asked = arrays.take("asked", "i")
    require(
        asked.ndim == 1
        and np.unique(asked).size == asked.size
        and bool(((asked >= 0) & (asked < scores.size)).all()),
        "the rows of its answers do not exist",
    )
    answers = arrays.take("answers", "i", asked.shape)
    require(bool(np.isin(answers, list(ANSWERS)).all()), "its answers are not valid")
    arrays.require_empty()
    return {
        "model": loaded.estimator,
        "scores": scores,
        "directed": directed,
        "draws": draws,
        "cells": cells,
        "asked": asked.tolist(),
        "answers": [ANSWERS[int(code)] for code in answers],
    }
