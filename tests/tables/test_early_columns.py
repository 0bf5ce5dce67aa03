"""Columns of dates whose years have lost their century: one check, which marks no rows."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

import odefs
from odefs.models.odefs import ODEFSModel
from odefs.tables.checks import find_checks
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.learning import learn_encoder
from odefs.tables.messages.values import year
from odefs.tables.table import table_of

N_ROWS = 200


def days(first):
    return [datetime(first, 11, 18) + timedelta(hours=31 * k) for k in range(N_ROWS)]


def frame(first):
    amounts = np.random.default_rng(0).normal(50, 3, N_ROWS)
    amounts[7] = 900.0
    return pl.DataFrame({"day": days(first), "amount": amounts})


def checks_of(made):
    table, encoder = table_of(made), ColumnEncoder()
    learn_encoder(encoder, table, table.names, 0)
    return [check for check in find_checks(table, encoder, table.names) if check.column == "day"]


@pytest.mark.parametrize("first", [14, 99, 1214])
def test_all_dates_are_centuries_old(first):
    (check,) = checks_of(frame(first))
    assert (check.kind, check.count) == ("early_column", N_ROWS)
    assert [year(end) for end in check.usual] == [first, first + 1]
    assert f"{first} to {first + 1}" in str(check)


@pytest.mark.parametrize("first", [1500, 1815, 2014])
def test_tables_of_history(first):
    assert checks_of(frame(first)) == []


def test_a_single_early_date_is_one_of_a_row():
    cells = days(2014)
    cells[3] = datetime(14, 11, 18)
    (check,) = checks_of(frame(2014).with_columns(day=pl.Series(cells)))
    assert (check.kind, check.rows) == ("early_date", (3,))


def test_no_row_is_marked():
    found = odefs.detect(frame(14), model=ODEFSModel(n_estimators=3, random_state=0))
    assert {check.kind for check in found.checks} == {"early_column", "extreme_value"}
    assert found.to_frame()["checks"].is_not_null().arg_true().to_list() == [7]


def test_years_before_the_first():
    assert year(-1e12) < 0
