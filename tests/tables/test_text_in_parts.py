"""Delimited text and JSON lines: table, lines and notes are the same in memory and in parts."""

import csv
import errno
import gzip
import io
import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import odefs
from command import odefs as run
from odefs.exceptions import TableError
from odefs.tables.readers.columnar import to_parquet
from odefs.tables.readers.layout.column_names import ColumnNames
from odefs.tables.readers.text import cells as text_cells
from odefs.tables.readers.text.header import Header
from odefs.tables.records.notes import Note
from opening import MODES, in_both_modes, read, read_in_memory, read_in_parts

ROWS = 12_000
"""More than the first rows, by which types are guessed."""


def make_text():
    lines = [
        "id,late_zero,zero,number,flag,day,text,late,huge,empty,spaced,whole_then_not,whole_then_text,mixed_days"
    ]
    for i in range(ROWS):
        after = i > 11_000
        cells = (
            f"k{i}",
            f"{i % 900:05}" if after else str(10_000 + i % 900),
            f"{i % 7:03}",
            f"{i / 7:.4g}",
            ["true", "False"][i % 2],
            f"2024-01-{i % 28 + 1:02}" + (" 10:30" if after else ""),
            ["a", "NA", '"x\ny"', "-"][i % 4],
            str(i) if after else "",
            str(2**62 + i * 10**15),
            "",
            (" " if after else "") + f"{i / 3:.2f}",
            f"{i}.5" if after else str(i),
            "word" if i == ROWS - 1 else str(i),
            "soon" if i == ROWS - 1 else f"2024-02-{i % 28 + 1:02}",
        )
        lines.append(",".join(cells))
        if i % 5000 == 4:
            lines.append("")
    return "\n".join(lines) + "\n"


def first_lines(text):
    """The line that each row begins in; blank lines are none."""
    reader, lines, line = csv.reader(io.StringIO(text)), [], 1
    for cells in reader:
        lines += [line] if cells else []
        line = reader.line_num + 1
    return lines[1:]


def both(path, folder, **options):
    """What is read in memory, checked to be the same in parts, without other files left behind."""
    folder.mkdir(exist_ok=True)
    here = read_in_memory(path, **options)
    there = read_in_parts(path, folder, **options)
    assert there.frame.schema == here.frame.schema
    assert there.frame.equals(here.frame)
    assert (there.columns, there.lines, there.notes) == (here.columns, here.lines, here.notes)
    assert (there.source, there.reading.has_header) == (here.source, here.reading.has_header)
    assert [file.name for file in folder.iterdir()] == ["table.parquet"]
    return here


TEXT = make_text()
TYPES = {
    **{
        "id": pl.String,
        "late_zero": pl.String,
        "zero": pl.String,
        "number": pl.Float64,
        "flag": pl.Boolean,
    },
    **{
        "day": pl.Datetime("us"),
        "text": pl.String,
        "late": pl.String,
        "huge": pl.Float64,
        "empty": pl.String,
    },
    **{
        "spaced": pl.Float64,
        "whole_then_not": pl.Float64,
        "whole_then_text": pl.String,
        "mixed_days": pl.String,
    },
}
KINDS = {
    "t.csv": TEXT.encode(),
    "t.csv.gz": gzip.compress(TEXT.encode()),
    "wide.csv": TEXT.encode("utf-16"),
    "odd.csv": (TEXT + "ü" + "," * 13 + "\n").encode("cp1252"),
    "t.dat": TEXT.replace(",", ";").encode(),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_table_is_the_same_in_either_mode(name, tmp_path, monkeypatch):
    monkeypatch.setattr(to_parquet, "ROW_GROUP_CELLS", 14 * 1500)
    (tmp_path / name).write_bytes(KINDS[name])
    found = both(tmp_path / name, tmp_path / "work", text_columns=["id"])
    assert found.frame["late_zero"][ROWS - 1].startswith("00"), "a code at the end keeps its zeros"
    assert dict(found.frame.schema) == TYPES
    assert found.lines[:ROWS] == first_lines(TEXT)


@in_both_modes
def test_faults_far_down_are_named(mode, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 20_000 + "1,2,3\n")
    with pytest.raises(TableError, match="line 20002 has 3 fields"):
        read(tmp_path / "t.csv", mode)


def test_lines_of_json_with_keys_that_come_late(tmp_path):
    lines = ['{"a": 1}\n'] * 15_000 + ['{"a": 2.5, "b": "x"}\n']
    (tmp_path / "t.ndjson").write_text("".join(lines))
    found = both(tmp_path / "t.ndjson", tmp_path / "work")
    assert (found.frame.row(0), found.frame.row(-1)) == ((1, None), (2.5, "x"))


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [((1, 2**64 - 1), pl.UInt64), ((None, 2**70), pl.Decimal), ((-1, 2**64 - 1), pl.Decimal)],
)
def test_numbers_of_more_than_63_bits_in_lines_of_json(numbers, kind, tmp_path):
    """They are 128 bits long to polars, which Arrow does not know."""
    (tmp_path / "t.ndjson").write_text(
        "".join(f'{{"a": {json.dumps(n)}, "^x$": 1.5}}\n' for n in numbers)
    )
    frame = both(tmp_path / "t.ndjson", tmp_path / "work").frame
    assert frame["a"].dtype == kind
    assert [None if n is None else int(n) for n in frame["a"]] == list(numbers)
    assert frame["^x$"].to_list() == [1.5, 1.5]


