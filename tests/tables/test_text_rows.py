"""Rows with text in several columns of numbers are one check, not one for each column."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import odefs
from odefs.models.odefs import ODEFSModel
from odefs.report.checks import collect_checks
from odefs.tables.checks import find_checks
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.learning import learn_encoder
from odefs.tables.table import table_of

NAMES = ("Amount", "Net", "Price", "Tax")


def frame(rows, n=120):
    """Return columns of numbers in which some rows have text."""
    cells = np.random.default_rng(0).normal(100, 5, (len(NAMES), n)).round(2).astype(str)
    columns = dict(zip(NAMES, cells.tolist(), strict=True))
    for row, texts in rows.items():
        for name, text in texts.items():
            columns[name][row] = text
    return pl.DataFrame(columns | {"city": ["Oslo", "Rome", "Bonn"] * (n // 3)})


def checks_of(rows, hidden=()):
    table, encoder = table_of(frame(rows)), ColumnEncoder()
    learn_encoder(encoder, table, table.names, 0)
    return find_checks(table, encoder, table.names, hidden=hidden)


def kinds(checks):
    return {(check.kind, check.column): check.rows for check in checks}


HEADER = {name: name for name in NAMES}


def test_a_repeated_header_is_one_check():
    (check,) = checks_of({50: HEADER})
    assert (check.kind, check.rows, check.columns) == ("repeated_header", (50,), NAMES)
    (check,) = checks_of({50: HEADER, 100: HEADER})
    assert (check.kind, check.count, check.rows) == ("repeated_header", 2, (50, 100))


def test_other_text_in_three_columns():
    texts = {"Amount": "none", "Net": "later", "Price": "see mail"}
    assert kinds(checks_of({50: texts})) == {("text_row", None): (50,)}
    fewer = {"Amount": "none", "Net": "see mail"}
    assert kinds(checks_of({50: fewer})) == {
        ("text_in_numbers", "Amount"): (50,),
        ("text_in_numbers", "Net"): (50,),
    }


def test_text_of_other_rows_remains_a_check_of_its_column():
    found = kinds(checks_of({50: HEADER, 70: {"Net": "3.9k"}}))
    assert found == {("repeated_header", None): (50,), ("text_in_numbers", "Net"): (50, 70)}


def test_a_hidden_column_is_not_named():
    found = checks_of({50: HEADER}, hidden=["Net"])
    by_kind = {check.kind: check for check in found}
    assert by_kind["repeated_header"].columns == ("Amount", "Price", "Tax")
    assert by_kind["text_in_numbers"].column == "Net"


@pytest.fixture(scope="module")
def found():
    return odefs.detect(frame({50: HEADER}), model=ODEFSModel(n_estimators=3, random_state=0))


def test_results_have_the_row_once(found):
    marked = found.to_frame()["checks"]
    assert marked.drop_nulls().len() == 1
    assert marked[50] is not None
    (record,) = collect_checks(found.checks)
    assert record["columns"] == list(NAMES)
    # The notes on the columns say the same.
    unreadable = [note for note in found.notes if note.kind == "unreadable_cells"]
    assert {note.column for note in unreadable} == set(NAMES)
    (check,) = found.checks
    assert all(check.replaces(note) for note in unreadable)
    assert not check.replaces(replace(unreadable[0], column="city"))
