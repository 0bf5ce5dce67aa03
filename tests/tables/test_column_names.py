"""Names of columns: space around them, repeated names, and names that someone expects."""

import numpy as np
import polars as pl
import pytest

import odefs
from command import odefs as run
from odefs.tables.readers.layout.column_names import ColumnNames
from opening import in_both_modes, read

ROWS = "".join(f"{k},{k % 7},{'ab'[k % 2]}\n" for k in range(60)) + "60,900,a\n"


def test_repeated_names_are_numbered_from_two_and_avoid_names_of_the_file():
    names = ColumnNames.of([" a", "a ", "a (2)", "", " a "])
    assert names.used == ("a", "a (3)", "a (2)", "column 4", "a (4)")
    assert [(note.kind, note.column, note.columns) for note in names.notes] == [
        ("unnamed_columns", None, ("column 4",)),
        ("repeated_name", "a", ("a (3)", "a (4)")),
    ]


def test_a_padded_name_does_not_take_the_place_of_the_name_itself():
    assert ColumnNames.of(["price ", "price", "size "], ["price"]).used == (
        "price ",
        "price",
        "size",
    )


@pytest.mark.parametrize("forms", [("a.1", "a.2"), ("a_duplicated_0", "a_duplicated_1")])
def test_a_model_finds_repeated_names_in_the_form_of_its_library(forms):
    assert ColumnNames.of(["a", "a", "a"], ["a", *forms]).used == ("a", *forms)


@in_both_modes
def test_names_that_someone_expects_keep_the_space_around_them(mode, tmp_path):
    (tmp_path / "t.csv").write_text(f"id, price ,kind \n{ROWS}")
    assert read(tmp_path / "t.csv", mode).columns == ["id", "price", "kind"]
    found = read(tmp_path / "t.csv", mode, expected_names=["id", " price "])
    assert found.columns == ["id", " price ", "kind"]
    assert read(tmp_path / "t.csv", mode, text_columns=["kind "]).columns[2] == "kind "
    assert read(tmp_path / "t.csv", mode, named_columns=["kind "]).columns[2] == "kind "


@in_both_modes
def test_names_of_a_file_that_odefs_wrote_stay_as_they_are(mode, tmp_path):
    (tmp_path / "t.csv").write_text("row,score,rank,outlier, price \n1,2.5,1,yes,3\n2,1.5,2,no,4\n")
    assert read(tmp_path / "t.csv", mode).columns[-1] == " price "


def test_arguments_name_columns_with_and_without_the_space(tmp_path):
    (tmp_path / "t.csv").write_text(f"id, price, kind\n{ROWS}")
    for space in ("", " "):
        found = odefs.detect(tmp_path / "t.csv", id="id", by=f"{space}kind", hide=["price"])
        assert found.order[0] == 60


def test_commands_name_columns_without_the_space_and_models_find_them(tmp_path):
    (tmp_path / "t.csv").write_text(f"id, price, price\n{ROWS}")
    detected = run(
        *("detect", "t.csv", "--id", "id", "--category", "price (2)", "--json", "--no-report"),
        *("--save", "m.odefs"),
        cwd=tmp_path,
    )
    assert detected.returncode == 0, detected.stderr
    scored = run("score", "m.odefs", "t.csv", "-o", "s.csv", cwd=tmp_path)
    assert scored.returncode == 0, scored.stderr
    scores = pl.read_csv(tmp_path / "s.csv")["score"]
    assert int(np.argmax(scores)) == 60
