"""Files of all kinds, good and bad, as tables."""

import gzip
import io
import os
import zlib

import numpy as np
import polars as pl
import pytest

import odefs
import odefs.tables.readers.text.read as reading
from odefs.exceptions import TableError
from odefs.tables.readers.memory_estimate import parquet_parts
from odefs.tables.records.notes import Note
from odefs.tables.writers.files import write_table
from opening import in_both_modes, read, read_in_memory

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None], "c": [0.5, None, 2.5]})
TEXT = "a,b,c\n1,x,0.5\n2,y,\n3,,2.5\n"


def excel() -> bytes:
    out = io.BytesIO()
    FRAME.write_excel(out)
    return out.getvalue()


def packed(method: str) -> bytes:
    out = io.BytesIO()
    getattr(FRAME, method)(out)
    return out.getvalue()


FILES = {
    "t.csv": lambda: TEXT.encode(),
    "t.csv.gz": lambda: gzip.compress(TEXT.encode()),
    "t.tsv": lambda: TEXT.replace(",", "\t").encode(),
    "semicolon.csv": lambda: TEXT.replace(",", ";").encode(),
    "pipe.txt": lambda: TEXT.replace(",", "|").encode(),
    "mark.csv": lambda: b"\xef\xbb\xbf" + TEXT.encode(),
    "wide.csv": lambda: TEXT.encode("utf-16"),
    "wider.csv": lambda: TEXT.encode("utf-32"),
    "unmarked16le.csv": lambda: TEXT.encode("utf-16-le"),
    "unmarked16be.csv": lambda: TEXT.encode("utf-16-be"),
    "unmarked32le.csv": lambda: TEXT.encode("utf-32-le"),
    "breaks.csv": lambda: TEXT.replace("\n", "\r\n").encode(),
    "t.dat": lambda: TEXT.encode(),
    "no ending": lambda: b"\xef\xbb\xbf" + TEXT.encode(),
    "table.bin": lambda: packed("write_parquet"),
    "t.parquet": lambda: packed("write_parquet"),
    "t.arrow": lambda: packed("write_ipc"),
    "t.feather": lambda: packed("write_ipc"),
    "t.ndjson": lambda: packed("write_ndjson"),
    "t.jsonl": lambda: packed("write_ndjson"),
    "t.xlsx": excel,
}


@pytest.mark.parametrize("name", FILES)
@in_both_modes
def test_every_format_gives_the_same_table(mode, name, tmp_path):
    (tmp_path / name).write_bytes(FILES[name]())
    if (mode, name) == ("in parts", "t.xlsx"):
        with pytest.raises(TableError, match=r"t\.xlsx: .*convert it"):
            read(tmp_path / name, mode)
        return
    found = read(tmp_path / name, mode)
    assert found.frame.rows() == FRAME.rows()
    assert found.frame.columns == FRAME.columns
    assert found.reading.n_bytes == (tmp_path / name).stat().st_size


@pytest.mark.parametrize("how", ["folder", "glob"])
@in_both_modes
def test_parquet_files_are_one_table(mode, how, tmp_path):
    for i in range(3):
        FRAME.with_columns(a=pl.col("a") + 10 * i).write_parquet(tmp_path / f"part-{i}.parquet")
    found = read(tmp_path if how == "folder" else tmp_path / "part-*.parquet", mode)
    assert found.frame["a"].to_list() == [1, 2, 3, 11, 12, 13, 21, 22, 23]


@in_both_modes
def test_parts_that_do_not_match_are_named(mode, tmp_path):
    FRAME.write_parquet(tmp_path / "1.parquet")
    FRAME.drop("b").write_parquet(tmp_path / "2.parquet")
    with pytest.raises(TableError, match=r"2\.parquet: its columns are not those of 1\.parquet"):
        read(tmp_path, mode)


def test_a_sheet_by_name(tmp_path):
    from xlsxwriter import Workbook

    with Workbook(tmp_path / "t.xlsx") as book:
        FRAME.write_excel(book, worksheet="first")
        FRAME.reverse().write_excel(book, worksheet="second")
    assert read_in_memory(tmp_path / "t.xlsx", sheet="second").frame["a"].to_list() == [3, 2, 1]
    with pytest.raises(TableError, match="nowhere"):
        read_in_memory(tmp_path / "t.xlsx", sheet="nowhere")
    (tmp_path / "t.csv").write_text(TEXT)
    with pytest.raises(TableError, match="--sheet is for Excel files"):
        read_in_memory(tmp_path / "t.csv", sheet="second")


