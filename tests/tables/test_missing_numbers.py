"""Missing numbers: rows are compared in the numbers that they have, from the fit to the page."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import odefs
from command import odefs as run
from odefs import ODEFS, TableEncoder
from odefs.exceptions import TableError

MISSING = 290


@pytest.fixture
def frame():
    """Two columns that go together, and a row that has only one of them."""
    row = np.arange(300)
    first = [None if k == MISSING else k / 10 for k in row]
    flag = [None if k == 7 else bool(k % 2) for k in row]
    return pl.DataFrame(
        {"first": first, "second": 3.0 * row, "other": np.sin(1.7 * row), "flag": flag}
    )


def test_a_missing_number_does_not_make_a_row_an_outlier(frame):
    found = odefs.detect(frame)
    assert not found.is_outlier[MISSING]
    assert found.ranks[MISSING] > 3
    assert np.isnan(found.X[MISSING, 0])
    assert np.isnan(found.X[7, 3])


def test_a_model_that_refuses_missing_cells_gets_the_median(frame):
    assert not np.isnan(odefs.detect(frame, model=ODEFS(random_state=0)).X).any()
    assert not np.isnan(np.asarray(TableEncoder().fit_transform(frame), dtype=float)).any()


def test_an_encoder_that_replaces_missing_cells_does_so_for_any_model(frame):
    found = odefs.detect(frame, encoder=TableEncoder(keep_missing=False))
    assert found.encoder.keep_missing is False
    assert not np.isnan(found.X).any()
    for given in (None, True):
        kept = odefs.detect(frame, encoder=TableEncoder(keep_missing=given))
        assert kept.encoder.keep_missing is True
        assert np.isnan(kept.X).any()


def test_an_encoder_that_keeps_missing_cells_needs_a_model_that_takes_them(frame):
    with pytest.raises(TableError, match="keep_missing"):
        odefs.detect(frame, encoder=TableEncoder(keep_missing=True), model=ODEFS())


def test_a_device_falls_back_to_the_processor(frame):
    model = ODEFS(scaling="none", missing="ignore", engine="torch", random_state=0)
    with pytest.warns(odefs.ODEFSWarning):
        found = odefs.detect(frame, model=model)
    np.testing.assert_allclose(found.scores, odefs.detect(frame).scores)


def test_files_clones_and_refits_score_the_same(frame, tmp_path):
    found = odefs.detect(frame)
    found.save(tmp_path / "m.odefs")
    loaded = odefs.load(tmp_path / "m.odefs")
    np.testing.assert_array_equal(-loaded.score_samples(frame), found.scores)
    again = clone(loaded).fit(frame)
    np.testing.assert_array_equal(-again.score_samples(frame), found.scores)


def test_a_file_whose_parts_contradict_each_other_is_refused(frame, tmp_path):
    found = odefs.detect(frame, model=ODEFS(random_state=0))
    found.encoder.keep_missing = True
    found.save(tmp_path / "m.odefs")
    with pytest.raises(odefs.ModelFileError):
        odefs.load(tmp_path / "m.odefs")


def test_missing_cells_are_drawn_at_what_is_usual(frame):
    """Not at midnight, and not at no where most are yes."""
    nanoseconds = pl.Series([None if k == 9 else (36_000 + k) * 10**9 for k in range(300)])
    yes = pl.Series([None if k == 9 else k > 15 for k in range(300)])
    table = frame.with_columns(at=nanoseconds.cast(pl.Time), yes=yes)
    found = odefs.detect(table)
    expected = np.asarray(TableEncoder().fit_transform(table))
    np.testing.assert_allclose(found.encoder.filled(found.X), expected, rtol=1e-6)


@pytest.mark.parametrize("in_parts", ["0", "1"])
def test_the_command_line_scores_the_same(frame, tmp_path, in_parts):
    frame.write_csv(tmp_path / "t.csv")
    expected = odefs.detect(tmp_path / "t.csv").scores
    arguments = ["detect", "t.csv", "-o", "scores.csv", "--save", "m.odefs"]
    assert run(*arguments, cwd=tmp_path, ODEFS_IN_PARTS=in_parts).returncode == 0
    scores = pl.read_csv(tmp_path / "scores.csv").sort("row")["score"].to_numpy()
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def test_pages_and_reviews_take_rows_with_missing_numbers(frame, tmp_path):
    found = odefs.detect(frame)
    found.save_report(tmp_path / "page.html")
    review = found.review()
    review.tell(MISSING, False)
    after = found.with_answers(review)
    assert np.isfinite(after.scores).all()
    assert after.reasons(MISSING) is not None