@pytest.mark.parametrize(
    "first",
    [2**63, *(pytest.param(first, marks=pytest.mark.slow) for first in (0, 10**21, -5, 10**38))],
)
def test_long_ids_in_lines_of_json_are_left_out_either_way(first, tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        json.dumps({"key": first + 7919 * k * 10**15, "x": rng.normal(), "y": rng.normal()})
        for k in range(200)
    ]
    (tmp_path / "t.ndjson").write_text("\n".join(lines))
    told = []
    for in_parts in ("", "1"):
        done = run(
            "detect", "t.ndjson", "--no-report", "--json", cwd=tmp_path, ODEFS_IN_PARTS=in_parts
        )
        assert done.returncode == 0, done.stderr
        told.append(json.loads(done.stdout))
    here, there = told
    assert here["columns_used"] == there["columns_used"]
    assert here["left_out"] == there["left_out"]


def test_numbers_alone(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2.5\n\n3,4.5\n")
    found = both(tmp_path / "t.csv", tmp_path / "work")
    assert (found.frame.rows(), found.lines) == ([(1, 2.5), (3, 4.5)], [2, 4])


LATE_DATES = {
    "2024-01-14": pl.Date,
    "2024-01-02T10:00:00Z": pl.String,
    "05/01/2024": pl.String,
    "2024-1-2": pl.String,
    "2024-02-31": pl.String,
    "2024-01-02T10:00:00.25": pl.Datetime("us"),
}


@pytest.mark.parametrize(("late", "kind"), LATE_DATES.items())
def test_dates_are_decided_by_all_rows(late, kind, tmp_path, monkeypatch):
    """Batch by batch polars would choose another form for the last one, or a time zone."""
    monkeypatch.setattr(to_parquet, "ROW_GROUP_CELLS", 1024)
    (tmp_path / "t.csv").write_text("day,a\n" + "2024-01-13,1\n" * 2048 + f"{late},1\n" * 1024)
    found = both(tmp_path / "t.csv", tmp_path / "work")
    assert found.frame["day"].dtype == kind
    assert found.n_rows == 3072


def refused(read, *given):
    with pytest.raises(TableError) as error:
        read(*given)
    return str(error.value)


def test_options_are_advised_only_if_they_help(tmp_path):
    path = tmp_path / "t.csv"

    def said(text, **options):
        path.write_text(text)
        return refused(lambda path: read_in_memory(path, **options), path)

    unquoted = "a,b\n" + "1,fine\n" * 30 + "2,late, but paid\n"
    assert "--delimiter" not in said(unquoted)
    assert "late, but paid" in said(unquoted)
    # A column that an option names may be hidden.
    assert "late" not in said(unquoted, named_columns=["a"])
    assert "--delimiter ';'" in said("a;b\n" + "1,5;2\n" * 9 + "1,2,3;2\n", delimiter=",")
    counts = "30,3,no,yes\n" + "1.5,2,3,4,5\n" * 30
    assert "--skip-rows" not in said(counts + "1,2,3,4,5,6\n")
    path.write_text(counts)
    assert len(read_in_memory(path, skip_rows=1, header=False).frame) == 30


def test_what_is_refused_in_memory_is_refused_in_parts(tmp_path):
    (tmp_path / "work").mkdir()
    files = {
        "header.csv": b"a,b\n",
        "one.csv": b"a,b\n1,2\n",
        "wide.csv": b",".join(b"c%d" % i for i in range(20_001)) + b"\n1\n2\n",
        "short.csv": b",".join(b"c%d" % i for i in range(10_000)) + b"\n" + b"1\n" * 1000,
        "late.csv": b"a,b\n" + b"1,2\n" * 80_000 + b"\xfc,2\n" + b"1,2,3\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        said = refused(read_in_memory, tmp_path / name)
        assert refused(read_in_parts, tmp_path / name, tmp_path / "work") == said
    assert "line 80003 has 3 fields" in said


@in_both_modes
def test_a_header_alone_where_no_row_is_needed(mode, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n")
    found = read(tmp_path / "t.csv", mode, least_rows=0)
    assert (found.frame.shape, found.columns, found.lines) == ((0, 2), ["a", "b"], [])


def test_what_cannot_be_read_is_not_blamed_on_the_folder_for_work(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")

    def is_gone(*given):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))

    monkeypatch.setattr(text_cells, "_plain_copy", is_gone)
    said = refused(read_in_parts, tmp_path / "t.csv", tmp_path / "work")
    assert said.startswith(f"{tmp_path / 't.csv'}: cannot be read (Is a directory)")


@pytest.mark.parametrize("ending", ["csv", "arrow", "ndjson"])
@pytest.mark.parametrize("start", [b"t\xff.", b"t[1]."])
def test_names_that_polars_takes_for_others(start, ending, tmp_path):
    if (start, ending) == (b"t\xff.", "arrow") and tuple(
        map(int, pl.__version__.split(".")[:2])
    ) < (1, 38):
        pytest.skip(
            "this polars panics at the name of an Arrow file that is no UTF-8, also behind a link"
        )
    path = tmp_path / os.fsdecode(start + ending.encode())
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    with open(path, "wb") as file:
        {"csv": frame.write_csv, "arrow": frame.write_ipc, "ndjson": frame.write_ndjson}[ending](
            file
        )
    (tmp_path / "work").mkdir()
    assert read_in_parts(path, tmp_path / "work").frame.equals(frame)
    assert path.exists()


@pytest.mark.slow
def test_the_command_takes_and_writes_any_name(tmp_path):
    rng = np.random.default_rng(0)
    table, scores = (tmp_path / os.fsdecode(name) for name in (b"t\xff.csv", b"s\xff.parquet"))
    with open(table, "wb") as file:
        pl.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)}).write_csv(file)
    settings = ("--no-report", "--set", "n_estimators=2")
    done = run(
        "detect", Path(table.name), "-o", scores.name, *settings, cwd=tmp_path, ODEFS_IN_PARTS="1"
    )
    assert done.returncode == 0, done.stderr
    assert "read in parts" in done.stdout
    assert pl.read_parquet(scores.read_bytes()).height == 200


