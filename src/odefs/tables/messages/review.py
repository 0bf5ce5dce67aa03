"""Messages of the review page."""

from collections.abc import Sequence

from odefs.tables.messages.values import count, percent, score

WORDS: dict[bool | None, str] = {True: "yes", False: "no", None: "cannot say"}
"""Answers as the page shows them."""


def looked_at(answers: Sequence[bool | None]) -> str:
    """Return how many rows were answered, and how."""
    if not answers:
        return "No row has been looked at yet."
    yes, no = answers.count(True), answers.count(False)
    unsure = len(answers) - yes - no
    parts = [count(yes, "outlier"), f"{no:,} ordinary", *([f"{unsure:,} unsure"] if unsure else [])]
    return f"{count(len(answers), 'row')} looked at: {', '.join(parts)}."


def stop_by_chance(chance: float) -> str:
    return (
        f"Stop here? The chance that the next row is an outlier is about {percent(chance)}. "
        "You can go on as long as you like."
    )


def no_row_left(n_rows: int) -> str:
    return f"All {count(n_rows, 'row')} have been looked at."


def row_score(now: float, before: float, rank: int, n_rows: int) -> str:
    """Return the score of a row, and its score and rank in the first ranking."""
    changed = score(now) != score(before)
    first = f", {score(before)} before" if changed else ""
    return f"Score {score(now)}{first}; rank {rank:,} of {n_rows:,} before any answer."


def answer_saved(title: str, answer: bool | None) -> str:
    return f"Saved: {title}, {WORDS[answer]}."


def answer_undone(title: str) -> str:
    return f"The answer on {title} has been taken back."


def answered_elsewhere(title: str, answer: bool | None, given: bool | None) -> str:
    """Return what happens to an answer on a row that another window has answered."""
    if answer == given:
        return f"{title} already has the answer {WORDS[answer]}."
    return f"{title} was answered with {WORDS[answer]} in another window; that answer stays."


def moved_on() -> str:
    return "The review has gone on in another window. Nothing was changed."


def undo_label(name: str, answer: bool | None) -> str:
    """Return the answer that would be taken back, for a button."""
    return f"{name}: {WORDS[answer]}"


def alike(share: float) -> str:
    return f"{percent(share)} alike"
