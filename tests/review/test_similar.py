"""Answered rows that resemble a row."""

import numpy as np
import pytest

import odefs


@pytest.fixture(scope="module")
def review():
    X = np.random.default_rng(0).normal(size=(400, 4))
    X[:5, 0] += 9
    X[5:10, 1] += 9
    found = odefs.Review(odefs.LeSiNN(random_state=0).fit(X), X)
    found.tell([0, 1, 5, 6, 7], [True, False, True, None, False])
    return found


def test_rows_of_the_same_kind_come_first(review):
    similar = review.similar(2)
    assert {row for row, _, _ in similar[:2]} == {0, 1}
    assert [share for *_, share in similar] == sorted((s for *_, s in similar), reverse=True)
    assert {row: answer for row, answer, _ in similar}[1] is False


def test_neither_the_row_itself_nor_unsure_answers_are_named(review):
    rows = [row for row, _, share in review.similar(7, n=10) if share > 0]
    assert rows[0] == 5
    assert not {6, 7} & set(rows)
    assert len(review.similar(7, n=1)) == 1


def test_without_answers_there_is_none(review):
    X = np.random.default_rng(1).normal(size=(50, 3))
    assert odefs.Review(odefs.LeSiNN(random_state=0).fit(X), X).similar(0) == []


@pytest.mark.parametrize("n", [0, -1, 1.5])
def test_a_wrong_number_of_rows_is_refused(review, n):
    for ask in (review.next, lambda n: review.similar(2, n)):
        with pytest.raises(ValueError, match="whole number of at least 1"):
            ask(n=n)
