"""Tables as matrices: the same bits however rows and columns are split, and edge cases."""

from datetime import date, timedelta

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

import odefs
from odefs.exceptions import TableError
from odefs.tables.encoder import encode
from odefs.tables.encoder.transformer import TableEncoder
from odefs.tables.frames import convert as frames
from odefs.tables.records.notes import Exclusion, Note


def mixed(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    hole = rng.random(n_rows) < 0.1
    return pl.DataFrame(
        {
            "number": np.where(hole, np.nan, rng.normal(size=n_rows)),
            "count": rng.integers(0, 9, n_rows),
            "kind": pl.Series(rng.choice(["a", "b", "c"], n_rows)).set(pl.Series(hole), None),
            "name": [f"n{i}" for i in rng.integers(0, 80, n_rows)],
            "flag": rng.random(n_rows) < 0.3,
            "time": np.datetime64("2024-01-01", "ms")
            + rng.integers(0, 10**10, n_rows).astype("timedelta64[ms]"),
        }
    )


@pytest.mark.parametrize("mark_missing", [False, True])
@pytest.mark.parametrize("n_rows", [49, 50, 51, 700])
def test_blocks_and_threads_change_no_bit(n_rows, mark_missing, monkeypatch):
    frame = mixed(n_rows)
    encoder = TableEncoder(mark_missing=mark_missing)
    monkeypatch.setattr(encode, "available_threads", lambda: 1)
    whole = encoder.fit_transform(frame)
    for threads in (1, 3):
        monkeypatch.setattr(encode, "available_threads", lambda threads=threads: threads)
        for rows in (1, 50, 2**14):
            monkeypatch.setattr(encode, "BLOCK_ROWS", rows)
            np.testing.assert_array_equal(encoder.transform(frame), whole)
    one_by_one = [encoder.transform(frame[row : row + 1]) for row in range(0, n_rows, 17)]
    np.testing.assert_array_equal(np.concatenate(one_by_one), whole[::17])


def test_columns_that_say_nothing_leave_a_matrix_without_columns():
    frame = pd.DataFrame({"a": [1, 1, 1]})
    assert TableEncoder().fit_transform(frame).shape == (3, 0)


@pytest.mark.filterwarnings("error")
def test_whole_numbers_may_span_more_than_a_float_holds():
    frame = pd.DataFrame({"far": ["-1e308", "1", "1e308", "5"], "near": [1.0, 2.0, 3.0, 4.5]})
    encoder = TableEncoder()
    assert np.isfinite(encoder.fit_transform(frame)).all()
    assert encoder.columns == ["far", "near"]


def test_whole_numbers_that_count_the_rows_are_seen():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "k": rng.permutation(50),
            "gap": rng.permutation(np.arange(50) * 3),
            "x": rng.normal(size=50),
        }
    )
    encoder = TableEncoder().fit(frame)
    assert encoder.left_out_ == {"k": Exclusion("row_counter")}
    twice = frame.assign(k=np.r_[frame["k"][:-1], frame["k"][0]])
    assert not TableEncoder().fit(twice).left_out_


def test_only_frames_of_arrow_are_read_on_several_threads(monkeypatch):
    """pandas changes the process's warning filters while it converts: threads would mix them up."""
    monkeypatch.setattr(frames, "available_threads", lambda: 64)
    frame = mixed(frames.SHORT_COLUMN_ROWS + 1)

    def readers(native):
        return frames._readers(nw.from_native(native, eager_only=True))

    assert readers(frame.to_pandas()) == 1
    assert readers(frame) == readers(frame.to_arrow()) == frames.READERS
    assert readers(frame[: frames.SHORT_COLUMN_ROWS]) == 1
    pandas, polars, arrow = (
        frames.columns_of(one) for one in (frame.to_pandas(), frame, pa.table(frame.to_arrow()))
    )
    for name in frame.columns:
        kinds = {table[name].kind for table in (pandas, polars, arrow)}
        assert len(kinds) == 1
        np.testing.assert_array_equal(polars[name].missing, arrow[name].missing)
        np.testing.assert_array_equal(polars[name].missing, pandas[name].missing)


def test_identifiers_with_thousands_marks_are_encoded_alike_in_fit_and_later():
    rng = np.random.default_rng(0)
    names = rng.choice(["1,000", "2,000", "5,000"], 60).tolist()
    names[7] = "none yet"
    frame = pd.DataFrame({"account_id": names, "x": rng.normal(size=60)})
    encoder = TableEncoder()
    trained = encoder.fit_transform(frame)
    np.testing.assert_array_equal(encoder.transform(frame), trained)
    assert [spec.levels for spec in encoder.specs_] == [("1,000", "2,000", "5,000", "none yet"), ()]
    assert encoder.notes_ == [Note("identifier_as_category", "account_id")]


