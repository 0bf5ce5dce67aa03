"""What answers add to the scores of rows, and which answered rows this comes from."""

from dataclasses import dataclass

import numpy as np

from odefs.answers.memory import MAX_SHIFT, AnswerMemory

MAX_RESEMBLANCES = 3
"""Answered rows that are kept for each row: those with the largest amounts."""


@dataclass(frozen=True, slots=True)
class Resemblance:
    """An answered row that a row resembles.

    Attributes
    ----------
    row : int
        Number of the answered row in the table of the review.
    is_outlier : bool
        Whether it was confirmed.
    similarity : float
        Share of the random samples in which both rows are nearest to the same row.
    amount : float
        What this answer adds to the row's outlier score; negative if it lowers it.
    """

    row: int
    is_outlier: bool
    similarity: float
    amount: float


@dataclass(frozen=True, eq=False)
class AnswerParts:
    """``total`` is what all answers add to each score, ``direction`` the part of it that comes from
    the direction of known outliers; the other arrays have ``MAX_RESEMBLANCES`` columns.
    """

    total: np.ndarray
    direction: np.ndarray
    rows: np.ndarray
    is_outlier: np.ndarray
    shares: np.ndarray
    amounts: np.ndarray

    def take(self, rows: np.ndarray) -> "AnswerParts":
        """The parts of some rows."""
        return AnswerParts(
            *(getattr(self, name)[rows] for name in self.__dataclass_fields__),
        )

    def of(self, row: int) -> list[Resemblance]:
        """Answered rows that a row resembles, largest amount first."""
        parts = zip(
            self.rows[row], self.is_outlier[row], self.shares[row], self.amounts[row], strict=True
        )
        return [
            Resemblance(int(number), bool(is_outlier), float(share), float(amount))
            for number, is_outlier, share, amount in parts
            if amount != 0
        ]


def answer_parts(memory: AnswerMemory, X: np.ndarray, scores: np.ndarray) -> AnswerParts:
    """Parts of the answers in scaled rows whose columns add up to ``scores``.

    What raises a score is split over the confirmed rows, what lowers it over the rejected ones, in
    proportion to their resemblance.
    """
    shares = memory.resemblances(X)
    shift = np.clip(shares @ (memory.amounts * memory.unit), -MAX_SHIFT, MAX_SHIFT)
    of_answers = scores * np.expm1(shift)
    total = scores * np.expm1(np.clip(memory.shifts(X), -MAX_SHIFT, MAX_SHIFT))
    # A score that rises is explained by confirmed rows only: rejected ones have lowered it.
    parts = shares * (memory.is_outlier == (of_answers > 0)[:, None])
    parts = np.where(parts.any(axis=1, keepdims=True), parts, shares)
    of_row = parts.sum(axis=1)
    per_part = np.divide(of_answers, of_row, out=np.zeros_like(total), where=of_row > 0)
    amounts = parts * per_part[:, None]
    order = np.argsort(-parts, axis=1, kind="stable")[:, :MAX_RESEMBLANCES]
    return AnswerParts(
        total,
        # Shifts add up in the exponent, so that the parts do not: the direction gets what remains.
        total - of_answers,
        memory.numbers[order],
        memory.is_outlier[order],
        np.take_along_axis(parts, order, axis=1),
        np.take_along_axis(amounts, order, axis=1),
    )


def joined(parts: list[AnswerParts]) -> AnswerParts:
    """The parts of consecutive blocks of rows."""
    return AnswerParts(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in AnswerParts.__dataclass_fields__
        )
    )
