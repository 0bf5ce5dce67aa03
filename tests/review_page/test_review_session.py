"""A review and its file of answers, without a server."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import odefs.review
from odefs.cli.commands.review import _session
from odefs.exceptions import TableError
from odefs.models.odefs import ODEFSModel
from odefs.tables.detect import detect_table
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.table import table_of

N_ROWS = 60


@pytest.fixture(scope="module")
def found():
    X = np.random.default_rng(0).normal(size=(N_ROWS, 3))
    frame = pl.DataFrame(X, schema=list("abc"))
    frame = frame.with_columns(id=pl.Series([f"r{k}" for k in range(N_ROWS)]))
    model = ODEFSModel(random_state=0, n_estimators=2, n_subsets=8)
    return table_of(frame), detect_table(table_of(frame), model, ColumnEncoder(), id="id")


def session(found, path):
    table, detection = found
    return _session(
        path, detection, SimpleNamespace(table=table), SimpleNamespace(labels=()), "odefs"
    )


def answer_next(review, answer):
    return review.answer(review.sequence, review.state()["row"]["row"], answer)


@pytest.mark.parametrize("before", [None, "id,answer\nr1,yes\n"])
def test_a_file_that_changes_while_the_review_is_prepared_is_noticed(
    found, before, tmp_path, monkeypatch
):
    path = tmp_path / "a.csv"
    if before is not None:
        path.write_text(before)
    edited = "id,answer\nr1,yes\nr2,no\nr3,no\n"
    made = odefs.review.Review

    def slow(*arguments):
        path.write_text(edited)
        return made(*arguments)

    monkeypatch.setattr(odefs.review, "Review", slow)
    review = session(found, path)
    with pytest.raises(TableError, match="was changed by another program"):
        answer_next(review, True)
    assert path.read_text() == edited


def test_taking_an_answer_back_keeps_what_a_person_noted(found, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,answer,score,comment\nr1,,2.5,ask Anna\nr2,no,,\nr3,yes,7,mine\n")
    review = session(found, path)
    answer_next(review, True)
    for _ in range(3):
        review.undo(review.sequence)
    kept = [(line["id"], line["answer"], line["comment"]) for line in lines(path)]
    assert kept == [("r1", None, "ask Anna"), ("r3", None, "mine")]
    assert [line["time"] for line in lines(path)] == [None, None]
    assert review.n_answers == 0
    again = session(found, path)
    assert again.n_answers == 0


def test_the_end_of_the_table(found, tmp_path):
    review = session(found, tmp_path / "a.csv")
    for _ in range(N_ROWS):
        assert "have been looked at" not in review.state()["stop"]
        answer_next(review, False)
    state = review.state()
    assert state["row"] is None
    assert state["stop"] == f"All {N_ROWS} rows have been looked at."


def lines(path):
    return pl.read_csv(path, infer_schema=False).to_dicts()
