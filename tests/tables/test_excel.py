"""Excel files, written and read back: no table, cell or digit is lost without a word."""

import re
from datetime import UTC, date, datetime, time, timedelta
from xml.etree import ElementTree
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest
from xlsxwriter import Workbook

import odefs
from command import messages
from command import odefs as run
from odefs.exceptions import TableError
from odefs.tables.records.notes import Note
from odefs.tables.table import table_of
from odefs.tables.writers.columns import result_batches
from odefs.tables.writers.excel import MAX_COLUMNS, MAX_ROWS, require_room, unique_excel_names
from odefs.tables.writers.files import write_table
from opening import read_in_memory

QUICK = ("--no-report", "--set", "n_estimators=2")


def table(**further):
    rng = np.random.default_rng(0)
    return pl.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60)} | further)


def sheet(path, columns, rows, formats=None):
    """A workbook as people make it: any kind of cell in any place."""
    with Workbook(path) as book:
        out = book.add_worksheet()
        for place, name in enumerate(columns):
            form = (
                book.add_format({"num_format": formats[name]}) if name in (formats or {}) else None
            )
            out.write(0, place, name)
            for number, cell in enumerate(rows[place], 1):
                if cell is not None:
                    out.write(
                        number,
                        place,
                        cell,
                        *([] if form is None or isinstance(cell, str) else [form]),
                    )
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Score", "Rank", "REASONS"])
@pytest.mark.parametrize("named", [False, True])
def test_a_column_whose_name_differs_from_a_result_by_case_alone_is_written(name, named, tmp_path):
    table(**{name: [f"n{i}" for i in range(60)]}).write_parquet(tmp_path / "t.parquet")
    asked = ("--id", name) if named else ("--keep", name)
    done = run("detect", "t.parquet", "-o", "y.xlsx", "--with-data", *asked, *QUICK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    back = read_in_memory(tmp_path / "y.xlsx").frame
    assert back.height == 60
    assert back[f"{name} ({'id' if named else 'input'})"].to_list() == [f"n{i}" for i in range(60)]
    assert back["row"].to_list() == list(range(1, 61))


def test_input_columns_that_differ_by_case_alone_are_written(tmp_path):
    frame = table(a=range(60), A=range(60, 120))
    found = odefs.detect(frame, model=odefs.ODEFS(n_estimators=2, random_state=0))
    write_table(
        tmp_path / "t.xlsx", result_batches(table_of(frame), found, with_data=True, folds=True)
    )
    back = read_in_memory(tmp_path / "t.xlsx").frame
    assert back["a"].to_list() == frame["a"].to_list()
    assert back["A (input)"].to_list() == frame["A"].to_list()
    (columns,) = result_batches(table_of(frame), found, with_data=True)
    assert "A" in columns, "other files tell such names apart"


def test_names_for_a_sheet():
    names = ["a", "A", "a (2)", "", "Column4", "ß", "SS"]
    apart = unique_excel_names(names)
    assert apart == ["a", "A (2)", "a (2) (2)", "Column4", "Column4 (2)", "ß", "SS (2)"]
    assert len({name.casefold() for name in apart}) == len(names)


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx"])
def test_names_that_are_defused_stay_apart(name, tmp_path):
    write_table(tmp_path / name, [{"=a": [1, 2], "'=a": [3, 4]}], excel=True)
    assert read_in_memory(tmp_path / name).frame.rows() == [(1, 3), (2, 4)]


def test_what_the_writer_leaves_out_with_a_warning_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("odefs.tables.writers.excel.unique_excel_names", list)
    with pytest.raises(TableError, match=r"t\.xlsx: cannot be written \(Duplicate header name"):
        write_table(tmp_path / "t.xlsx", [{"a": [1, 2], "A": [3, 4]}])
    assert list(tmp_path.iterdir()) == []


def test_cells_that_excel_has_no_form_for(tmp_path):
    nothing = float("nan")
    columns = {
        "number": [0.1, nothing, float("inf"), -float("inf"), None],
        "blank": [0.5, nothing, 1.5, None, 2.5],
        "zoned": [datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC), *[None] * 4],
        "early": [date(1850, 1, 2), date(2024, 1, 2), None, None, None],
        "far": pl.Series([4_000_000, 0, None, None, None]).cast(pl.Int32).cast(pl.Date),
        "account": [2**60 + 1, 7, None, None, None],
        "clock": [time(17, 3), time(0, 0), None, None, None],
    }
    assert write_table(tmp_path / "t.xlsx", [columns]) == ()
    back = read_in_memory(tmp_path / "t.xlsx").frame
    assert back["number"].to_list() == ["0.1", None, "inf", "-inf", None]
    assert back["blank"].to_list() == [0.5, None, 1.5, None, 2.5]
    assert back["zoned"].to_list() == ["2024-05-06T07:08:09+00:00", *[None] * 4]
    assert back["early"].to_list()[:2] == ["1850-01-02", "2024-01-02"]
    assert back["far"].to_list()[1] == "1970-01-01"
    assert back["account"].to_list()[:2] == [str(2**60 + 1), "7"]
    assert back["clock"].to_list()[:2] == [time(17, 3), time(0, 0)]