@in_both_modes
def test_the_delimiter_may_be_given(mode, tmp_path):
    (tmp_path / "t.csv").write_text("a\n1,5\n2,5\n")
    assert read(tmp_path / "t.csv", mode, delimiter=";").frame.rows() == [("1,5",), ("2,5",)]
    FRAME.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match="--delimiter is for csv"):
        read(tmp_path / "t.parquet", mode, delimiter=";")


@in_both_modes
def test_one_row_is_enough_where_nothing_is_learned(mode, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert read(tmp_path / "t.csv", mode, least_rows=1).frame.rows() == [(1, 2)]


@in_both_modes
def test_cells_may_be_longer_than_the_csv_module_likes(mode, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "x" * 140_000 + ",1\ny,2\n")
    assert read(tmp_path / "t.csv", mode).frame["b"].to_list() == [1, 2]
    (tmp_path / "t.csv").write_text("a,b\n" + "x" * 140_000 + ",1\ny,2,3\n")
    with pytest.raises(TableError, match="line 3 has 3 fields"):
        read(tmp_path / "t.csv", mode)


@in_both_modes
def test_western_text_is_read_and_told(mode, tmp_path):
    (tmp_path / "t.csv").write_bytes("name;ort\nJürgen;Köln\nAnne;Bad\n".encode("cp1252"))
    found = read(tmp_path / "t.csv", mode)
    assert found.frame.row(0) == ("Jürgen", "Köln")
    assert found.notes == (Note("encoding", value="cp1252"),)


@in_both_modes
def test_an_odd_byte_far_down_the_file_is_read_and_told(mode, tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"x,1\n" * 100_000 + b"\xfc,2\n")
    found = read(tmp_path / "t.csv", mode)
    assert found.frame["a"][-1] == "ü"
    assert found.notes == (Note("not_utf8", value="cp1252"),)


@in_both_modes
def test_leading_zeros_are_kept_and_told(mode, tmp_path):
    (tmp_path / "t.csv").write_text("zip,n\n01234,1\n12345,2\n")
    found = read(tmp_path / "t.csv", mode)
    assert found.frame["zip"].to_list() == ["01234", "12345"]
    assert found.notes == (Note("leading_zeros", "zip"),)


@in_both_modes
def test_a_type_that_changes_soon_after_the_first_rows(mode, tmp_path):
    cells = [*(str(i) for i in range(10_500)), "0.5"]
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{cell},x\n" for cell in cells))
    assert read(tmp_path / "t.csv", mode).frame["a"].to_list() == [float(cell) for cell in cells]


@in_both_modes
def test_lines_are_those_of_the_file(mode, tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n"x\ny",1\n\nz,2\nw,3\n')
    found = read(tmp_path / "t.csv", mode)
    assert found.frame["b"].to_list() == [1, 2, 3]
    assert found.lines == [2, 5, 6]


@in_both_modes
def test_lines_that_are_too_short_are_told(mode, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,3\n4\n5,6\n7,8,9\n")
    found = read(tmp_path / "t.csv", mode)
    assert found.frame.rows()[1] == (4, None, None)
    assert found.notes == (Note("short_lines", line=3, count=2, n_fields=1, limit=3),)
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,3\n4,5,\n")
    assert read(tmp_path / "t.csv", mode).notes == ()


@in_both_modes
def test_a_type_that_changes_at_the_end_of_a_long_file_is_seen(mode, tmp_path):
    (tmp_path / "t.csv").write_text("a\n" + "1\n" * 50_000 + "x\n")
    assert read(tmp_path / "t.csv", mode).frame["a"][-1] == "x"


@pytest.mark.slow
@in_both_modes
def test_thousands_of_columns_are_read(mode, tmp_path):
    (tmp_path / "t.csv").write_text(
        "\n".join([",".join(f"c{i}" for i in range(10_000)), *[",".join(["1"] * 10_000)] * 3])
    )
    assert read(tmp_path / "t.csv", mode).frame.width == 10_000


BAD = {
    "no such file": ("gone.csv", None, "there is no such file"),
    "empty": ("t.csv", b"", "the file is empty"),
    "blank": ("t.csv", b" \n\n", "the file is empty"),
    "header only": ("t.csv", b"a,b\n", "needs at least two rows, this one has 0"),
    "one row": ("t.csv", b"a,b\n1,2\n", "needs at least two rows, this one has 1"),
    "long line": ("t.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 fields, the header has 2"),
    "long line after a quoted break": (
        "t.csv",
        b'a,b\n"1\n1",2\n1,2,3\n',
        "line 4 has 3 fields, the header has 2",
    ),
    "unquoted comma": (
        "t.csv",
        b"a,b\n" + b"1,fine\n" * 30 + b"2,late, but paid\n",
        "2,late, but paid; if one of its fields contains ',', put that field in double quotes",
    ),
    "counts above": (
        "t.csv",
        b"30,3,no,yes\n" + b"1.5,2,3,4,5\n" * 30,
        "--skip-rows 1 --no-header",
    ),
    "title above rows": (
        "t.csv",
        b"Readings of May\n\n" + b"1.5,2,3,4\n" * 30,
        "--skip-rows 1 --no-header",
    ),
    "missing cells alone": ("t.csv", b"a,b\n" + b",NA\n" * 9, "all cells are empty"),
    "decimal commas": (
        "t.csv",
        b"a\n1,5\n2,5\n",
        "line 2 has 2 fields, the header has 1 (delimiter: ','",
    ),
    "open quote": ("t.csv", b'a,b\n1,x\n2,"y\n3,z\n', "a quote opened in line 3 is never closed"),
    "quote in a field": (
        "t.csv",
        b'a,b\n1,x\n2,5" disk\n3,z\n',
        "line 3 has a quote inside a field",
    ),
    "zero bytes": ("t.csv", b"a,b\n\x00\x01\x02,2\n" * 9, "not a text file"),
    "ending of another kind": ("t.docx", b"hello", "the suffix .docx cannot be read"),
    "no text under an unknown ending": (
        "t.xyz",
        b"\x01\x02\x00" * 99,
        "the suffix .xyz cannot be read",
    ),
    "broken parquet": ("t.parquet", b"not parquet", "t.parquet: "),
    "broken arrow": ("t.arrow", b"not arrow at all", "t.arrow: "),
    "broken json": ("t.ndjson", b'{"a": 1}\n{"a": \n', "t.ndjson: "),
    "broken excel": ("t.xlsx", b"not excel", "t.xlsx: "),
    "packed twice": (
        "t.csv.gz",
        gzip.compress(gzip.compress(TEXT.encode())),
        "compressed with gzip, twice",
    ),
    "packed in another way": (
        "t.csv",
        zlib.compress(TEXT.encode()),
        "compressed with zlib, but only gzip",
    ),
    "packed to fill the memory": (
        "t.csv.gz",
        gzip.compress(b"0,0\n" * 10_000_000, 1),
        "more than 100 times larger",
    ),
    "damaged gzip": (
        "t.csv.gz",
        gzip.compress(TEXT.encode() * 99)[:40] + bytes(40),
        "cannot be read",
    ),
    "damaged gzip under an unknown ending": (
        "t.xyz",
        b"\x1f\x8b\x08" + bytes(30),
        "suffix .xyz",
    ),
    "blank lines under a wide header": (
        "t.csv",
        b"a," * 999 + b"b\n" + b"\n" * 20_000,
        "header has 1,000 fields",
    ),
    "too many columns": (
        "t.csv",
        b"a," * 30_000 + b"b\n" + b"1," * 30_000 + b"1\n",
        "30,001 columns are more than",
    ),
    "too many columns in a line that never ends": (
        "t.csv",
        b"a," * 30_000,
        "columns are more than",
    ),
    "broken gzip": ("t.csv.gz", gzip.compress(TEXT.encode() * 99)[:-30], "cannot be read"),
}


@pytest.mark.parametrize("name", BAD)
@in_both_modes
def test_a_bad_file_gives_one_sentence_that_names_it(mode, name, tmp_path):
    file, content, sentence = BAD[name]
    if content is not None:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(TableError) as caught:
        read(tmp_path / file, mode)
    assert sentence in str(caught.value)
    assert file in str(caught.value)
    assert "\n" not in str(caught.value)


@in_both_modes
def test_breaks_within_quotes_are_no_short_lines(mode, tmp_path):
    lines = "\n" * 100_000
    (tmp_path / "t.csv").write_text(
        ",".join(f"c{i}" for i in range(100)) + f'\n"{lines}"{",1" * 99}\n' + ",2" * 99 + "\n"
    )
    assert read(tmp_path / "t.csv", mode).frame.shape == (2, 100)


@in_both_modes
def test_a_table_that_packs_well_is_read_while_it_is_small(mode, tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"0,1\n" * 200_000))
    assert read(tmp_path / "t.csv.gz", mode).frame.height == 200_000


@in_both_modes
def test_a_folder_without_tables_is_told(mode, tmp_path):
    with pytest.raises(TableError, match="there is no parquet file in this folder"):
        read(tmp_path, mode)
    with pytest.raises(TableError, match="no file matches"):
        read(tmp_path / "*.parquet", mode)
    for name in ("a.csv", "b.csv", "notes.txt", "_c.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match=r"It holds 2 csv files.*write them as parquet"):
        read(tmp_path, mode)
    (tmp_path / "b.csv").unlink()
    with pytest.raises(TableError, match=r"It holds 1 csv file,.*write it as parquet"):
        read(tmp_path, mode)


@in_both_modes
def test_a_file_that_vanishes_while_it_is_read_is_told(mode, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    sniff = reading.sniff

    def sniff_and_lose(source, name, separator):
        dialect = sniff(source, name, separator)
        path.unlink()
        return dialect

    monkeypatch.setattr(reading, "sniff", sniff_and_lose)
    with pytest.raises(TableError, match=r"t\.csv: cannot be read \(No such file or directory"):
        read(path, mode)


WRITTEN = ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.arrow", "t.ndjson", "t.xlsx"]


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_read_back_and_equal_bytes_come_of_equal_tables(name, tmp_path):
    columns = {
        "row": np.arange(1, 4),
        "score": np.array([0.5, 1.25, 3.0]),
        "why": ["a = 1", None, "b, c"],
    }
    contents = []
    for _ in range(2):
        write_table(tmp_path / name, [columns])
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    assert read_in_memory(tmp_path / name).frame.rows() == list(
        zip(*(list(v) for v in columns.values()), strict=True)
    )
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_no_formula_reaches_a_spreadsheet(tmp_path):
    columns = {"=cmd": ["=1+1", "+1", "-1", "@x", "plain"], "n": [-1.0, 2.0, 3.0, 4.0, 5.0]}
    write_table(tmp_path / "t.csv", [columns])
    text = (tmp_path / "t.csv").read_bytes()
    assert text.startswith(b"'=cmd,n")
    assert b"'=1+1" in text
    assert b"'@x" in text
    assert b",-1.0" in text
    write_table(tmp_path / "t.xlsx", [columns])
    assert read_in_memory(tmp_path / "t.xlsx").frame.item(0, 0) == "=1+1", (
        "a cell of text, which is not run"
    )


@in_both_modes
def test_a_number_of_thousands_of_digits_is_no_finite_one(mode, tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n" + b"9" * 5000 + b",2\n3,4\n")
    frame = read(tmp_path / "t.csv", mode).frame
    assert frame["a"].to_list() == [1.0, float("inf"), 3.0]
    assert frame["b"].to_list() == [2, 2, 4]


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there is no such device")
@in_both_modes
def test_what_is_no_file_is_not_said_to_be_absent(mode):
    with pytest.raises(TableError, match="/dev/null: this is neither a file nor a folder"):
        read("/dev/null", mode)


@in_both_modes
def test_what_systems_put_beside_a_table_is_passed_over(mode, tmp_path):
    FRAME.write_parquet(tmp_path / "a.parquet")
    FRAME.write_parquet(tmp_path / "_copy.parquet")
    (tmp_path / "._a.parquet").write_bytes(b"\0\5\26\7Mac OS X")
    assert read(tmp_path, mode).frame.equals(FRAME)
    (tmp_path / "b.parquet").write_bytes(b"no table")
    with pytest.raises(TableError, match=r"b\.parquet: "):
        read(tmp_path, mode)


@in_both_modes
def test_digits_of_other_scripts_are_read(mode, tmp_path):
    """polars takes them for numbers, and then cannot read them."""
    twelve, half = "\uff11\uff12", "\uff12.5"
    lines = [
        f"{k / 4},{k % 2 == 0},{twelve if k == 7 else k},{half if k == 70 else k / 8}"
        for k in range(100)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d", *lines]) + "\n")
    frame = read(tmp_path / "t.csv", mode).frame
    assert frame.dtypes == [pl.Float64, pl.Boolean, pl.String, pl.String]
    assert (frame["a"][70], frame["b"][70], frame["c"][7], frame["d"][70]) == (
        17.5,
        True,
        twelve,
        half,
    )
    found = odefs.detect(frame)
    assert [column.kind for column in found.table] == ["number", "boolean", "number", "number"]
    assert found.table["d"].values[70] == 2.5


@in_both_modes
def test_parquet_endings_of_any_case_in_a_folder(mode, tmp_path):
    FRAME.write_parquet(tmp_path / "a.parquet")
    FRAME.write_parquet(tmp_path / "B.PARQUET")
    (tmp_path / "c.parquet").mkdir()
    assert read(tmp_path, mode).frame["a"].to_list() == [1, 2, 3] * 2
    assert [path.name for path in parquet_parts(tmp_path)] == ["B.PARQUET", "a.parquet"]
