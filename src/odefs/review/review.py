"""``odefs.Review``: the next row to look at, the answers so far, and the model they lead to."""

import copy
import numbers
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from odefs._row_selection import frame_index, index_labels, read_rows
from odefs.answers.cells import Cells, draw_cells, resemblance
from odefs.engines.select import require_in_memory
from odefs.exceptions import ModelFileError
from odefs.models.base import OF_TRAINING_ROWS, OutlierModel
from odefs.models.files import Loaded, refused
from odefs.review.files import read_review, save_review
from odefs.review.learner import AnswerLearner

MOST_ANSWERS = 1000
"""Answers that are learned from: the time of an update grows with their square."""


@dataclass(frozen=True)
class _Replaced:
    """An answer that a later one of the same row replaced, and what it had replaced itself."""

    place: int
    answer: bool | None
    earlier: "_Replaced | None"


class Review:
    """A review of the rows of a table, most suspicious first, that learns from every answer.

    A row that resembles confirmed outliers moves up in the queue, one that resembles rejected rows
    moves down. Two rows resemble each other if random samples of the table put them next to the
    same row.

    Parameters
    ----------
    model : fitted estimator of this library
    X : array-like or sparse matrix of shape (n_rows, n_features)
        The rows to look at, often those that the model was fitted to.
    random_state : int, default=0
        Seed of the samples.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,)
        Outlier scores after the answers so far; before, training rows average 1.0.
    asked : ndarray of int
        Numbers of the answered rows, in the order of the answers.
    answers : tuple of bool or None
        The answers: True, False, or None for "cannot say".
    found : ndarray of int
        Numbers of the confirmed rows.

    Examples
    --------
    >>> import numpy as np
    >>> import odefs
    >>> X = np.random.default_rng(0).normal(size=(500, 5))
    >>> X[:10, :2] += 4
    >>> review = odefs.Review(odefs.ODEFS(random_state=0).fit(X), X)
    >>> for _ in range(20):
    ...     row = review.next()[0]
    ...     review.tell(row, row < 10)
    >>> len(review.found)
    10
    """

    def __init__(self, model: OutlierModel, X: object, random_state: int = 0) -> None:
        if not isinstance(model, OutlierModel):
            raise TypeError(
                f"model is of type {type(model).__name__}: a review needs a fitted estimator of "
                "odefs, such as odefs.ODEFS."
            )
        model._require_fitted()
        require_in_memory(X, "Review")
        engine = model._engine(model._validate(X, reset=False))
        frozen = model._model
        # Without what answers add: the learner applies earlier and new answers together.
        scores = engine.outlier_scores(replace(frozen, answers=None))
        earlier = frozen.answers
        draws = (
            draw_cells(
                scores,
                lambda numbers: engine.take(numbers, frozen.scaling),
                engine.n_columns,
                random_state,
            )
            if earlier is None
            # Cells of earlier answers are numbers of references in these draws.
            else earlier.draws
        )
        cells = np.empty((draws.n_draws, engine.n_rows), dtype=np.uint8)
        directed = np.zeros(engine.n_rows)

        def find(part: slice, scaled: np.ndarray) -> None:
            cells[:, part] = draws.of(scaled)
            if earlier is not None and earlier.direction is not None:
                directed[part] = earlier.direction.of(scaled)

        engine.sweep(find, frozen.scaling, frozen.dtype, 8 * draws.n_references)
        self._start(model, scores, directed, draws, cells, [], [])
        index = frame_index(X)
        self._name_rows(index_labels(index), index)

    def _start(
        self,
        model: OutlierModel,
        scores: np.ndarray,
        directed: np.ndarray,
        draws: Cells,
        cells: np.ndarray,
        asked: list[int],
        answers: list[bool | None],
    ) -> None:
        """``scores`` are those without answers, ``directed`` what known outliers add to them."""
        self._model, self._cells = model, cells
        self._name_rows(None)
        self._learner = AnswerLearner(model, scores, directed, draws, cells)
        self._asked, self._answers = asked, answers
        self._replaced: list[_Replaced | None] = [None] * len(asked)
        self._update()

    def _name_rows(self, labels: Sequence[object] | None, index: object = None) -> None:
        """Let rows be named by labels, or by ``index``, that of the pandas frame they are from."""
        self._labels, self._index = labels, index

    def _are_named(self, labels: Sequence[object] | None) -> bool:
        """Whether the rows are named by these labels, in this order, and each has its own."""
        if labels is None or self._labels is None:
            return False
        own = list(self._labels)
        return own == list(labels) and len(set(own)) == len(own)

    def _numbers(self, rows: object) -> np.ndarray:
        """Numbers of the rows that a caller names."""
        return read_rows(rows).numbers(self.n_rows, self._labels, self._index)

    def __repr__(self) -> str:
        return (
            f"<Review: {len(self._asked)} of {self.n_rows} rows answered, "
            f"{self.found.size} confirmed>"
        )

    @property
    def n_rows(self) -> int:
        return int(self._cells.shape[1])

    @property
    def asked(self) -> np.ndarray:
        return np.array(self._asked, dtype=np.intp)

    @property
    def answers(self) -> tuple[bool | None, ...]:
        return tuple(self._answers)

    @property
    def found(self) -> np.ndarray:
        return np.array(
            [row for row, answer in zip(self._asked, self._answers, strict=True) if answer],
            dtype=np.intp,
        )

    @property
    def scores(self) -> np.ndarray:
        return self._learner.scores()

    @property
    def chance(self) -> float | None:
        """Estimated chance that the next row is an outlier; None if no rows are left."""
        row = self.next()
        if not row.size:
            return None
        told = [answer for answer in self._answers if answer is not None]
        return self._learner.chance(int(row[0]), told)

    def next(self, n: int = 1) -> np.ndarray:
        """Numbers of the rows to look at next, most suspicious first.

        Rows that were answered, or that the model knows already, are left out. The order is not
        always that of ``scores``: the queue follows the answers further than the model does, which
        must also be right about new rows.

        Parameters
        ----------
        n : int
            The most rows to return; fewer are returned if fewer are left.
        """
        _require_count(n)
        queue = self._learner.queue
        n = min(int(n), int(np.count_nonzero(queue > -np.inf)))
        if n < 1:
            return np.empty(0, dtype=np.intp)
        # argmax returns the first of equal rows, as the sort below does.
        if n == 1:
            return np.array([queue.argmax()])
        # All rows at least as high as the last one: ties go to the first rows of the table.
        last = np.partition(queue, self.n_rows - n)[self.n_rows - n]
        top = np.flatnonzero(queue >= last)
        return top[np.lexsort((top, -queue[top]))][:n]

    def tell(self, rows: object, answers: object) -> None:
        """Add answers.

        Parameters
        ----------
        rows : int, str, or array-like of int, bool or str
            Row numbers, a boolean mask, or names of rows: those of the detection that is reviewed
            (ids or labels of a pandas index), or labels of the index of ``X``. A review that was
            loaded from a file takes numbers and masks only. A row that was answered before gets the
            new answer.
        answers : bool, None, or sequence of these
            True for an outlier, False for an ordinary row, None for "cannot say"; a single answer
            is that of all ``rows``.
        """
        told = self._numbers(rows)
        given = _answers_of(answers, told.size)
        if np.unique(told).size < told.size:
            raise ValueError("A row is named twice in one call.")
        for row, answer in zip(told.tolist(), given, strict=True):
            replaced = None
            if row in self._asked:
                place = self._asked.index(row)
                replaced = _Replaced(place, self._answers[place], self._replaced[place])
                for values in (self._asked, self._answers, self._replaced):
                    del values[place]
            self._asked.append(row)
            self._answers.append(answer)
            self._replaced.append(replaced)
        self._update()

    def undo(self) -> int | None:
        """Take back the last answer of one row, and restore one that it had replaced.

        Returns
        -------
        row : int or None
            The number of the row; None without answers.
        """
        if not self._asked:
            return None
        row, replaced = self._asked.pop(), self._replaced.pop()
        self._answers.pop()
        if replaced is not None:
            self._asked.insert(replaced.place, row)
            self._answers.insert(replaced.place, replaced.answer)
            self._replaced.insert(replaced.place, replaced.earlier)
        self._update()
        return row

    def similar(self, row: int | str, n: int = 3) -> list[tuple[int, bool, float]]:
        """Rows answered with yes or no that resemble a row most.

        Parameters
        ----------
        row : int or str
            A row, named as in :meth:`tell`.
        n : int
            The most rows to return.

        Returns
        -------
        list of (int, bool, float)
            Row number, answer, and resemblance between 0 and 1, most similar first. Rows without
            any resemblance are left out.
        """
        _require_count(n)
        (number,) = self._numbers(row)
        rows, is_outlier = self._told()
        alike = resemblance(self._cells[:, rows], self._cells[:, number])
        order = [k for k in np.argsort(-alike, kind="stable") if rows[k] != number and alike[k] > 0]
        return [(int(rows[k]), bool(is_outlier[k]), float(alike[k])) for k in order[:n]]

    def model(self) -> Any:
        """A fitted estimator that has learned from the answers: it scores, explains and saves.

        Its threshold is that of the reviewed model. It has no scores of the training rows
        (``outlier_scores_``): score the rows with ``outlier_scores(X)``.
        """
        # A shallow copy: the reviewed model keeps its scores and its answers.
        learned = copy.copy(self._model)
        for name in OF_TRAINING_ROWS:
            learned.__dict__.pop(name, None)
        learned.__dict__["_from_file"] = True
        learned._model = replace(self._model._model, answers=self._learner.memory)
        return learned

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the review to one file, from which :func:`odefs.load` continues it.

        The file holds the model, one byte for every row and random sample, and the answers. Like a
        model file it contains rows of the table: treat it as confidential as the table. Ids and
        labels are not stored: the rows of a loaded review are named by their numbers.

        Parameters
        ----------
        path : str or path
        """
        save_review(self, path)

    def _told(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows with an answer other than "cannot say", and whether they were confirmed.

        Of very many answers, the last ones count.
        """
        told = [
            (row, answer)
            for row, answer in zip(self._asked, self._answers, strict=True)
            if answer is not None
        ][-MOST_ANSWERS:]
        rows = np.array([row for row, _ in told], dtype=np.intp)
        return rows, np.array([answer for _, answer in told], dtype=bool)

    def _update(self) -> None:
        rows, is_outlier = self._told()
        self._learner.learn(rows, is_outlier, self._asked)


def resume(loaded: Loaded, path: str | os.PathLike[str]) -> Review:
    """The review that a file holds."""
    review = Review.__new__(Review)
    try:
        review._start(**read_review(loaded))
    except ModelFileError as error:
        raise refused(path, error) from None
    return review


def _require_count(n: object) -> None:
    if not isinstance(n, numbers.Integral) or n < 1:
        raise ValueError(f"n={n!r} is not a whole number of at least 1.")


def _answers_of(answers: Any, n: int) -> Sequence[bool | None]:
    is_single = answers is None or np.ndim(answers) == 0
    given = [answers] * n if is_single else list(answers)
    if len(given) != n:
        raise ValueError(f"There are {len(given)} answers for {n} rows: give one for each row.")
    unknown = [one for one in given if not (one is None or isinstance(one, bool | np.bool_))]
    if unknown:
        raise ValueError(f"The answer {unknown[0]!r} is not True, False or None (cannot say).")
    return [None if one is None else bool(one) for one in given]
