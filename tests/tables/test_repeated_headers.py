"""Rows that repeat the header: left out of text files, in both modes, and of sheets."""

import datetime as dt
import gzip

import polars as pl
import pytest
from xlsxwriter import Workbook

from odefs.tables.readers.text import repeated_headers
from opening import in_both_modes, read, read_in_memory

NAMES = ["city", "price", "day"]
HEADER = ",".join(NAMES)


def body(n=30, start=0):
    return [f"city{k},{10.5 + k},2024-01-{k % 28 + 1:02}" for k in range(start, start + n)]


TWICE = [HEADER, *body(), HEADER, *body(10, 30), HEADER, *body(5, 40)]
FILES = {
    "exports in a row": "\n".join(TWICE),
    "line ends of Windows": "\r\n".join(TWICE) + "\r\n",
    "a byte order mark each": "\n".join(
        ["\ufeff" + line if line == HEADER else line for line in TWICE]
    ),
    "semicolons": "\n".join(TWICE).replace(",", ";"),
    "other quotes and spaces": "\n".join([*TWICE[:31], '"city" ,price, "day"', *TWICE[32:]]),
    "most names": "\n".join([*TWICE[:31], "city,price,", *TWICE[32:]]),
    "below a title": "\n".join(["Prices of 2024", "", *TWICE]),
    "runs of spaces": "\n".join(line.replace(",", "   ") for line in TWICE),
    "row names": "\n".join(
        "," + line if line == HEADER else f"{k},{line}" for k, line in enumerate(TWICE)
    ),
}


@in_both_modes
@pytest.mark.parametrize("name", FILES)
def test_the_table_is_that_without_these_lines(name, mode, tmp_path):
    text = FILES[name]
    (tmp_path / "t.csv").write_bytes(text.encode())
    found = read(tmp_path / "t.csv", mode)
    lines = text.replace("\r\n", "\n").split("\n")
    repeats = [k for k, line in enumerate(lines) if "price" in line][1:]
    (tmp_path / "once.csv").write_text(
        "\n".join(lines[k] for k in range(len(lines)) if k not in repeats)
    )
    expected = read(tmp_path / "once.csv", mode)
    assert found.frame.equals(expected.frame)
    assert found.frame.schema == expected.frame.schema
    assert found.frame["price"].dtype == pl.Float64
    notes = [(note.line, note.count) for note in found.notes if note.kind == "repeated_header"]
    assert notes == [(repeats[0] + 1, len(repeats))]
    others = [note.kind for note in found.notes if note.kind != "repeated_header"]
    assert others == [note.kind for note in expected.notes]
    # Rows keep the lines of the file.
    first = next(k for k, line in enumerate(lines) if "city0" in line)
    numbers = [k + 1 for k in range(first, len(lines)) if lines[k] and k not in repeats]
    assert found.lines == numbers


@in_both_modes
@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
def test_other_encodings(encoding, mode, tmp_path):
    text = "\n".join(TWICE).replace("city", "Stra\xdfe")
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    found = read(tmp_path / "t.csv", mode)
    assert (found.n_rows, found.columns[0]) == (45, "Stra\xdfe")
    assert [note.count for note in found.notes if note.kind == "repeated_header"] == [2]


@in_both_modes
def test_lines_far_down_are_found(mode, tmp_path, monkeypatch):
    monkeypatch.setattr(repeated_headers, "PIECE", 1000)
    lines = [
        HEADER,
        *body(5000),
        HEADER,
        '"a ""b""",3,2024-01-01',
        "\n".join(['"x', HEADER, 'y",4,']),
        HEADER,
    ]
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    found = read(tmp_path / "t.csv.gz", mode)
    # The one in quotes is part of a cell.
    assert [(n.line, n.count) for n in found.notes if n.kind == "repeated_header"] == [(5002, 2)]
    assert found.frame["city"].to_list()[-2:] == ['a "b"', f"x\n{HEADER}\ny"]
    assert found.lines[-2:] == [5003, 5004]


