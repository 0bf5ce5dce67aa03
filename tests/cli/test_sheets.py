"""Workbooks on the command line: the table of a sheet, every sheet, and models of either."""

import json
from importlib.resources import files

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from xlsxwriter import Workbook

from command import messages
from command import odefs as run

QUICK = ("--set", "n_estimators=2")
SCHEMA = json.loads((files("odefs.cli") / "schemas" / "output.json").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheets")
    rng = np.random.default_rng(0)
    with Workbook(folder / "t.xlsx") as book:
        readme = book.add_worksheet("readme")
        for row in range(4):
            readme.write(row, 0, f"These are {row} sentences on the other sheets.")
        for name in ("north", "south"):
            out = book.add_worksheet(name)
            out.write(0, 0, f"Prices of the {name}")
            out.write_row(2, 1, ["price", "size", "age"])
            out.write_row(3, 1, ["EUR", "m2", "years"])
            for row, cells in enumerate(rng.normal(size=(40, 3)).round(3).tolist()):
                out.write_row(4 + row, 1, cells)
            out.write(46, 1, "Source: Office of Prices")
    return folder


def test_every_sheet_has_its_result(folder):
    done = run("detect", "t.xlsx", "--sheet", "all", "-o", "o.csv", *QUICK, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len(messages(done)) == 1
    assert "'readme'" in messages(done)[0]
    for name in ("north", "south"):
        assert f"t.xlsx, sheet {name}: 40 rows, 3 columns used" in done.stdout
        assert len((folder / f"o.{name}.csv").read_text().splitlines()) == 41
        assert (folder / f"t.{name}.outliers.html").exists()
    again = run("detect", "t.xlsx", "--sheet", "all", *QUICK, cwd=folder)
    assert again.returncode == 0, "earlier reports of the same sheets are overwritten"


def test_a_sheet_that_was_given_is_named(folder):
    line = ("t.xlsx", "--sheet", "south", "--json", *QUICK)
    done = run("detect", *line, "--save", "one.odefs", cwd=folder)
    document = json.loads(done.stdout)
    Draft202012Validator(SCHEMA).validate(document)
    assert (document["source"]["name"], document["source"]["sheet"]) == ("t.xlsx", "south")
    shown = run("detect", "t.xlsx", "--sheet", "south", "--no-report", *QUICK, cwd=folder).stdout
    assert shown.startswith("t.xlsx, sheet south: 40 rows")
    page = run("report", "one.odefs", *line[:3], "-o", "one.md", cwd=folder)
    assert page.returncode == 0, page.stderr
    assert (folder / "one.md").read_text().startswith("# t.xlsx, sheet south")
    # Without the option, the source has the keys of every other file.
    done = run("detect", "t.xlsx", "--json", *QUICK, cwd=folder)
    assert "sheet" not in json.loads(done.stdout)["source"]


def test_sheets_with_similar_names_have_files_of_their_own(tmp_path):
    names = ("R&D", "R+D", "R (D)")
    with Workbook(tmp_path / "t.xlsx") as book:
        for name in names:
            out = book.add_worksheet(name)
            for row, cells in enumerate([("a", "b"), *((i % 7, i % 11) for i in range(40))]):
                out.write_row(row, 0, cells)
    options = ("--sheet", "all", "-o", "o.csv", "--no-report", "--quiet")
    done = run("detect", "t.xlsx", *options, *QUICK, cwd=tmp_path)
    assert (done.returncode, done.stdout, messages(done)) == (0, "", [])
    assert all((tmp_path / f"o.{name}.csv").exists() for name in names)


def test_one_json_document_for_all_sheets(folder):
    done = run("detect", "t.xlsx", "--sheet", "all", "--json", *QUICK, cwd=folder)
    found = json.loads(done.stdout)
    Draft202012Validator(SCHEMA).validate(found)
    assert [entry["sheet"] for entry in found["sheets"]] == ["readme", "north", "south"]
    assert "error" in found["sheets"][0]
    detection = Draft202012Validator({"$ref": "#/$defs/detection", "$defs": SCHEMA["$defs"]})
    for entry in found["sheets"][1:]:
        detection.validate(entry["result"])
        kinds = [note["kind"] for note in entry["result"]["notes"]]
        assert kinds == ["rows_above", "units_row", "rows_below", "sheet_rows"]


def test_a_model_scores_sheets_of_the_same_layout(folder):
    saved = run(
        "detect", "t.xlsx", "--sheet", "north", "--save", "m.odefs", "--no-report", *QUICK,
        cwd=folder,
    )  # fmt: skip
    assert saved.returncode == 0, saved.stderr
    done = run("score", "m.odefs", "t.xlsx", "--sheet", "all", "-o", "s.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len((folder / "s.south.csv").read_text().splitlines()) == 41
    exceeded = run(
        "score", "m.odefs", "t.xlsx", "--sheet", "all", "--flag", "9", "--max-flagged", "0.01",
        cwd=folder,
    )  # fmt: skip
    assert exceeded.returncode == 3
    done = run("explain", "m.odefs", "t.xlsx", "--sheet", "all", "--top", "1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "sheet south:" in done.stdout
    done = run("report", "m.odefs", "t.xlsx", "--sheet", "all", "-o", "r.md", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "r.north.md").exists()
    assert (folder / "r.south.md").exists()


def test_options_that_contradict_each_other_are_refused(folder):
    line = ("detect", "t.xlsx", "--sheet", "north")
    assert run(*line, "--range", "A3", cwd=folder).returncode == 2
    assert run(*line, "--range", "A3:C9", "--skip-rows", "1", cwd=folder).returncode == 2
    assert run("detect", "t.xlsx", "--sheet", "all", "-o", "-", cwd=folder).returncode == 2


def test_a_sheet_without_a_table_is_refused_if_it_is_named(folder):
    done = run("detect", "t.xlsx", "--sheet", "readme", "--no-report", cwd=folder)
    assert done.returncode == 1
    assert "other sheets: north, south" in done.stderr


def test_a_range_is_read(folder):
    done = run(
        "detect", "t.xlsx", "--sheet", "south", "--range", "B3:C44", "--no-report", *QUICK,
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "t.xlsx, sheet south: 40 rows, 2 columns used" in done.stdout


@pytest.mark.parametrize(("command", "takes_all"), [("detect", 1), ("check", 0), ("review", 0)])
def test_help_offers_all_sheets_only_where_they_are_taken(command, takes_all, tmp_path):
    shown = " ".join(run(command, "--help", cwd=tmp_path).stdout.split())
    assert shown.count("'all' for one result per sheet") == takes_all
