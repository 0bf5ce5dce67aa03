"""``odefs.Review``: the next row to look at, the answers so far, and the model they lead to."""

import copy
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from odefs._row_selection import read_rows
from odefs.answers.cells import Cells, amounts_of_cells, resemblance, shifts_of_cells
from odefs.answers.draws import draw_cells
from odefs.answers.memory import MAX_SHIFT, AnswerMemory
from odefs.answers.posterior import (
    Prior,
    amounts_for_new_rows,
    answer_amounts,
    answer_gaps,
    kernel_of,
    prior_of,
)
from odefs.exceptions import ModelFileError
from odefs.kernels.chunking import row_blocks
from odefs.models.base import OutlierModel
from odefs.models.files import Loaded, refused
from odefs.review.chance import chance_of_outlier
from odefs.review.files import read_review, save_review
from odefs.system.threads import available_threads, run_tasks

ROWS_PER_BLOCK = 2**16
"""Rows that are looked up at once: their sums stay in cache."""


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
        Outlier scores after the answers so far; 1.0 is an ordinary row.
    asked : ndarray of int
        Numbers of the answered rows, in the order of the answers.
    answers : tuple of bool or None
        The answers: True, False, or None for "cannot say".
    found : ndarray of int
        Numbers of the confirmed rows.
    chance : float or None
        Estimated chance that the next row is an outlier.

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

    def __init__(self, model: OutlierModel, X: Any, random_state: int = 0) -> None:
        if not isinstance(model, OutlierModel):
            raise TypeError(
                f"model is of type {type(model).__name__}: a review needs a fitted estimator of "
                "odefs, such as odefs.ODEFS."
            )
        model._require_fitted()
        rows = model._validate(X, reset=False)
        engine = model._engine(rows)
        # Answers that the model knows already are joined by new ones.
        scores = engine.outlier_scores(replace(model._model, answers=None))
        earlier = model._model.answers
        draws = (
            draw_cells(
                scores,
                lambda numbers: engine.take(numbers, model._model.scaling),
                engine.n_columns,
                random_state,
            )
            if earlier is None
            else earlier.draws
        )
        cells = np.empty((draws.n_draws, engine.n_rows), dtype=np.uint8)

        directed = np.zeros(engine.n_rows)

        def find(part: slice, scaled: np.ndarray) -> None:
            cells[:, part] = draws.of(scaled)
            if earlier is not None and earlier.direction is not None:
                directed[part] = earlier.direction.of(scaled)

        engine.sweep(find, model._model.scaling, model._model.dtype, 8 * draws.n_references)
        self._start(model, scores, directed, draws, cells, [], [])

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
        self._model, self._before, self._directed = model, scores, directed
        self._draws, self._cells = draws, cells
        self._prior: Prior = prior_of(scores)
        self._asked, self._answers = asked, answers
        self._update()

    def __repr__(self) -> str:
        return (
            f"<Review: {len(self._asked)} of {self.n_rows} rows answered, "
            f"{self.found.size} confirmed>"
        )

    @property
    def n_rows(self) -> int:
        return int(self._before.size)

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
        if self._memory is None:
            return self._before.copy()
        shifts = self._look_up(self._memory.cells, self._memory.amounts)
        if self._memory.direction is not None:
            shifts += self._directed
        return self._before * np.exp(np.clip(self._prior.std * shifts, -MAX_SHIFT, MAX_SHIFT))

    def next(self, n: int = 1) -> np.ndarray:
        """Numbers of the rows to look at next, most suspicious first, without answered ones.

        Fewer than ``n`` if no more rows are left.
        """
        n = min(n, self.n_rows - len(self._asked))
        if n < 1:
            return np.empty(0, dtype=np.intp)
        if n == 1:
            return np.array([self._queue.argmax()])
        # All rows at least as high as the last one: ties go to the first rows of the table.
        last = np.partition(self._queue, self.n_rows - n)[self.n_rows - n]
        top = np.flatnonzero(self._queue >= last)
        return top[np.lexsort((top, -self._queue[top]))][:n]

    @property
    def chance(self) -> float | None:
        """Estimated chance that the next row is an outlier; None if no rows are left."""
        row = self.next()
        if not row.size:
            return None
        own = self._cells[:, row[0]]
        cells = self._cells[:, :0] if self._memory is None else self._memory.cells
        told = [answer for answer in self._answers if answer is not None]
        return chance_of_outlier(
            float(self._queue[row[0]]),
            self._prior.targets,
            self._kernel,
            resemblance(cells, own),
            told,
        )

    def tell(self, rows: Any, answers: Any) -> None:
        """Add answers.

        Parameters
        ----------
        rows : int or array-like of int
            Row numbers. A row that was answered before gets the new answer.
        answers : bool, None, or sequence of these
            True for an outlier, False for an ordinary row, None for "cannot say".
        """
        numbers = read_rows(rows).numbers(self.n_rows)
        given = _answers_of(answers, numbers.size)
        if np.unique(numbers).size < numbers.size:
            raise ValueError("A row is named twice in one call.")
        for row, answer in zip(numbers.tolist(), given, strict=True):
            if row in self._asked:
                place = self._asked.index(row)
                del self._asked[place], self._answers[place]
            self._asked.append(row)
            self._answers.append(answer)
        self._update()

    def undo(self) -> int | None:
        """Take back the last answer; returns the number of its row, None without answers."""
        if not self._asked:
            return None
        self._answers.pop()
        row = self._asked.pop()
        self._update()
        return row

    def similar(self, row: int, n: int = 3) -> list[tuple[int, bool, float]]:
        """Return the rows answered with yes or no that resemble a row most.

        Parameters
        ----------
        row : int
            A row number.
        n : int
            The most rows to return.

        Returns
        -------
        list of (int, bool, float)
            Row number, answer, and resemblance between 0 and 1, most similar first. Rows without
            any resemblance are left out.
        """
        rows, is_outlier = self._told()
        alike = resemblance(self._cells[:, rows], self._cells[:, row])
        order = [k for k in np.argsort(-alike, kind="stable") if rows[k] != row and alike[k] > 0]
        return [(int(rows[k]), bool(is_outlier[k]), float(alike[k])) for k in order[:n]]

    def model(self) -> Any:
        """A fitted estimator that has learned from the answers: it scores, explains and saves."""
        learned = copy.copy(self._model)
        learned._model = replace(self._model._model, answers=self._memory)
        return learned

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the review to one file; :func:`odefs.load` reads it, and the review goes on.

        The file holds the model, one byte for every row and random sample, and the answers. Like a
        model file it contains rows of the table: treat it as confidential as the table.

        Parameters
        ----------
        path : str or path
        """
        save_review(self, path)

    def _told(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows with an answer other than "cannot say", and whether they were confirmed."""
        told = [
            (row, answer)
            for row, answer in zip(self._asked, self._answers, strict=True)
            if answer is not None
        ]
        rows = np.array([row for row, _ in told], dtype=np.intp)
        return rows, np.array([answer for _, answer in told], dtype=bool)

    def _update(self) -> None:
        """The posterior means: of all rows for the queue, and of any row for the model."""
        rows, is_outlier = self._told()
        cells, gaps = self._cells[:, rows], answer_gaps(self._prior, rows, is_outlier)
        earlier = self._model._model.answers
        if earlier is not None:
            cells = np.concatenate([earlier.cells, cells], axis=1)
            gaps = np.concatenate([earlier.gaps, gaps])
            is_outlier = np.concatenate([earlier.is_outlier, is_outlier])
            rows = np.concatenate([earlier.numbers, rows])
        self._kernel = kernel_of(cells)
        self._queue = self._prior.values.copy()
        self._memory: AnswerMemory | None = None
        if not rows.size:
            self._queue[self._asked] = -np.inf
            return
        self._queue += self._look_up(cells, answer_amounts(self._kernel, gaps))
        amounts = amounts_for_new_rows(self._kernel, gaps, is_outlier)
        if earlier is not None and not self._asked:
            amounts = earlier.amounts
        direction = None if earlier is None else earlier.direction
        if direction is not None:
            self._queue += self._directed
        self._memory = AnswerMemory(
            self._draws, self._prior.std, cells, gaps, amounts, is_outlier, rows, direction
        )
        self._queue[self._asked] = -np.inf

    def _look_up(self, cells: np.ndarray, amounts: np.ndarray) -> np.ndarray:
        """What answers add to the standardised log scores of all rows."""
        of_cells = amounts_of_cells(cells, amounts, self._draws.size)
        found = np.empty(self.n_rows)

        def look_up(rows: slice) -> None:
            found[rows] = shifts_of_cells(self._cells[:, rows], of_cells)

        blocks = list(row_blocks(self.n_rows, ROWS_PER_BLOCK))
        run_tasks(look_up, blocks, available_threads(self._model.n_jobs))
        return found


def resume(loaded: Loaded, path: str | os.PathLike[str]) -> Review:
    """The review that a file holds."""
    try:
        state = read_review(loaded)
    except ModelFileError as error:
        raise refused(path, error) from None
    review = Review.__new__(Review)
    review._start(**state)
    return review


def _answers_of(answers: Any, n: int) -> Sequence[bool | None]:
    single = answers is None or isinstance(answers, bool | np.bool_)
    given = [answers] if single else list(answers)
    if len(given) != n:
        raise ValueError(f"{len(given)} answers were given for {n} rows: give one for each.")
    unknown = [one for one in given if not (one is None or isinstance(one, bool | np.bool_))]
    if unknown:
        raise ValueError(f"The answer {unknown[0]!r} is not True, False or None (cannot say).")
    return [None if one is None else bool(one) for one in given]
