"""Excel sheets as people make them: the table is found, and what was left out is reported."""

import zipfile
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest
from xlsxwriter import Workbook

from odefs.exceptions import TableError
from odefs.tables.readers.excel.read import read_sheet
from odefs.tables.records.notes import Note
from opening import read_in_memory

N = 30
NAMES = ["city", "price", "size"]


def body(n=N):
    """Rows of text and numbers."""
    return [[f"city {k}", 10.5 + k, 100 + 7 * k] for k in range(n)]


@dataclass
class Case:
    """A sheet as rows from A1 on, and the table in it."""

    rows: list[list[Any]]
    names: list[str] = field(default_factory=lambda: list(NAMES))
    first: tuple = tuple(body()[0])
    last: tuple = tuple(body()[-1])
    n_rows: int = N
    notes: tuple[str, ...] = ()
    merged: tuple[tuple[str, Any], ...] = ()


def _wide(rows, left):
    return [[None] * left + row for row in rows]


QUARTERS = [[f"region {k}", 1.5 + k, 2.5 + k, 3.5 + k, 4.5 + k] for k in range(N)]
STORES = [[f"S{k}", f"city {k % 4}", *row[1:], 0.5 + k] for k, row in enumerate(QUARTERS)]
PEOPLE = [[k, f"name {k}"] for k in range(8)]
SENTENCE = "These figures are provisional and may be revised later."

