"""Names of rows in texts: ids, and the row number where the id is missing."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

import odefs
from odefs.cli.commands.explain import _by_id
from odefs.exceptions import TableError
from odefs.report.checks import collect_checks
from odefs.report.collect import collect
from odefs.tables.answers.file import AnswerFile
from odefs.tables.messages import first_rows, row_name, row_title
from odefs.tables.results.displayed_rows import RowTexts
from odefs.tables.table import table_of

MISSING = (5, 60)
"""Rows without an id; the first one has an extreme value."""


def frame(library="polars"):
    rng = np.random.default_rng(0)
    ids = [None if row in MISSING else 1000 + row for row in range(100)]
    cells = rng.normal(size=(2, 100))
    cells[0, MISSING[0]] = cells[0, 20] = 90.0
    made = pl.DataFrame({"case": ids, "a": cells[0], "b": cells[1]})
    return made if library == "polars" else pd.DataFrame(made.to_dict(as_series=False))


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_rows_without_an_id_go_by_their_numbers(library):
    found = odefs.detect(frame(library), id="case", n_jobs=1)
    assert RowTexts(found)[MISSING[0]] == "row 6"
    assert RowTexts(found, first=0)[MISSING[0]] == "row 5"
    summary, _ = collect(found)
    assert "row 6" in [row["name"] for row in summary["top"][:2]]
    (check,) = [check for check in found.checks if check.kind == "extreme_value"]
    (record,) = collect_checks([check])
    assert record["names"] == ["row 6", check.names[1]]
    # A frame has the ids of the table, so that it can be joined with it.
    assert found.to_frame()["case"][MISSING[0]] != "row 6"


def test_rows_with_ids_come_first():
    names = [None, 1011, None]
    assert first_rows("a", [6, 12, 61], names, 3, "case") == "case 1011, row 6, row 61"
    assert first_rows("a", [6, 61], [None, None], 5, "case") == "rows 6, 61 and 3 more"
    # Documents have the text already.
    assert first_rows("a", [6, 12], ["row 6", 1011], 2, "case") == "case 1011, row 6"


def test_titles_name_the_column_of_ids_only():
    assert row_title("case", row_name(1011, 12)) == "case 1011"
    assert row_title("case", row_name(None, 6)) == row_title("case", row_name(np.nan, 6)) == "row 6"


def test_days_that_are_stored_as_times_have_no_time():
    midnight = datetime(2025, 3, 15, tzinfo=UTC).replace(tzinfo=None)
    assert row_name(str(midnight), 1) == "2025-03-15"
    noon = str(midnight + timedelta(hours=12))
    assert row_name(noon, 1) == noon


def test_the_command_line_takes_the_names_that_it_shows():
    names = ["2025-03-15", "row 2", "2025-03-17"]
    given = ["row 2", "2025-03-15 00:00:00", "2025-03-17"]
    assert list(_by_id(given, "day", names)) == [[1], [0], [2]]
    with pytest.raises(TableError):
        list(_by_id(["2"], "day", names))


def test_answers_take_the_names_of_the_report(tmp_path):
    table = table_of(frame())
    file = AnswerFile(tmp_path / "a.csv", table, "0123456789abcdef", "case")
    file.path.write_text("case,answer\nrow 6,yes\n1020,no\n")
    assert [(one.row, one.word) for one in file.read()] == [(5, "yes"), (20, "no")]
    # The row that has this number has an id.
    file.path.write_text("case,answer\nrow 7,yes\n")
    with pytest.raises(TableError):
        file.read()
