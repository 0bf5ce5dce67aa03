"""A detection after a review: its model has learned from the answers and scores all rows again.

Of a table larger than memory, the answered rows and a sample of all rows are what the model learns
from; its scores are those of the whole table.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from odefs._progress import report_progress, stage
from odefs.exceptions import TableError
from odefs.models.base import OutlierModel
from odefs.review import Review
from odefs.tables.detect import encoded_rows, judge
from odefs.tables.flagging import Flagging, flag_rows
from odefs.tables.records.notes import Note
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.hold_rows import hold_rows
from odefs.tables.table import Table

SAME_SCORE = 1e-4
"""Relative difference of the scores that processors compute for one row."""


def with_answers(
    found: TableDetection,
    rows: Sequence[int] | np.ndarray,
    answers: Sequence[bool | None],
    table: Table | None = None,
    reviewed: np.ndarray | None = None,
) -> TableDetection:
    """Return the detection with the model, scores and flags that the answers lead to.

    Parameters
    ----------
    found : TableDetection
    rows : sequence of int
        Numbers of rows of the table, from 0.
    answers : sequence of bool or None
        True for an outlier, False for an ordinary row, None for "cannot say".
    table : Table, optional
        The table, needed if it is larger than memory.
    reviewed : array, optional
        Scores without answers of the rows that were reviewed, which must be those of the table.
    """
    numbers = np.asarray(rows, dtype=np.intp)
    if not numbers.size:
        return found
    with stage("learning from answers"):
        report_progress(0, 0)
        if found.part is None:
            return _in_memory(found, numbers, answers, reviewed)
        if table is None:
            raise ValueError("A detection of a table in parts takes up answers with its table.")
        return _in_parts(found, numbers, answers, table)


def answers_note(answers: Sequence[bool | None]) -> Note:
    """Return a note on the answers that were taken up."""
    given = list(answers)
    return Note("answers", count=given.count(True), n_normal=given.count(False))


def _in_memory(
    found: TableDetection,
    numbers: np.ndarray,
    answers: Sequence[bool | None],
    reviewed: np.ndarray | None,
) -> TableDetection:
    review = Review(found.model, found.X)
    if reviewed is not None and not np.allclose(
        review._learner.before, reviewed, rtol=SAME_SCORE, atol=0.0, equal_nan=True
    ):
        raise TableError(
            "the review is not of this detection: its rows are as many, but score differently, "
            "because they are those of another table, in another order or under another model. "
            "Start one with the method review() of this detection."
        )
    review.tell(numbers, answers)
    model = review.model()
    judged = judge(model, found.X)
    flagging = _flagging(found, model, judged.scores)
    return replace(
        found, model=model, scores=judged.scores, agreement=judged.agreement, flagging=flagging
    )


def _in_parts(
    found: TableDetection, numbers: np.ndarray, answers: Sequence[bool | None], table: Table
) -> TableDetection:
    encoder = found.encoder
    sample = np.union1d(found.extent.numbers[found.extent.drawn], numbers)
    read = encoder.recognised(table.column_rows(sample, encoder.input_columns), found.formats)
    review = Review(found.model, encoder.encode_table(read))
    review.tell(np.searchsorted(sample, numbers), answers)
    model = review.model()
    _number_by_table(model, sample, sum(answer is not None for answer in answers))
    with encoded_rows(table, encoder) as rows:
        judged = judge(model, rows.X)
    # The file behind ``rows.X`` is gone; ``hold_rows`` encodes the rows that it keeps once more.
    again = hold_rows(
        table,
        model,
        encoder,
        judged,
        _flagging(found, model, judged.scores),
        replace(rows, formats=found.formats),
        id=found.identifier if found.named else None,
        hidden=found.hidden,
        notes=found.notes,
        run=found.run,
        top=found.extent.order.size,
        seed=found.run.seed or 0,
        judged_by=found.extent.judged_by,
    )
    return replace(
        again,
        source=found.source,
        left_out=found.left_out,
        labels=found.labels,
        checks=found.checks,
        checked=found.checked,
    )


def _flagging(found: TableDetection, model: OutlierModel, scores: np.ndarray) -> Flagging:
    """Flag by the same rule as before; a threshold of the model stays as it was."""
    rule = found.convention
    if rule.kind == "threshold":
        return flag_rows(scores, 0.0, rule, threshold=found.threshold)
    if rule.kind == "contamination":
        return flag_rows(scores, 0.0, rule, contamination=rule.share)
    if rule.kind == "top":
        return flag_rows(scores, 0.0, rule, flag=rule.count)
    return flag_rows(scores, -model.offset_, replace(rule, before_answers=True))


def _number_by_table(model: OutlierModel, sample: np.ndarray, n_answers: int) -> None:
    """Let a model name the rows of its last answers by their numbers in the table."""
    learned = model._model.answers
    if learned is not None and n_answers:
        numbers = learned.numbers.copy()
        numbers[-n_answers:] = sample[numbers[-n_answers:]]
        model._model = replace(model._model, answers=replace(learned, numbers=numbers))