CASES = {
    "plain": Case([NAMES, *body()]),
    "title": Case([["Prices of 2024"], NAMES, *body()], notes=("rows_above",)),
    "title and blank row": Case([["Prices"], [], NAMES, *body()], notes=("rows_above",)),
    "two titles and a date": Case(
        [["Prices"], ["Office of Prices", None, "2024-05-06"], [], NAMES, *body()],
        notes=("rows_above",),
    ),
    "long title in merged cells": Case(
        [[SENTENCE], [], NAMES, *body()], notes=("rows_above",), merged=(("A1:C1", SENTENCE),)
    ),
    "key and value lines above": Case(
        [["Author", "Ann"], ["Created", date(2024, 1, 2)], [], [*NAMES, "n"]]
        + [[*row, 3] for row in body()],
        names=[*NAMES, "n"],
        first=(*body()[0], 3),
        last=(*body()[-1], 3),
        notes=("rows_above",),
    ),
    "not in column A": Case(_wide([["Prices"], [], NAMES, *body()], 3), notes=("rows_above",)),
    "title left of the table": Case(
        [["Prices"], [], *_wide([NAMES, *body()], 2)], notes=("rows_above",)
    ),
    "blank rows above": Case([[], [], [], NAMES, *body()]),
    "units": Case([NAMES, [None, "EUR", "m²"], *body()], notes=("units_row",)),
    "units in brackets": Case([NAMES, ["(name)", "(EUR)", "[m2]"], *body()], notes=("units_row",)),
    "units below a title": Case(
        [["Prices"], NAMES, ["-", "1000 EUR", "km"], *body()], notes=("rows_above", "units_row")
    ),
    "total": Case([NAMES, *body(), ["Total", 750.0, 6045]], notes=("total_row",)),
    "total after a blank row": Case(
        [NAMES, *body(), [], ["Total", 750.0, 6045]], notes=("total_row",)
    ),
    "total and mean": Case(
        [NAMES, *body(), ["Sum", 750.0, 6045], ["Average", 25.0, 201.5]],
        notes=("total_row", "total_row"),
    ),
    "source below": Case([NAMES, *body(), ["Source: Office of Prices"]], notes=("rows_below",)),
    "notes below a blank row": Case(
        [NAMES, *body(), [], ["* provisional"], [SENTENCE]], notes=("rows_below",)
    ),
    "subtotals of groups, the last at the end": Case(
        [
            [*NAMES, "kind"],
            *[[*row, "a"] for row in body()[:10]],
            ["Subtotal a", 150.5, 1315],
            *[[*row, "b"] for row in body()[10:]],
            ["Subtotal b", 600.5, 4730],
            ["Total", 750.0, 6045],
        ],
        names=[*NAMES, "kind"],
        first=(*body()[0], "a"),
        last=(*body()[-1], "b"),
        notes=("inner_totals", "total_row", "total_row"),
    ),
    "subtotals with equal labels": Case(
        [
            [*NAMES, "kind"],
            *[[*row, "a"] for row in body()[:10]],
            ["Total", 150.5, 1315],
            *[[*row, "b"] for row in body()[10:]],
            ["Total", 600.5, 4730],
            ["Grand total", 750.0, 6045],
        ],
        names=[*NAMES, "kind"],
        first=(*body()[0], "a"),
        last=(*body()[-1], "b"),
        notes=("inner_totals", "total_row"),
    ),
    "subtotals with a cell in each column": Case(
        [NAMES, *body()[:10], ["Subtotal", 150.5, 1315], *body()[10:], ["Total", 750.0, 6045]],
        notes=("inner_totals", "total_row"),
    ),
    "a value that may be a total": Case(
        [NAMES, *body()[:10], ["Total War", 150.5, 1315], *body()[10:], ["Total", 750.0, 6045]],
        n_rows=N + 1,
        notes=("total_row",),
    ),
    "subtotals without a total at the end": Case(
        [
            [*NAMES, "kind"],
            *[[*row, "a"] for row in body()[:10]],
            ["Subtotal a", 150.5, 1315],
            *[[*row, "b"] for row in body()[10:]],
        ],
        names=[*NAMES, "kind"],
        first=(*body()[0], "a"),
        last=(*body()[-1], "b"),
        n_rows=N + 1,
    ),
    "title, units, total and source": Case(
        [
            *(["Prices"], [], NAMES, [None, "EUR", "m2"], *body()),
            *(["Total", 750.0, 6045], [], ["Source: Office"]),
        ],
        notes=("rows_above", "units_row", "total_row", "rows_below"),
    ),
    "empty columns around and between": Case(
        [[None, "city", None, "price", "size"]] + [[None, r[0], None, r[1], r[2]] for r in body()]
    ),
    "unnamed first column": Case(
        [[None, "price", "size"], *body()],
        names=["column 1", "price", "size"],
        notes=("unnamed_columns",),
    ),
    "unnamed last column below a title": Case(
        [["Prices"], ["city", "price"], *body()],
        names=["city", "price", "column 3"],
        notes=("rows_above", "unnamed_columns"),
    ),
    "two-line header": Case(
        [["region", "2023", None, "2024", None], [None, "Q1", "Q2", "Q1", "Q2"], *QUARTERS],
        names=["region", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"],
        first=tuple(QUARTERS[0]),
        last=tuple(QUARTERS[-1]),
        notes=("joined_header",),
        merged=(("A1:A2", "region"), ("B1:C1", "2023"), ("D1:E1", "2024")),
    ),
    "two-line header, names in the second line": Case(
        [["Sales"], [None, "north", None, "south", None], ["item", *["old", "new"] * 2], *QUARTERS],
        names=["item", "north old", "north new", "south old", "south new"],
        first=tuple(QUARTERS[0]),
        last=tuple(QUARTERS[-1]),
        notes=("rows_above", "joined_header"),
    ),
    "groups that repeat names, other columns around them": Case(
        [
            [None, None, 2024, None, 2025, None, None],
            ["store", "city", *["units", "price"] * 2, "growth"],
            *STORES,
        ],
        names=[
            *("store", "city", "2024 units", "2024 price", "2025 units", "2025 price"),
            "growth",
        ],
        first=tuple(STORES[0]),
        last=tuple(STORES[-1]),
        notes=("joined_header",),
    ),
    "a title and its date above the middle": Case(
        [
            [None, None, "Stores", None, "January", None, None],
            ["store", "city", "units", "price", "costs", "rent", "growth"],
            *STORES,
        ],
        names=["store", "city", "units", "price", "costs", "rent", "growth"],
        first=tuple(STORES[0]),
        last=tuple(STORES[-1]),
        notes=("rows_above",),
    ),
    "years as numbers below groups": Case(
        [["region", "sales", None, "costs", None], [None, 2023, 2024, 2023, 2024], *QUARTERS],
        names=["region", "sales 2023", "sales 2024", "costs 2023", "costs 2024"],
        first=tuple(QUARTERS[0]),
        last=tuple(QUARTERS[-1]),
        notes=("joined_header",),
    ),
    "years as names": Case(
        [["Sales"], ["region", 2021, 2022, 2023, 2024], *QUARTERS],
        names=["region", "2021", "2022", "2023", "2024"],
        first=tuple(QUARTERS[0]),
        last=tuple(QUARTERS[-1]),
        notes=("rows_above",),
    ),
    "second table below": Case(
        [NAMES, *body(), [], ["Staff"], ["number", "name"], *PEOPLE],
        notes=("rows_below", "other_tables"),
    ),
    "larger table second": Case(
        [["number", "name"], *PEOPLE, [], [], NAMES, *body()], notes=("other_tables",)
    ),
    "second table to the right": Case(
        [
            [*left, None, *(([["number", "name"], *PEOPLE][k]) if k < 9 else [])]
            for k, left in enumerate([NAMES, *body()])
        ],
        notes=("other_tables",),
    ),
    "blank rows between the rows": Case([NAMES, *body(12), [], *body()[12:], []]),
    "blank row below the header": Case([NAMES, [], *body()]),
    "missing cells in the first row": Case(
        [NAMES, ["city x", "n/a", "-"], *body()],
        first=("city x", None, "-"),
        last=(body()[-1][0], 39.5, "303"),
        n_rows=N + 1,
    ),
    "numbers below a title, no header": Case(
        [["Measurements"], [], *[[k + 0.5, 3 * k + 0.25, 7.5] for k in range(N)]],
        names=["column 1", "column 2", "column 3"],
        first=(0.5, 0.25, 7.5),
        last=(29.5, 87.25, 7.5),
        notes=("rows_above", "unnamed_columns"),
    ),
    "last row with a missing cell": Case(
        [NAMES, *body(), ["city z", None, 5]], last=("city z", None, 5), n_rows=N + 1
    ),
    "a category called total": Case(
        [NAMES, *[["Total" if k % 3 == 2 else r[0], *r[1:]] for k, r in enumerate(body())]],
        last=("Total", *body()[-1][1:]),
    ),
}


def write(path, *sheets, hidden=()):
    with Workbook(path, {"default_date_format": "yyyy-mm-dd"}) as book:
        for number, (name, rows, merged) in enumerate(sheets):
            out = book.add_worksheet(name)
            if name in hidden:
                out.hide()
            elif number and sheets[number - 1][0] in hidden:
                out.activate()
                out.set_first_sheet()
            for place, row in enumerate(rows):
                for column, cell in enumerate(row):
                    if cell is not None:
                        out.write(place, column, cell)
            for cells, text in merged:
                out.merge_range(cells, text)
    return path


@pytest.mark.parametrize("name", CASES)
def test_the_table_is_found(name, tmp_path):
    case = CASES[name]
    path = write(tmp_path / "t.xlsx", ("data", case.rows, case.merged))
    found = read_in_memory(path)
    assert found.columns == case.names
    assert found.n_rows == case.n_rows
    assert (found.frame.row(0), found.frame.row(-1)) == (case.first, case.last)
    assert tuple(kinds(found)) == case.notes
    for note in (note for note in found.notes if note.kind == "sheet_rows"):
        assert note.count == case.n_rows
        for row, cells in ((note.row, case.first), (int(note.value), case.last)):
            shown = {str(cell) for cell in case.rows[row - 1]}
            assert {str(cells[0])} <= shown, "the first cell of the row"
    above = {"rows_above", "joined_header", "units_row"} & set(case.notes)
    assert not above or "sheet_rows" in [note.kind for note in found.notes]


def kinds(found):
    """Kinds of the notes on the layout; that on the numbers of rows follows from them."""
    return [note.kind for note in found.notes if note.kind != "sheet_rows"]


@pytest.mark.parametrize(
    ("first", "has_header"),
    [
        ([5.1, "north", 3], False),
        ([5.1, 3.5, 1.4], False),
        ([1, 1, 0], False),
        ([5.1, "region", 3], True),
        ([2019, 2021, 2020], True),
        ([400, 402, 404], True),
        ([0, 1, 2], True),
    ],
)
def test_a_first_row_of_data_is_not_a_header(first, has_header, tmp_path):
    is_text = isinstance(first[1], str)
    rows = [[k * 0.5, ("north", "south")[k % 2] if is_text else k, k] for k in range(9)]
    write(tmp_path / "t.xlsx", ("data", [first, *rows], ()))
    found = read_in_memory(tmp_path / "t.xlsx")
    names = list(map(str, first)) if has_header else ["column 1", "column 2", "column 3"]
    assert (found.columns, found.n_rows) == (names, len(rows) + (not has_header))


def test_dates_stored_as_numbers_are_dates_if_their_format_says_so(tmp_path):
    days = [date(2024, 1, 1) + timedelta(days=k) for k in range(N)]
    rows = [["Prices"], [], ["day", "price"], *[[day, k] for k, day in enumerate(days)]]
    found = read_in_memory(write(tmp_path / "t.xlsx", ("data", rows, ())))
    assert found.frame["day"].to_list() == days
    serial = [["day", "price"], *[[45292 + k, k + 0.5] for k in range(N)]]
    found = read_in_memory(write(tmp_path / "u.xlsx", ("data", serial, ())))
    assert found.frame["day"][0] == 45292, "a number without a date format stays one"


def test_dates_and_units_below_a_title_keep_their_types(tmp_path):
    rows = [["Log"], ["when", "temperature"], [None, "°C"]]
    rows += [[datetime(2024, 1, 1, 8) + timedelta(hours=k), 20.5 + k] for k in range(N)]
    with Workbook(tmp_path / "t.xlsx", {"default_date_format": "yyyy-mm-dd hh:mm"}) as book:
        out = book.add_worksheet()
        for place, row in enumerate(rows):
            for column, cell in enumerate(row):
                if cell is not None:
                    out.write(place, column, cell)
    found = read_in_memory(tmp_path / "t.xlsx")
    assert found.frame["when"][-1] == datetime(2024, 1, 2, 13)
    assert found.frame["temperature"].to_list() == [20.5 + k for k in range(N)]
    assert kinds(found) == ["rows_above", "units_row"]
    assert found.notes[1].details == ("°C",)


def test_hidden_and_empty_sheets_are_not_read_unless_named(tmp_path):
    path = write(
        tmp_path / "t.xlsx",
        ("lists", [["code", "text"], *PEOPLE], ()),
        ("prices", [NAMES, *body()], ()),
        ("staff", [["number", "name"], *PEOPLE], ()),
        ("blank", [], ()),
        hidden=("lists",),
    )
    found = read_in_memory(path)
    assert found.columns == NAMES
    assert [(note.kind, note.details) for note in found.notes] == [("other_sheets", ("staff",))]
    assert read_in_memory(path, sheet="lists").columns == ["code", "text"]
    assert read_in_memory(path, sheet="3").columns == ["number", "name"]
    with pytest.raises(TableError, match="no sheet 'x'; the sheets are lists, prices, staff, b"):
        read_in_memory(path, sheet="x")


def test_a_sheet_called_like_a_number_is_found_by_name(tmp_path):
    path = write(
        tmp_path / "t.xlsx", ("2", [NAMES, *body()], ()), ("1", [["number", "name"], *PEOPLE], ())
    )
    assert read_in_memory(path, sheet="1").columns == ["number", "name"]


TWO_TABLES = [
    ["Prices"],
    [],
    NAMES,
    *body(),
    [],
    ["Staff"],
    ["number", "name"],
    *PEOPLE,
]


def test_another_table_can_be_reached_by_the_range_in_the_note(tmp_path):
    path = write(tmp_path / "t.xlsx", ("data", _wide(TWO_TABLES, 2), ()))
    found = read_in_memory(path)
    (note,) = (note for note in found.notes if note.kind == "other_tables")
    assert (note.count, note.details) == (1, ("C36:D44",))
    other = read_in_memory(path, cell_range=note.details[0])
    assert other.columns == ["number", "name"]
    assert other.frame.rows() == [tuple(row) for row in PEOPLE]
    assert read_in_memory(path, header_row=36).columns == ["number", "name"]
    assert read_in_memory(path, skip_rows=34).columns == ["number", "name"]


def test_the_range_of_a_short_table_to_the_right_ends_with_it(tmp_path):
    path = write(tmp_path / "t.xlsx", ("data", CASES["second table to the right"].rows, ()))
    (note,) = read_in_memory(path).notes
    assert note.details == ("E1:F9",)
    assert read_in_memory(path, cell_range="E1:F9").frame.rows() == [tuple(row) for row in PEOPLE]


def test_the_place_of_the_table_can_be_given(tmp_path):
    path = write(tmp_path / "t.xlsx", ("data", TWO_TABLES, ()))
    part = read_in_memory(path, cell_range="A3:B10")
    assert (part.columns, part.n_rows, part.frame.row(-1)) == (
        ["city", "price"],
        7,
        ("city 6", 16.5),
    )
    assert read_in_memory(path, cell_range="b3:c").columns == ["price", "size"]
    assert read_in_memory(path, header_row=3).columns == NAMES
    assert read_in_memory(path, skip_rows=1).columns == NAMES
    with pytest.raises(TableError, match="given place"):
        read_in_memory(path, cell_range="H3:K9")
    with pytest.raises(TableError, match="given place"):
        read_in_memory(path, skip_rows=900)
    with pytest.raises(TableError, match="both say where"):
        read_in_memory(path, skip_rows=1, cell_range="A3:B10")


@pytest.mark.parametrize(
    "text", ["A3", "3:9", "A9:C3", "C1:A9", "A0:B3", "AAAA1:B3", "A1:B99999999"]
)
def test_what_is_no_range_is_refused(text, tmp_path):
    path = write(tmp_path / "t.xlsx", ("data", TWO_TABLES, ()))
    with pytest.raises(TableError, match=r"range|rows"):
        read_in_memory(path, cell_range=text)


README = [["Read me"], [], [SENTENCE], [SENTENCE + " Again."], ["Contact", "Ann"], [SENTENCE]]
COVER = [["Prices"], ["2024"], ["Office of Prices"]]
PRICES = ("prices", [NAMES, *body()], ())
STAFF = ("staff", [["id", "name"], *PEOPLE], ())


@pytest.mark.parametrize("before", [README, COVER, [["Prices"]], []])
def test_the_first_sheet_with_a_table_is_read_and_the_others_are_named(before, tmp_path):
    path = write(tmp_path / "t.xlsx", ("start", before, ()), PRICES, STAFF)
    found = read_in_memory(path)
    assert (found.columns, found.n_rows) == (NAMES, N)
    assert [(note.kind, note.value, note.details) for note in found.notes] == [
        ("later_sheet", "prices", ("start",)),
        ("other_sheets", None, ("staff",)),
    ]


LINKS = [["Method", "Links"], [SENTENCE, "Home page of the office"], [None, "Prices in all years"]]
CONTENTS = [
    ["Sheet", "Content"],
    ["prices", "Prices and sizes of all cities"],
    [None, "city: name of the city"],
    [None, "price: the price in thousand EUR"],
]


@pytest.mark.parametrize("before", [LINKS, CONTENTS])
def test_sheets_that_explain_others_are_passed_over(before, tmp_path):
    path = write(tmp_path / "t.xlsx", ("start", before, ()), PRICES, STAFF)
    found = read_in_memory(path)
    assert (found.columns, found.n_rows) == (NAMES, N)
    assert [(note.kind, note.value, note.details) for note in found.notes] == [
        ("later_sheet", "prices", ("start",)),
        ("other_sheets", None, ("staff",)),
    ]
    assert read_in_memory(path, sheet="start").columns == before[0]


ANSWERS = [[SENTENCE, ("yes", "no")[k % 2]] for k in range(300)]
DATED = [[f"2024-01-{k + 10}", f"{SENTENCE} {k}"] for k in range(15)]


@pytest.mark.parametrize("rows", [ANSWERS, DATED])
def test_tables_with_sentences_are_tables(rows, tmp_path):
    path = write(tmp_path / "t.xlsx", ("start", [["a", "b"], *rows], ()), PRICES)
    assert read_in_memory(path).columns == ["a", "b"]


def test_an_error_on_a_sheet_names_the_others(tmp_path):
    path = write(tmp_path / "t.xlsx", ("today", [NAMES, ["a", 1.5, 2]], ()), PRICES)
    with pytest.raises(TableError, match=r"prices \(--sheet NAME\)"):
        read_in_memory(path)


def test_a_first_sheet_with_a_header_alone_is_an_empty_table(tmp_path):
    path = write(tmp_path / "t.xlsx", ("today", [NAMES], ()), PRICES)
    with pytest.raises(TableError, match="row"):
        read_in_memory(path)


def test_several_sheets_without_a_table_come_before_it(tmp_path):
    path = write(tmp_path / "t.xlsx", ("a", COVER, ()), ("b", README, ()), PRICES)
    assert [(note.kind, note.value, note.details) for note in read_in_memory(path).notes] == [
        ("later_sheet", "prices", ("a", "b"))
    ]


@pytest.mark.parametrize("content", [README, []])
def test_a_named_sheet_without_a_table_is_refused_and_others_are_named(content, tmp_path):
    path = write(tmp_path / "t.xlsx", ("start", content, ()), PRICES)
    with pytest.raises(TableError, match=r"'start' .*; other sheets: prices"):
        read_in_memory(path, sheet="start")


def test_a_workbook_without_any_table_is_refused(tmp_path):
    path = write(tmp_path / "t.xlsx", ("start", README, ()), ("more", README, ()))
    with pytest.raises(TableError, match="contains text, not a table; other sheets: more"):
        read_in_memory(path)


def test_a_place_is_named_only_if_one_was_given(tmp_path):
    with Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        for row in range(3):
            for column in range(2):
                sheet.write_formula(row, column, "=1/0", None, "#DIV/0!")
    for options in ({}, {"skip_rows": 1}):
        with pytest.raises(TableError) as error:
            read_in_memory(tmp_path / "t.xlsx", **options)
        assert ("given place" in str(error.value)) == bool(options)


def test_a_later_sheet_must_fit_into_memory(tmp_path, monkeypatch):
    path = write(tmp_path / "t.xlsx", ("start", [], ()), PRICES)
    monkeypatch.setattr("odefs.tables.readers.excel.read.memory_budget", lambda: 100)
    with pytest.raises(TableError, match="'prices' is too large"):
        read_in_memory(path)


def test_names_of_sheets_are_stripped_and_numbered(tmp_path):
    rows = [["city ", " price", "price ", " price ", "price_1"]]
    rows += [[f"city {k}", k, k + 1, k + 2, k + 3] for k in range(N)]
    path = write(tmp_path / "t.xlsx", ("data", rows, ()))
    found = read_in_memory(path)
    assert found.columns == ["city", "price", "price (2)", "price (3)", "price_1"]
    assert found.notes == (Note("repeated_name", "price", ("price (2)", "price (3)")),)
    titled = write(tmp_path / "u.xlsx", ("data", [["Prices"], [], *rows], ()))
    assert read_in_memory(titled).columns == found.columns
    kept = read_in_memory(path, expected_names=["city ", " price", "price", "price.1", "price_1"])
    assert kept.columns == ["city ", " price", "price", "price.1", "price_1"]


def test_dates_and_times_in_the_date_system_of_the_mac(tmp_path):
    for is_mac in (False, True):
        book = Workbook(tmp_path / f"{is_mac}.xlsx", {"date_1904": is_mac})
        sheet = book.add_worksheet()
        formats = [book.add_format({"num_format": text}) for text in ("yyyy-mm-dd", "hh:mm")]
        sheet.write_row(0, 0, ["day", "time"])
        for k in range(1, N):
            sheet.write_datetime(k, 0, datetime(2024, 1, k), formats[0])
            sheet.write_datetime(k, 1, time(k % 24, 30), formats[1])
        book.close()
    usual, mac = (read_in_memory(tmp_path / f"{is_mac}.xlsx").frame for is_mac in (False, True))
    assert mac.equals(usual)
    assert (mac["day"][0], mac["time"][0]) == (date(2024, 1, 1), time(1, 30))


def test_the_names_of_a_model_find_the_header(tmp_path):
    rows = [["Prices"], [], ["for", "May"], NAMES, ["city 1", 1.5, 2]]
    path = write(tmp_path / "t.xlsx", ("data", rows, ()))
    found = read_in_memory(path, expected_names=NAMES, least_rows=1)
    assert (found.columns, found.n_rows) == (NAMES, 1)


def ods(path, rows):
    def cell(value):
        if value is None:
            return "<table:table-cell/>"
        if isinstance(value, str):
            kind = 'office:value-type="string"'
        else:
            kind = f'office:value-type="float" office:value="{value}"'
        return f"<table:table-cell {kind}><text:p>{value}</text:p></table:table-cell>"

    spaces = "".join(
        f' xmlns:{k}="urn:oasis:names:tc:opendocument:xmlns:{k}:1.0"'
        for k in ("office", "table", "text")
    )
    lines = "".join(
        f"<table:table-row>{''.join(map(cell, row or [None]))}</table:table-row>" for row in rows
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr(
            "mimetype", "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED
        )
        book.writestr("META-INF/manifest.xml", "<manifest/>")
        book.writestr(
            "content.xml",
            f"<office:document-content{spaces}><office:body><office:spreadsheet><table:table "
            f'table:name="S">{lines}'
            "</table:table></office:spreadsheet></office:body></office:document-content>",
        )
    return path


@pytest.mark.parametrize("name", ["plain", "title, units, total and source", "not in column A"])
def test_the_table_of_an_ods_file_is_found(name, tmp_path):
    case = CASES[name]
    found = read_in_memory(ods(tmp_path / "t.ods", case.rows))
    assert (found.columns, found.n_rows) == (case.names, case.n_rows)
    assert (found.frame.row(0), found.frame.row(-1)) == (case.first, case.last)
    assert tuple(kinds(found)) == case.notes


def test_what_is_no_workbook_is_refused_with_a_remedy(tmp_path):
    (tmp_path / "t.xlsx").write_text("a\tb\n1\t2\n")
    with pytest.raises(TableError, match="save it again"):
        read_sheet(tmp_path / "t.xlsx", None)


WHAT = "the printer on the second floor stopped and nobody could say for how long"
INCIDENTS = [
    ["what happened", "resolution", "team"],
    *([f"{WHAT} {k}", f"{WHAT} again {k}", "ab"[k % 2]] for k in range(N)),
]


def test_a_sheet_of_texts_is_read_if_the_others_are_smaller(tmp_path):
    lists = ("Lists", [["code", "n"], ["a", 1], ["b", 2]], ())
    path = write(tmp_path / "t.xlsx", ("Incidents", INCIDENTS, ()), lists)
    assert read_in_memory(path).columns == INCIDENTS[0]


def test_a_sheet_of_texts_is_read_if_a_column_of_it_is_named(tmp_path):
    longer = ("Prices", [["code", "n"], *([k, 7 * k] for k in range(4 * N))], ())
    path = write(tmp_path / "t.xlsx", ("Incidents", INCIDENTS, ()), longer)
    assert read_in_memory(path, named_columns=("team",)).columns == INCIDENTS[0]
    assert read_in_memory(path).columns == ["code", "n"]


@pytest.mark.parametrize("top", [0, 3])
@pytest.mark.parametrize("left", [0, 2])
def test_errors_of_formulas_are_told(top, left, tmp_path):
    """``top`` rows above the table, ``left`` columns before it."""
    with Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        if top:
            sheet.write(0, left, "Prices of 2024")
        for place, row in enumerate([NAMES, *body()]):
            sheet.write_row(top + place, left, row)
        for row, column, error in ((5, 1, "#DIV/0!"), (9, 1, "#N/A"), (12, 2, "#REF!")):
            sheet.write_formula(top + row, left + column, "=1/0", None, error)
    found = read_in_memory(tmp_path / "t.xlsx")
    assert [note for note in found.notes if note.kind == "error_cells"] == [
        Note("error_cells", NAMES[1], row=top + 6, count=2),
        Note("error_cells", NAMES[2], row=top + 13, count=1),
    ]
    assert found.frame.null_count().row(0) == (0, 2, 1)
