"""A point as the code for missing, as Stata and SAS write it: among numbers or dates, not text."""

import numpy as np
import polars as pl
import pytest

import odefs
from odefs.tables import table as tables
from odefs.tables.detect import detect_table
from odefs.tables.encoder import learning
from odefs.tables.table import ParquetTable
from opening import read_in_memory, read_in_parts

N = 600


def frame_with(code):
    """Numbers and dates, of which one in seven is missing, and text with points."""
    rng = np.random.default_rng(0)
    years = [str(year) for year in rng.integers(6, 18, N)]
    prices = [f"{price:.2f}" for price in rng.lognormal(3, 1, N)]
    days = [f"2024-03-{day:02}" for day in rng.integers(1, 31, N)]
    columns = {"years": years, "price": prices, "day": days}
    frame = {
        name: [code if k % 7 == place else cell for k, cell in enumerate(cells)]
        for place, (name, cells) in enumerate(columns.items())
    }
    return pl.DataFrame({**frame, "grade": rng.choice(["a", "b", "."], N), "x": rng.normal(size=N)})


def kinds(found):
    return {spec.name: spec.kind for spec in found.encoder.specs_}


@pytest.mark.parametrize("code", [".", " . ", ".."])
def test_a_point_among_numbers_or_dates_is_missing_as_other_words_are(code):
    found, usual = odefs.detect(frame_with(code)), odefs.detect(frame_with("n/a"))
    assert kinds(found) == {
        **dict.fromkeys(("years", "price", "x"), "number"),
        "day": "time",
        "grade": "category",
    }
    assert found.encoder.specs_ == usual.encoder.specs_
    assert np.array_equal(found.scores, usual.scores)
    assert (found.notes, found.checks) == (usual.notes, usual.checks)
    assert next(s for s in found.encoder.specs_ if s.name == "grade").levels == (".", "a", "b")


def test_a_single_point_is_not_reported_as_text_in_numbers():
    frame = frame_with(None).with_columns(price=pl.Series([".", *frame_with("1.5")["price"][1:]]))
    found = odefs.detect(frame)
    assert not {"unreadable_cells"} & {note.kind for note in found.notes}
    assert "text_in_numbers" not in {check.kind for check in found.checks}


def test_other_text_among_numbers_is_still_reported():
    cells = ["soon", "soon", *frame_with(".")["price"][2:]]
    (note,) = [
        note
        for note in odefs.detect(frame_with(".").with_columns(price=pl.Series(cells))).notes
        if note.kind == "unreadable_cells"
    ]
    assert (note.column, note.count, note.value) == ("price", 2, "soon")


def test_memory_and_parts_agree(tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "SAMPLE_ROWS", 200)
    monkeypatch.setattr(tables, "rows_at_once", lambda n_columns: 101)
    frame_with(".").write_csv(tmp_path / "t.csv")
    (tmp_path / "work").mkdir()
    here = read_in_memory(tmp_path / "t.csv")
    there = read_in_parts(tmp_path / "t.csv", tmp_path / "work")
    assert here.frame.equals(there.frame)
    frame_with(".").write_parquet(tmp_path / "t.parquet", row_group_size=70)
    parts = ParquetTable((tmp_path / "t.parquet",))
    found = [
        detect_table(
            table,
            odefs.ODEFS(random_state=0, n_estimators=3, scaling="none"),
            odefs.TableEncoder(),
        )
        for table in (parts.load(), parts)
    ]
    assert found[0].encoder.specs_ == found[1].encoder.specs_
    assert np.array_equal(found[0].scores, found[1].extent.scores)


def test_a_saved_model_reads_points_as_missing(tmp_path):
    for code in (".", None):
        path = tmp_path / f"{code}.odefs"
        trained = odefs.detect(
            frame_with(code).with_columns(pl.col("price").cast(float, strict=False))
        )
        trained.save(path)
        model = odefs.load(path)
        expected = model.score_samples(frame_with(None).head(50))
        assert np.array_equal(model.score_samples(frame_with(".").head(50)), expected)


def test_a_new_table_of_mostly_points_is_not_refused():
    trained = odefs.detect(frame_with(None).with_columns(pl.col("price").cast(float)))
    cells = ["." if k % 5 else cell for k, cell in enumerate(frame_with("1.5")["price"])]
    none = [None if cell == "." else cell for cell in cells]
    new = frame_with(None)
    scores = trained.score(new.with_columns(price=pl.Series(cells)))
    assert np.array_equal(scores, trained.score(new.with_columns(price=pl.Series(none))))