@pytest.mark.slow
@pytest.mark.parametrize("names", [("", "b", "c"), ("*", "when", "x")], ids=str)
def test_names_that_mean_something_to_polars(names, tmp_path):
    """pandas writes its index under no name."""
    rng = np.random.default_rng(0)
    days = [f"2024-01-{i % 28 + 1:02}" for i in range(300)]
    cells = zip(range(300), rng.normal(size=300).round(3), days, strict=True)
    text = "\n".join([",".join(names), *(f"{a},{b},{c}" for a, b, c in cells)]) + "\n"
    (tmp_path / "t.csv").write_text(text)
    whole = run("detect", "t.csv", "-o", "whole.csv", "--with-data", "--no-report", cwd=tmp_path)
    parts = run(
        "detect",
        "t.csv",
        "-o",
        "parts.csv",
        "--with-data",
        "--no-report",
        cwd=tmp_path,
        ODEFS_IN_PARTS="1",
    )
    assert whole.returncode == parts.returncode == 0, whole.stderr + parts.stderr
    assert "read in parts" in parts.stdout
    headers = [(tmp_path / name).read_text().splitlines()[0] for name in ("whole.csv", "parts.csv")]
    assert headers[0] == headers[1]


PLAIN_ROWS = "1.5,x,2\n\n2.5,y,3\n3.5,NA,4\n"
HEADERS = {
    "plain": ("a,b,c\n", ["a", "b", "c"], [2, 4, 5], ()),
    "a break in it": ('"a\n\nb",b,c\n', ["a\n\nb", "b", "c"], [4, 6, 7], ()),
    "quotes and what stands for them": ('a\x1eb,"a""b",c\n', ["a\x1eb", 'a"b', "c"], [2, 4, 5], ()),
    "quotes": ('"5"" pipe",b,"""c"""\n', ['5" pipe', "b", '"c"'], [2, 4, 5], ()),
    "blank lines above": ("\n\na,b,c\n", ["a", "b", "c"], [4, 6, 7], ()),
    "both, from Windows": ('\r\n"a\r\nb",b,c\r\n', ["a\r\nb", "b", "c"], [4, 6, 7], ()),
    "twice": (
        "a,a,c\n",
        ["a", "a (2)", "c"],
        [2, 4, 5],
        (Note("repeated_name", "a", ("a (2)",)),),
    ),
    "thrice": (
        "a,a,a\n",
        ["a", "a (2)", "a (3)"],
        [2, 4, 5],
        (Note("repeated_name", "a", ("a (2)", "a (3)")),),
    ),
    "twice, and taken": (
        "\na,a,a (2)\n",
        ["a", "a (3)", "a (2)"],
        [3, 5, 6],
        (Note("repeated_name", "a", ("a (3)",)),),
    ),
    "twice, and taken for polars": (
        "a,a,a_duplicated_0\n",
        ["a", "a (2)", "a_duplicated_0"],
        [2, 4, 5],
        (Note("repeated_name", "a", ("a (2)",)),),
    ),
    "space around names": ("a, b ,\tc\n", ["a", "b", "c"], [2, 4, 5], ()),
    "equal without space": ("a, a,c\n", ["a", " a", "c"], [2, 4, 5], ()),
    "no name": (
        ",b, \n",
        ["column 1", "b", "column 3"],
        [2, 4, 5],
        (Note("unnamed_columns", columns=("column 1", "column 3")),),
    ),
    "no name, and taken": (
        ',"column 1",c\n',
        ["column 1 (2)", "column 1", "c"],
        [2, 4, 5],
        (Note("unnamed_columns", columns=("column 1 (2)",)),),
    ),
    "a mark and no name": (
        "\ufeff\n,b,c\n",
        ["column 1", "b", "c"],
        [3, 5, 6],
        (Note("unnamed_columns", columns=("column 1",)),),
    ),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("name", HEADERS)
def test_names_and_lines_below_headers_of_all_kinds(name, encoding, tmp_path):
    header, columns, lines, notes = HEADERS[name]
    (tmp_path / "t.csv").write_bytes(
        (header + PLAIN_ROWS)
        .removeprefix("\ufeff" if encoding == "utf-16" else "")
        .encode(encoding)
    )
    found = both(tmp_path / "t.csv", tmp_path / "work")
    assert found.columns == columns
    assert found.frame.rows() == [(1.5, "x", 2), (2.5, "y", 3), (3.5, None, 4)]
    assert found.lines == lines
    assert found.notes == (
        *([Note("encoding", value="utf-16")] if encoding == "utf-16" else []),
        *notes,
    )


def test_names_that_must_differ_beside_an_odd_byte_far_down(tmp_path):
    (tmp_path / "t.csv").write_bytes(
        "größe,,größe\n".encode("cp1252") + b"x,1,2\n" * 80_000 + b"\xfc,2,3\n"
    )
    assert both(tmp_path / "t.csv", tmp_path / "work").columns == [
        "größe",
        "column 2",
        "größe (2)",
    ]
    (tmp_path / "t.csv").write_bytes(b"a,,a\n" + b"x,1,2\n" * 80_000 + b"\xfc,2,3\n")
    found = both(tmp_path / "t.csv", tmp_path / "work")
    assert (found.columns, found.frame["a"][-1]) == (["a", "column 2", "a (2)"], "ü")


@in_both_modes
def test_faults_below_blank_lines_are_named_by_their_lines(mode, tmp_path):
    (tmp_path / "t.csv").write_text("\n\na,b\n1,2\n1,2,3\n")
    assert "line 5 has 3 fields, the header has 2" in refused(read, tmp_path / "t.csv", mode)
    (tmp_path / "t.csv").write_text("\na,b\n1,2\n1\n")
    (note,) = read(tmp_path / "t.csv", mode).notes
    assert (note.kind, note.line, note.n_fields) == ("short_lines", 4, 1)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_table_without_a_header(encoding, tmp_path):
    (tmp_path / "t.csv").write_bytes(
        '0.606;ä;1\n\n-3.506;b;2\n1e3;"c\nd";3\n4;e;4\n'.encode(encoding)
    )
    found = both(tmp_path / "t.csv", tmp_path / "work", header=False)
    assert found.columns == ["column 1", "column 2", "column 3"]
    assert found.frame.rows() == [(0.606, "ä", 1), (-3.506, "b", 2), (1000, "c\nd", 3), (4, "e", 4)]
    assert found.lines == [1, 3, 4, 6]
    assert not found.reading.has_header
    (tmp_path / "t.csv").write_text("1,2\n3,4\n5,6,7\n")
    said = refused(lambda path: read_in_memory(path, header=False), tmp_path / "t.csv")
    assert "line 3 has 3 fields, the first line has 2" in said


def test_a_first_line_that_looks_like_data_is_told(tmp_path):
    def notes(text):
        (tmp_path / "t.csv").write_text(text)
        return both(tmp_path / "t.csv", tmp_path / "work").notes

    assert notes("0.606,-3.506\n1,2\n3,4\n") == (Note("header_like_data"),)
    assert len(notes("1,1\n1,2\n3,4\n")) == 2
    assert notes("2023,2024\nx,2\ny,4\n") == ()
    assert notes("0,1,2\n1,2,3\n3,4,5\n") == ()
    assert notes("a,1\n1,2\n3,4\n") == ()
    assert notes("5.1,setosa\n1,setosa\n3,rosa\n") == (Note("header_like_data"),)
    assert notes("5.1,plant\n1,setosa\n3,rosa\n") == ()
    assert notes("5.1,setosa\nx,setosa\ny,rosa\n") == ()
    (tmp_path / "t.csv").write_text("7,8\n1,2\n3,4\n")
    assert both(tmp_path / "t.csv", tmp_path / "work", text_columns=["7"]).notes == (
        Note("header_like_data"),
    )
    (tmp_path / "t.parquet").write_bytes(b"")
    for mode in MODES:
        said = refused(
            lambda path, mode=mode: read(path, mode, header=False), tmp_path / "t.parquet"
        )
        assert "--no-header is for csv" in said


def lines_of(first, make, n=40):
    rng = np.random.default_rng(0)
    return "\n".join([first, *(",".join(map(str, make(rng))) for _ in range(n))]) + "\n"


def measured(rng):
    return (*rng.normal(100, 20, size=3).round(2), rng.choice(["Present", "Absent"]))


def amounts(rng):
    return rng.normal(2011, 300, size=3).round(1)


@pytest.mark.parametrize(
    ("first", "make", "is_row"),
    [
        ("104.2,97.1,88.0,Present", measured, True),
        ("101.5,99.2,100.1", amounts, False),
        ("2104.2,1897.1,1988.5", amounts, True),
        ("2010,2011,2012", amounts, False),
        ("2012,2011,2010", amounts, False),
        ("1990,2000,2010", amounts, False),
        ("1900.5,1950.5,2000.5", amounts, False),
        ("height,97.1,88.0,Present", measured, False),
        ("2010,2011,2012,Present", measured, False),
        ("1950,2100", lambda rng: amounts(rng)[:2], False),
        ("2100,1950,2050", amounts, False),
        ("2100,1950,2050,1980,2070", lambda rng: [*amounts(rng), *amounts(rng)[:2]], True),
    ],
)
def test_a_first_line_like_the_rows_below_is_a_row(first, make, is_row, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(lines_of(first, make))
    found = both(path, tmp_path / "work")
    names = first.split(",")
    numbered = [f"column {k + 1}" for k in range(len(names))]
    assert found.columns == (numbered if is_row else names)
    assert len(found.frame) == (41 if is_row else 40)
    assert found.reading.has_header == (not is_row)
    assert (Note("header_is_row", line=1) in found.notes) == is_row
    # Options that use the names of the first line, and those of a model, make it the header.
    for options in ({"header_row": 1}, {"text_columns": [names[0]]}, {"expected_names": ["x"]}):
        assert both(path, tmp_path / "work", **options).columns == names


def test_numbers_separated_by_spaces_need_no_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(lines_of("104.23,97.15,88.07", lambda rng: measured(rng)[:3]).replace(",", " "))
    found = both(path, tmp_path / "work")
    assert (found.columns, len(found.frame)) == (["column 1", "column 2", "column 3"], 41)
    assert {note.kind for note in found.notes} == {"separated_by_spaces", "header_is_row"}


@pytest.mark.slow
def test_the_command_and_its_model_take_tables_without_a_header(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(300, 2)), schema=["column 1", "column 2"])
    frame[17, 1] = 90.0
    frame.write_csv(tmp_path / "t.csv", include_header=False)
    frame.write_csv(tmp_path / "named.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    common = ("detect", "t.csv", "--no-header", "--no-report", "--flag", 1)
    here = run(*common, "-o", "here.csv", "--save", "m.odefs", cwd=tmp_path)
    there = run(
        *common, "-o", "there.csv", "--save", "there.odefs", cwd=tmp_path, ODEFS_IN_PARTS="1"
    )
    assert (here.returncode, there.returncode) == (0, 0), here.stderr + there.stderr
    assert "read in parts" in there.stdout
    a, b = (pl.read_csv(tmp_path / name) for name in ("here.csv", "there.csv"))
    assert a["reasons"][17] == "column 2 = 90"
    assert a["line"].to_list() == b["line"].to_list() == list(range(1, 301))
    assert a["reasons"].to_list() == b["reasons"].to_list()
    for model, file in (
        ("m.odefs", "t.csv"),
        ("there.odefs", "t.csv"),
        ("m.odefs", "named.csv"),
        ("m.odefs", "t.parquet"),
    ):
        done = run("score", model, file, "-o", "again.csv", "--force", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert pl.read_csv(tmp_path / "again.csv")["score"].to_list() == pytest.approx(
            a["score"].to_list(), rel=1e-6
        )
    assert (
        "column 2 = 90" in run("explain", "m.odefs", "t.csv", "--rows", "18", cwd=tmp_path).stdout
    )
    assert "looks like data" in run("detect", "t.csv", "--no-report", cwd=tmp_path).stdout


def test_all_names_are_looked_at_once_and_not_for_every_name():
    """Tables have thousands of columns."""
    looks = []

    class Names(tuple):
        def __iter__(self):
            looks.append(1)
            return super().__iter__()

    names = Names(f'{k}" pipe' for k in range(200))
    header = Header(names, ColumnNames(names, names), 2)
    assert [header.own(header.handed(name)) for name in tuple(names)] == list(names)
    assert len(looks) < 20


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("before", ["", "Prices of 2024\n\n"])
def test_lines_that_end_in_carriage_returns_alone_are_lines(before, encoding, tmp_path):
    """Excel for Mac has written them for decades."""
    rows = "".join(f'größe {k},{k}.5,"a\nb"\n' for k in range(40))
    text = f"{before}name,price,note\n{rows}"
    (tmp_path / "lf.csv").write_bytes(text.encode(encoding))
    (tmp_path / "cr.csv").write_bytes(text.replace("\n", "\r").encode(encoding))
    usual = both(tmp_path / "lf.csv", tmp_path / "work")
    found = both(tmp_path / "cr.csv", tmp_path / "work")
    assert found.frame.equals(usual.frame)
    assert (found.lines, found.notes) == (usual.lines, usual.notes)


def test_other_line_ends_far_down_next_to_carriage_returns(tmp_path):
    text = "a,b\r" + "1,x\r" * 100_000 + "2,y\r\n3,z\n"
    (tmp_path / "t.csv").write_text(text, newline="")
    assert both(tmp_path / "t.csv", tmp_path / "work").n_rows == 100_002


def test_python_is_not_told_to_use_options_of_the_command_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(lines_of("104.2,97.1,88.0,Present", measured))
    found = odefs.detect(path)
    assert "header_is_row" in {note.kind for note in found.notes}
    assert "--" not in str(found)
    path.write_text("30,3,no,yes\n" + "1.5,2,3,4,5\n" * 30)
    with pytest.raises(TableError) as error:
        odefs.detect(path)
    assert "--" not in str(error.value)