@in_both_modes
def test_the_last_line_may_have_no_line_end(mode, tmp_path):
    lines = ["name,value", *(f"n{k},{k}.5" for k in range(40)), "name,value"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert read(tmp_path / "t.csv", mode).n_rows == 40


ROWS = {
    "names among the values": ["a,b,c", *["a,x,1", "a,b,2", "y,b,3"] * 10, "a,b,c"],
    "numbers without a header": ["1,2,3", *["4,5,6", "1,2,3"] * 10],
    "one column": ["a", *["b", "a"] * 10],
    "a single name": ["city,price,day", *body(), "city,1,2024-01-01"],
    "another value": ["city,price,day", *body(), "city,price,2024-01-01"],
}


@in_both_modes
@pytest.mark.parametrize("name", ROWS)
def test_rows_that_may_be_data_stay(name, mode, tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(ROWS[name]))
    found = read(tmp_path / "t.csv", mode)
    assert "repeated_header" not in [note.kind for note in found.notes]
    is_row = any(note.kind == "header_is_row" for note in found.notes)
    assert found.n_rows == len(ROWS[name]) - 1 + is_row


CELLS = ["city", "price", "size", "day", "at", "stamp", "sold", "code"]


def cells(k):
    stamp = dt.datetime(2024, 1, 1, 5, k, 7)
    day = dt.date(2024, 1, 1) + dt.timedelta(k)
    return [f"c{k}", 10.123456789 + k, 3 * k, day, dt.time(10, k), stamp, k % 2 == 0, f"0{k}"]


def save(path, rows):
    with Workbook(path) as book:
        sheet = book.add_worksheet("data")
        formats = {
            dt.time: book.add_format({"num_format": "hh:mm:ss"}),
            dt.date: book.add_format({"num_format": "yyyy-mm-dd"}),
            dt.datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        }
        for row, values in enumerate(rows):
            for column, value in enumerate(values):
                kind = formats.get(type(value))
                sheet.write(row, column, value, *([] if kind is None else [kind]))
    return path


@pytest.mark.parametrize("above", [[], [["Prices of 2024"], []]], ids=["plain", "below a title"])
def test_columns_of_a_sheet_have_the_types_without_these_rows(above, tmp_path):
    rows = [cells(k) for k in range(20)]
    once = save(tmp_path / "once.xlsx", [*above, CELLS, *rows])
    most = [*CELLS[:6], None, None]
    twice = [*above, CELLS, *rows[:7], CELLS, *rows[7:12], most, *rows[12:]]
    found = read_in_memory(save(tmp_path / "twice.xlsx", twice))
    expected = read_in_memory(once)
    assert found.frame.equals(expected.frame)
    assert found.frame.schema == expected.frame.schema
    notes = {note.kind: note for note in found.notes}
    assert (notes["repeated_header"].row, notes["repeated_header"].count) == (len(above) + 9, 2)
    assert notes["sheet_rows"].value == str(len(above) + 23)


def test_rows_of_a_sheet_that_may_be_data_stay(tmp_path):
    rows = [["a", "b"], *[["a", "x"], ["a", "b"], ["y", "b"]] * 10]
    found = read_in_memory(save(tmp_path / "t.xlsx", rows))
    assert found.n_rows == 30
    assert not found.notes


def test_long_codes_and_exponents_stay_text(tmp_path):
    rows = [["id", "code", "x"], *([f"{10**19 + k}", f"{k}E5", k] for k in range(40))]
    save(tmp_path / "t.xlsx", [*rows[:21], rows[0], *rows[21:]])
    frame = read_in_memory(tmp_path / "t.xlsx").frame
    assert frame["id"].to_list() == [row[0] for row in rows[1:]]
    assert frame["code"].to_list() == [row[1] for row in rows[1:]]
