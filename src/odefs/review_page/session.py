"""The review that a page shows: every answer is on disk before the next row is.

Each window sends the sequence number of the state that it shows. A request from a window that shows
an older state changes nothing.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from odefs.exceptions import TableError
from odefs.review import Review
from odefs.review_page.row_view import RowViews
from odefs.tables.answers.file import ANSWERS, Answer, AnswerFile, answered
from odefs.tables.messages import review as messages

SMALL_CHANCE = 0.05
"""Chance that the next row is an outlier below which the page suggests to stop."""
N_SIMILAR = 3

FileState = tuple[int, ...] | None
"""What changes when a file is written; ``None`` if there is no file."""


def read_answers(file: AnswerFile) -> tuple[list[Answer], FileState]:
    """Return the answers of a file, if it exists, and the state in which they were read.

    The state is that before reading, so a change during or after it is noticed.
    """
    state = _file_state(file.path)
    return ([] if state is None else file.read()), state


class ReviewSession:
    """A review with its file of answers, and the state that windows show.

    ``answers`` and ``file_state`` are those of :func:`read_answers`.
    """

    def __init__(
        self,
        review: Review,
        views: RowViews,
        file: AnswerFile,
        answers: Sequence[Answer] = (),
        file_state: FileState = None,
        next_command: str = "",
    ) -> None:
        self.review, self.views, self._file = review, views, file
        self._next_command = next_command
        self._lines = list(answers)
        rows, given = answered(self._lines)
        if rows:
            review.tell(rows, given)
        self.sequence = 0
        self._file_state = file_state

    @property
    def n_answers(self) -> int:
        return len(self.review.answers)

    def answer(self, sequence: int, row: int, answer: bool | None) -> str:
        """Save the answer on the row that a window shows and learn from it; return a notice."""
        given = dict(zip(self.review.asked.tolist(), self.review.answers, strict=True))
        if row in given:
            title = self.views.title(row)
            return messages.answered_elsewhere(title, given[row], answer)
        if sequence != self.sequence or row != self._next_row():
            return messages.moved_on()
        line = Answer(
            row,
            ANSWERS[answer],
            f"{self.review.scores[row]:.6g}",
            self.views.why(row),
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        # A row that a person has listed without an answer keeps its other columns.
        listed = [one for one in self._lines if one.row == row]
        line = replace(line, other=listed[0].other) if listed else line
        # Saved first: an answer that is not on disk must not change the ranking.
        self._save([*(one for one in self._lines if one.row != row), line])
        self.review.tell(row, answer)
        self.sequence += 1
        return messages.answer_saved(self.views.title(row), answer)

    def undo(self, sequence: int) -> str:
        """Remove the last answer; return a notice."""
        if sequence != self.sequence:
            return messages.moved_on()
        if not self.review.answers:
            return ""
        row = int(self.review.asked[-1])
        # A line in which a person has noted something stays, without an answer.
        lines = [
            replace(one, word="", time="") if one.row == row else one
            for one in self._lines
            if one.row != row or any(one.other.values())
        ]
        self._save(lines)
        self.review.undo()
        self.sequence += 1
        return messages.answer_undone(self.views.title(row))

    def state(self, notice: str = "") -> dict[str, object]:
        """The content of a window, as JSON values."""
        answers, asked = self.review.answers, self.review.asked
        row = self._next_row()
        found, n_found = [], 0
        for answer in answers:
            n_found += answer is True
            found.append(n_found)
        last = (self.views.name(int(asked[-1])), answers[-1]) if answers else None
        return {
            "sequence": self.sequence,
            "file": str(self.views.found.source.get("name", "table")),
            "answers": os.fspath(self._file.path),
            "progress": messages.looked_at(answers),
            "found": found,
            "stop": self._stop(row),
            "undo": "" if last is None else messages.undo_label(*last),
            "command": self._next_command,
            "notice": notice,
            "row": None if row is None else self._view(row),
        }

    def _view(self, row: int) -> dict[str, object]:
        similar = [
            {
                "title": self.views.title(other),
                "answer": messages.WORDS[answer],
                "alike": messages.alike(share),
                "why": self.views.why(other),
            }
            for other, answer, share in self.review.similar(row, N_SIMILAR)
        ]
        return {**self.views.view(row, float(self.review.scores[row])), "similar": similar}

    def _next_row(self) -> int | None:
        following = self.review.next()
        return int(following[0]) if following.size else None

    def _stop(self, row: int | None) -> str:
        """A suggestion to stop, or nothing."""
        chance = self.review.chance
        if row is None or chance is None:
            return messages.no_row_left(self.review.n_rows)
        small = bool(self.review.answers) and chance < SMALL_CHANCE
        return messages.stop_by_chance(chance) if small else ""

    def _save(self, lines: list[Answer]) -> None:
        if _file_state(self._file.path) != self._file_state:
            raise TableError(
                f"{self._file.path} was changed by another program, and this answer was not saved. "
                "Stop this review (Ctrl-C) and start it again to go on with the changed file."
            )
        self._file.write(lines)
        self._lines, self._file_state = lines, _file_state(self._file.path)


def _file_state(path: Path) -> FileState:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    # Programs that replace a file give it another inode, even if size and time are the same.
    return found.st_ino, found.st_size, found.st_mtime_ns