@pytest.mark.parametrize(
    ("ids", "kind"),
    {
        "all differ": (np.arange(5000, 5100), "unique_identifier"),
        "one repeat": ([*range(5000, 5099), 5050], "nearly_unique_identifier"),
        "one missing": ([*range(5000, 5099), None], "nearly_unique_identifier"),
        "marked thousands": ([f"5,{k:03d}" for k in (*range(99), 50)], "nearly_unique_identifier"),
        "text": ([f"A{k}" for k in (*range(99), 50)], "unique_text"),
        "shared": ([*range(5000, 5080), *range(5000, 5020)], "shared_identifier"),
        "foreign keys": ([*range(5000, 5050), *range(5000, 5050)], None),
    }.values(),
)
def test_identifiers_are_left_out_if_nearly_all_values_differ(ids, kind):
    frame = pl.DataFrame({"order_id": ids, "x": np.random.default_rng(0).normal(size=100)})
    encoder = TableEncoder().fit(frame)
    left_out = {name: why.kind for name, why in encoder.left_out_.items()}
    assert left_out == ({"order_id": kind} if kind else {})
    kept = TableEncoder(keep=["order_id"]).fit(frame)
    assert kept.columns == ["order_id", "x"]


ITEMS = np.repeat(np.arange(1, 121), [4, 1, 2, 3, 1, 4] * 20)
"""Numbers of orders, one for each of their items."""
SHARED = {
    "numbers": ("order_id", ITEMS + 330, "shared_identifier"),
    "numbers of another name": ("air_quality_index", ITEMS + 330, None),
    "numbered texts": ("id", [f"2015-{k:06}" for k in ITEMS], "shared_identifier"),
    "of growing length": ("claim.id", [f"C-{k}" for k in ITEMS], "shared_identifier"),
    "marked thousands": ("id", [f"{k:,}" for k in ITEMS * 100], "shared_identifier"),
    "another name": ("order", [f"2015-{k:06}" for k in ITEMS], None),
    "several forms": ("id", [f"{'ABCDE'[k % 5]}{k}" for k in ITEMS], None),
    "words": ("id", ["abcdefghijkl"[k % 12] + "mnopqrstuv"[k // 12] for k in ITEMS - 1], None),
    "codes of places": ("zip", [f"{k:05}" for k in ITEMS * 77], None),
    "foreign keys": ("shop_id", [f"S{k % 40}" for k in ITEMS], None),
    "many rows each": ("shop_id", [f"S{k % 60}" for k in ITEMS], None),
}


@pytest.mark.parametrize("case", SHARED)
def test_identifiers_that_a_few_rows_share_are_left_out(case):
    name, ids, kind = SHARED[case]
    frame = pl.DataFrame({name: ids, "x": np.random.default_rng(0).normal(size=ITEMS.size)})
    encoder = TableEncoder().fit(frame)
    left_out = {column: why.kind for column, why in encoder.left_out_.items()}
    assert left_out == ({name: kind} if kind else {})
    assert TableEncoder(keep=[name]).fit(frame).columns == [name, "x"]


@pytest.mark.parametrize("fit", ["fit", "fit_transform"])
@pytest.mark.parametrize("bad", [pl.DataFrame({"number": [1.0]}), "not a table"])
def test_a_failed_refit_leaves_the_encoder_unfitted(fit, bad):
    encoder = TableEncoder(keep=["name"]).fit(mixed(50))
    with pytest.raises(TableError):
        getattr(encoder, fit)(bad)
    assert not [name for name in vars(encoder) if name.endswith("_")]
    assert encoder.keep == ["name"]
    with pytest.raises(NotFittedError):
        encoder.transform(mixed(50))


def test_a_unit_belongs_to_the_column_of_a_saved_model(tmp_path):
    rng = np.random.default_rng(0)
    kilograms = rng.normal(70, 8, 80).round(1)
    frame = pl.DataFrame({"weight": [f"{one} kg" for one in kilograms], "x": rng.normal(size=80)})
    found = odefs.detect(frame, random_state=0)
    odefs.save(found, tmp_path / "m.odefs")
    encoder = odefs.load(tmp_path / "m.odefs")[0]
    assert [spec.style for spec in encoder.specs_] == ["numbers (kg)", ""]
    # Cells of new rows are read one by one: with the unit, without it, and in another one.
    new = pl.DataFrame({"weight": ["70.5 kg", "70.5", "70.5 lb", None], "x": [0.0] * 4})
    encoded = encoder.transform(new)
    np.testing.assert_array_equal(encoded[0], encoded[1])
    np.testing.assert_array_equal(encoded[2], encoded[3])
    assert encoded[0, 0] != encoded[2, 0]


def test_the_largest_of_amounts_with_magnitudes_is_found(tmp_path):
    rng = np.random.default_rng(0)
    amounts = [f"${one:.1f}K" for one in rng.normal(70, 8, 200)]
    amounts[120] = "$9.5M"
    found = odefs.detect(pl.DataFrame({"amount": amounts, "x": rng.normal(size=200)}))
    assert found.order[0] == 120
    odefs.save(found, tmp_path / "m.odefs")
    encoder = odefs.load(tmp_path / "m.odefs")[0]
    encoded = encoder.transform(
        pl.DataFrame({"amount": ["$9.5M", "$9500K", "$9,500,000"], "x": [0.0] * 3})
    )
    np.testing.assert_array_equal(encoded[1:], encoded[[0, 0]])


def test_text_that_is_declared_to_be_numbers_is_not_called_empty():
    rng = np.random.default_rng(0)
    words = [f"word {k}" for k in range(40)]
    frame = pl.DataFrame(
        {"none": words, "few": [*words[:-3], "1", "2", "3"], "x": rng.normal(size=40)}
    )
    encoder = TableEncoder(number=["none", "few"]).fit(frame)
    assert encoder.left_out_ == {"none": Exclusion("no_numbers")}
    given = {"row": 0, "value": "word 0", "format": "numbers", "limit": 40}
    assert encoder.notes_ == [
        Note("few_numbers", "none", count=0, **given),
        Note("few_numbers", "few", count=3, **given),
    ]
    assert TableEncoder.from_state(encoder.state()).left_out_ == encoder.left_out_
    empty = TableEncoder(number=["none"]).fit(frame.with_columns(none=pl.lit(None, pl.String)))
    assert empty.left_out_["none"] == Exclusion("empty")


@pytest.mark.parametrize(
    ("formats", "kind"),
    [
        (["%Y-%m-%d", "%d/%m/%Y", "%b %d, %Y", "%m/%d/%Y"], "mixed_dates"),
        (["%d.%m.%Y", "%m.%d.%Y"], "mixed_dates"),
        (["%Y-%m-%d", "%d.%m.%Y"], None),
        (["%Y-%m-%d"], None),
        (["%Y-%m-%d", "day %j of %Y"], "unique_text"),
    ],
)
def test_dates_in_several_formats_are_named_as_such(formats, kind):
    days = [date(2015, 1, 1) + timedelta(days=37 * k) for k in range(60)]
    texts = [f"{day:{formats[k % len(formats)]}}" for k, day in enumerate(days)]
    frame = pl.DataFrame({"day": texts, "x": np.random.default_rng(0).normal(size=60)})
    encoder = TableEncoder().fit(frame)
    assert {name: why.kind for name, why in encoder.left_out_.items()} == (
        {"day": kind} if kind else {}
    )


def in_nwtco(n_rows=4028, n_gaps=54):
    """Numbers of samples of which some are not in the table."""
    numbers = np.arange(1, n_rows + n_gaps + 1)
    gaps = np.random.default_rng(0).choice(numbers[1:-1], n_gaps, replace=False)
    return np.setdiff1d(numbers, gaps)


MINUTES = np.arange(500, 561)
SERIAL = {
    "from an offset": (4_900_000 + np.arange(200), True),
    "few gaps": (in_nwtco(), True),
    "some repeats and swaps": ([*range(7, 60), 59, *range(60, 110), 111, 110, 112], True),
    "two lines below the table": ([*map(str, range(1, 181)), "Average", "n = 180"], True),
    "as text": ([f"{k:,}" for k in range(1000, 1200)], True),
    "one minute a row": (MINUTES, True),
    "minutes of two days": (np.tile(MINUTES, 2), False),
    "minutes that repeat": (np.repeat(MINUTES, 3), False),
    "one year a row": (np.arange(1960, 2021), False),
    "years of sunspots": (np.arange(1700, 2009), False),
    "many gaps": (np.sort(np.random.default_rng(0).choice(400, 200, replace=False)), False),
    "in another order": (np.random.default_rng(0).permutation(200) + 500, False),
    "not whole": (np.arange(200) + 500.5, False),
    "falling": (np.arange(700, 500, -1), False),
    "some are missing": ([*range(500, 600), *[None] * 9, *range(609, 700)], False),
    "a typing error": ([*range(500, 600), 6010, *range(601, 700)], False),
}


@pytest.mark.parametrize("name", SERIAL)
def test_numbers_that_increase_from_row_to_row_are_left_out(name):
    numbers, is_serial = SERIAL[name]
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"k": numbers, "x": rng.normal(size=len(numbers))})
    left_out = {"k": Exclusion("serial_numbers")} if is_serial else {}
    assert TableEncoder().fit(frame).left_out_ == left_out
    for wanted in ("keep", "number", "category"):
        assert not TableEncoder(**{wanted: ["k"]}).fit(frame).left_out_
