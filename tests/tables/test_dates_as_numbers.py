"""Dates such as 20250403, stored as numbers or as text: one column, one result."""

import numpy as np
import pandas as pd
import pytest

import odefs


def table(cells):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"a": rng.normal(size=len(cells)), "b": rng.normal(size=len(cells)), "day": cells}
    )


@pytest.fixture
def days():
    return pd.date_range("2023-01-01", periods=300).strftime("%Y%m%d").astype(int).to_numpy()


@pytest.mark.parametrize(
    ("cell", "kind"),
    [(20990101, "future_date"), (18500101, "early_date"), (0, "text_in_numbers")],
)
def test_numbers_and_text_have_the_same_checks(days, cell, kind):
    cells = np.where(np.arange(300) == 5, cell, days)
    for frame in (table(cells), table(cells.astype(str))):
        (check,) = odefs.detect(frame).checks
        assert (check.kind, check.rows) == (kind, (5,))


def test_planned_dates_may_be_in_the_future(days):
    frame = table(np.where(np.arange(300) == 5, 20990101, days)).rename(columns={"day": "due"})
    assert "future_date" not in [check.kind for check in odefs.detect(frame).checks]


def test_a_missing_day_does_not_make_numbers_of_dates(days, tmp_path):
    frame = table(pd.array(days, dtype="Int64"))
    frame.loc[7, "day"] = pd.NA
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = [
        odefs.detect(one) for one in (tmp_path / "t.csv", pd.read_csv(tmp_path / "t.csv"), frame)
    ]
    assert {one.encoder.specs_[-1].kind for one in found} == {"time"}
    assert all((one.scores == found[0].scores).all() for one in found)


def test_ids_with_a_missing_cell_are_ids_in_pandas_too(tmp_path):
    rng = np.random.default_rng(1)
    ids = pd.array(np.arange(1000, 1300), dtype="Int64")
    ids[7], ids[20] = ids[3], pd.NA
    frame = pd.DataFrame({"order_id": ids, "x": rng.normal(size=300), "y": rng.normal(size=300)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for one in (tmp_path / "t.csv", pd.read_csv(tmp_path / "t.csv")):
        found = odefs.detect(one)
        assert [(check.kind, check.rows) for check in found.checks] == [("repeated_id", (3, 7))]
        assert "order_id" in found.left_out