def test_a_table_with_such_cells_gets_its_file(tmp_path):
    cells = table()["x"].to_list()
    zoned = pl.Series([datetime(2024, 1, 1) + timedelta(hours=i) for i in range(60)])
    frame = table(n=[float("nan"), *cells[1:]], when=zoned.dt.replace_time_zone("UTC"))
    frame.write_parquet(tmp_path / "t.parquet")
    done = run("detect", "t.parquet", "-o", "y.xlsx", "--with-data", *QUICK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    back = read_in_memory(tmp_path / "y.xlsx").frame
    assert back["n"].null_count() == 1
    assert back["when"][1] == "2024-01-01T01:00:00+00:00"


def test_texts_that_are_too_long_for_a_cell_are_cut_with_a_word(tmp_path):
    pairs = "\N{GRINNING FACE}" * 20_000  # two units of UTF-16 each
    columns = {"a": ["x" * 40_000, pairs, "y" * 32_767], "b": ["short", None, "z"]}
    notes = write_table(tmp_path / "t.xlsx", [columns])
    assert notes == (Note("excel_texts_cut", columns=("a",), limit=32_767),)
    assert read_in_memory(tmp_path / "t.xlsx").frame["a"].str.len_chars().to_list() == [
        32_767,
        16_383,
        32_767,
    ]
    table(story=["x" * 40_000, *map(str, range(59))]).write_parquet(tmp_path / "t.parquet")
    done = run("detect", "t.parquet", "-o", "y.xlsx", "--with-data", *QUICK, cwd=tmp_path)
    assert done.returncode == 0
    assert messages(done) == [
        f"odefs: y.xlsx: {Note('excel_texts_cut', columns=('story',), limit=32_767)}"
    ]


ODD = ("\x00", "\x01", "\x0b", "\x1f", "\ufffe", "\uffff", "\ud800", "\t", "\r", "\n", "_x0041_")


@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_a_file_with_characters_that_xml_has_no_form_for_opens(odd, tmp_path):
    """In names, where the table inside the sheet repeats them as attributes, and in cells."""
    columns = {f"a{odd}b": [1, 2], f"A{odd}B": [3, 4], "text": [f"u{odd}v", odd], "last": [5, 6]}
    write_table(tmp_path / "t.xlsx", [columns])
    with ZipFile(tmp_path / "t.xlsx") as packed:
        parts = {
            name: ElementTree.fromstring(packed.read(name))
            for name in packed.namelist()
            if name.endswith("xml")
        }
    back = read_in_memory(tmp_path / "t.xlsx").frame
    assert back.height == 2
    assert back.columns[2:] == ["text", "last"]
    assert back.drop("text").rows() == [(1, 3, 5), (2, 4, 6)]
    (table,) = (root for name, root in parts.items() if "tables/" in name)
    named = [part.get("name") for part in table.iter() if part.tag.endswith("tableColumn")]
    assert named == back.columns, (
        "Excel repairs a file whose table calls its columns otherwise than the first row does"
    )
    if odd not in ("\ufffe", "\uffff", "\ud800", "\t"):
        assert back["text"].to_list() == columns["text"], "cells have a form for control characters"


def test_long_names_are_cut_to_what_excel_allows_and_stay_apart(tmp_path):
    names = ["n" * 300, "n" * 400, "\N{GRINNING FACE}" * 200, "short"]
    notes = write_table(tmp_path / "t.xlsx", [{name: [1, 2] for name in names}])
    assert notes == (Note("excel_names_cut", count=3, limit=255),)
    back = read_in_memory(tmp_path / "t.xlsx").frame.columns
    assert len(set(back)) == 4
    assert all(len(name.encode("utf-16-le")) <= 2 * 255 for name in back)
    assert back[3] == "short"


def test_text_like_a_formula_is_a_text_cell_and_marked_as_such(tmp_path):
    columns = {"=a": ["=1+1", "'=x"], "b": ["-x", "+5"]}
    write_table(tmp_path / "t.xlsx", [columns])
    assert read_in_memory(tmp_path / "t.xlsx").frame.to_dict(as_series=False) == columns
    with ZipFile(tmp_path / "t.xlsx") as packed:
        sheet, styles = (
            packed.read(f"xl/{name}.xml").decode() for name in ("worksheets/sheet1", "styles")
        )
    assert "<f>" not in sheet
    formats = re.findall(r"<xf [^>]*>", styles[styles.index("<cellXfs") :])
    marked = {place for place, form in enumerate(formats) if 'quotePrefix="1"' in form}
    cells = dict(re.findall(r'<c r="([AB][23])" s="(\d+)" t="s">', sheet))
    assert {cell for cell, form in cells.items() if int(form) in marked} == {"A2", "B2"}


def test_a_sheet_without_room_is_refused_before_the_fit(tmp_path):
    require_room(tmp_path, MAX_ROWS - 1, MAX_COLUMNS)
    pl.select(a=pl.int_range(MAX_ROWS), b=pl.int_range(MAX_ROWS) % 7).write_parquet(
        tmp_path / "t.parquet"
    )
    # No column is left to fit to, of which it would be said next.
    done = run(
        "detect",
        "t.parquet",
        "-o",
        "y.xlsx",
        "--drop",
        "a",
        "--drop",
        "b",
        "--no-report",
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert messages(done) == [
        "odefs: y.xlsx: 1,048,576 rows are more than the 1,048,575 that an Excel sheet holds: "
        "write parquet, csv, arrow or ndjson."
    ]
    assert not (tmp_path / "y.xlsx").exists()


@pytest.mark.slow
def test_a_model_is_not_asked_for_scores_that_have_no_room(tmp_path):
    table().write_parquet(tmp_path / "t.parquet")
    assert run("detect", "t.parquet", "--save", "m.odefs", *QUICK, cwd=tmp_path).returncode == 0
    # Scoring would end with the columns that are missing: the sheet is looked at before.
    wide = pl.DataFrame({f"c{i}": [1, 2] for i in range(MAX_COLUMNS)})
    wide.write_parquet(tmp_path / "wide.parquet")
    done = run("score", "m.odefs", "wide.parquet", "-o", "y.xlsx", "--with-data", cwd=tmp_path)
    assert done.returncode == 1
    assert (
        "y.xlsx: 16,389 columns are more than the 16,384 that an Excel sheet holds" in done.stderr
    )


def test_cells_of_another_type_far_down_are_kept(tmp_path):
    late = [i / 3 for i in range(1, 200)] + ["unknown", 1e-12]
    sheet(tmp_path / "t.xlsx", ["late", "whole"], [late, [*range(200), 0.25]])
    frame = read_in_memory(tmp_path / "t.xlsx").frame
    assert frame["late"][199] == "unknown"
    assert frame["late"].null_count() == 0
    assert [
        float(cell) for cell in frame["late"].drop_nulls() if cell != "unknown"
    ] == pytest.approx([cell for cell in late if cell != "unknown"], rel=1e-15, abs=0)
    assert frame["whole"].to_list() == [*map(float, range(200)), 0.25]


def test_text_that_looks_like_a_number_stays_as_it_is(tmp_path):
    codes = ["0.50", "007", 0.1234567890125, "a", True, None]
    sheet(tmp_path / "t.xlsx", ["code", "other"], [codes, list(range(6))])
    read = read_in_memory(tmp_path / "t.xlsx").frame["code"].to_list()
    assert read == ["0.50", "007", "0.1234567890125", "a", "true", None]


def test_rows_stay_together_where_some_are_blank(tmp_path):
    columns = [["a", None, None, 0.1234567890125], [1, None, 3, 4]]
    sheet(tmp_path / "t.xlsx", ["mixed", "n"], columns)
    assert read_in_memory(tmp_path / "t.xlsx").frame.rows() == [
        ("a", 1),
        (None, 3),
        ("0.1234567890125", 4),
    ]


def test_cells_without_a_type_in_common_are_text(tmp_path):
    path = tmp_path / "t.xlsx"
    with Workbook(path) as book:
        out = book.add_worksheet()
        forms = [book.add_format({"num_format": form}) for form in ("yyyy-mm-dd", "[h]:mm:ss")]
        out.write_row(0, 0, ["d", "n"])
        for row in range(1, 5):
            out.write(row, 0, date(2024, 1, row) if row % 2 else 1.5, forms[(row + 1) % 2])
            out.write(row, 1, "none" if row == 1 else row + 0.12345678901)
    frame = read_in_memory(path).frame
    assert frame["d"].to_list()[0] == "2024-01-01 00:00:00"
    assert frame["d"].null_count() == 0
    assert frame["n"].to_list()[1] == "2.12345678901"


def test_the_reader_behind_says_nothing_on_its_own(tmp_path):
    cells = [table()["x"].to_list(), table()["y"].to_list(), []]
    sheet(tmp_path / "t.xlsx", ["x", "y", "blank"], cells)
    done = run("detect", "t.xlsx", *QUICK, cwd=tmp_path)
    assert (done.returncode, messages(done)) == (0, [])


def test_times_of_day_are_times_as_in_other_files(tmp_path):
    minutes = [60 * (i % 4) + 540 for i in range(59)] + [60 * 3 + 17]
    times = [time(minute // 60, minute % 60) for minute in minutes]
    cells = [
        times,
        [minute / 1440 for minute in minutes],
        table()["x"].to_list(),
        [datetime(2024, 1, 1, 8)] * 60,
    ]
    formats = {"clock": "hh:mm", "share": "hh:mm", "day": "yyyy-mm-dd hh:mm"}
    sheet(tmp_path / "t.xlsx", ["clock", "share", "x", "day"], cells, formats)
    frame = read_in_memory(tmp_path / "t.xlsx").frame
    assert frame["clock"].to_list() == frame["share"].to_list() == times
    assert frame["day"].dtype == pl.Datetime
    frame.write_parquet(tmp_path / "t.parquet")
    shown = [
        run("detect", name, *QUICK, cwd=tmp_path).stdout.split("\n", 1)[1]
        for name in ("t.xlsx", "t.parquet")
    ]
    assert shown[0] == shown[1]
    assert "1899" not in shown[0]
    assert "03:17" in shown[0]
