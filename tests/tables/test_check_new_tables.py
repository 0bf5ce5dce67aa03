"""Values to check in new tables, which are read as the model has read the table of its training."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from odefs.tables.checks import find_checks
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.learning import learn_encoder
from odefs.tables.table import table_of

TODAY = datetime(2026, 11, 18, tzinfo=UTC).timestamp()


def checks_of(trained, new):
    """Return the checks of a column of a new table as (kind, rows)."""
    frames = [
        pl.DataFrame({"when": cells, "y": np.arange(len(cells)) % 7.0}) for cells in (trained, new)
    ]
    encoder = ColumnEncoder()
    learn_encoder(encoder, table_of(frames[0]), ["when", "y"], 0)
    checks = find_checks(table_of(frames[1]), encoder, ["when", "y"], today=TODAY)
    return [(check.kind, check.rows) for check in checks]


def days(n):
    return [date(2026, 1, 1) + timedelta(days=k) for k in range(n)]


@pytest.mark.parametrize(("order", "is_future"), [("%m/%d/%Y", False), ("%d/%m/%Y", True)])
def test_ambiguous_dates_are_read_as_in_training(order, is_future):
    new = [f"{1 + k % 12:02d}/{1 + k % 12:02d}/2026" for k in range(100)]
    new = ["01/01/2026" if one.startswith("12") else one for one in new]
    new[7] = "11/12/2026"  # 12 November, or 11 December
    trained = [day.strftime(order) for day in days(300)]
    assert checks_of(trained, new) == [("future_date", (7,))] * is_future


@pytest.mark.parametrize("convert", [int, str])
def test_some_bad_dates_do_not_make_numbers_of_compact_dates(convert):
    trained = [convert(day.strftime("%Y%m%d")) for day in days(300)]
    new = trained[:200]
    new[5], new[6], new[9] = convert("0"), convert("0"), convert("20261399")
    assert checks_of(trained, new) == [("text_in_numbers", (5, 6, 9))]


def test_decimal_commas_of_training_are_known_in_new_tables():
    trained = [f"{40 + k % 17},{k % 9}5" for k in range(100)]
    # On their own, these would be thousands.
    new = [f"{40 + k % 17},{k % 9}50" for k in range(100)]
    assert checks_of(trained, new) == []
    new[7] = "43250,5"
    assert checks_of(trained, new) == [("extreme_value", (7,))]


def test_columns_that_the_model_does_not_read_are_recognised():
    new = [day.strftime("%d/%m/%Y") for day in days(100)]
    new[7] = "11/12/2027"
    assert checks_of(["same"] * 100, new) == [("future_date", (7,))]
