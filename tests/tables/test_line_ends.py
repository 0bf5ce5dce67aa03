"""Delimiters, and line ends of text files: carriage returns and line feeds in cells."""

import pytest

from odefs.exceptions import TableError
from odefs.tables.readers.text.broken_lines import broken_line
from odefs.tables.readers.text.dialect import Dialect, detect_delimiter
from opening import read_in_memory, read_in_parts


def written(path, text):
    path.write_text(text, encoding="utf-8", newline="")
    (path.parent / "work").mkdir(exist_ok=True)
    return path


def both(path):
    here, there = read_in_memory(path), read_in_parts(path, path.parent / "work")
    assert here.frame.equals(there.frame)
    assert (here.lines, here.notes) == (there.lines, there.notes)
    return here


def test_carriage_returns_in_cells_do_not_make_lines_short(tmp_path):
    rows = [f"{k},x\ry{k % 3},{k % 5}" for k in range(60)]
    found = both(written(tmp_path / "t.csv", "\n".join(["a,b,c", *rows, ""])))
    assert (len(found.frame), found.notes) == (60, ())
    rows[7] = "7,x\ry"
    (note,) = both(written(tmp_path / "t.csv", "\n".join(["a,b,c", *rows, ""]))).notes
    assert (note.kind, note.line, note.count, note.n_fields) == ("short_lines", 9, 1, 2)


def test_a_long_line_is_found_below_cells_with_carriage_returns(tmp_path):
    rows = [f"{k},x\ry,{k % 5}" for k in range(60)]
    rows[20] += ",more"
    path = written(tmp_path / "t.csv", "\n".join(["a,b,c", *rows, ""]))
    with pytest.raises(TableError, match="line 22 has 4 fields"):
        read_in_memory(path)
    semicolons = "a;b;c\n" + "1;x\ry,5;2\n" * 60
    assert "--delimiter ';'" in broken_line(semicolons.encode(), Dialect(",", "utf-8"))
    titled = "2.5\na,b,c\n" + "1,x\ry,2\n" * 60
    assert "--skip-rows 1" in broken_line(titled.encode(), Dialect(",", "utf-8"))


@pytest.mark.parametrize("n_rows", [60, 60_000])
def test_line_feeds_in_quotes_between_lines_that_end_in_carriage_returns(n_rows, tmp_path):
    rows = [f'n{k},"x{k % 3}\ny",{k % 7}.5' for k in range(n_rows)]
    found = both(written(tmp_path / "t.csv", "\r".join(["name,note,v", *rows, ""])))
    assert (found.columns, len(found.frame)) == (["name", "note", "v"], n_rows)
    assert found.frame["note"][1] == "x1\ny"
    assert not found.notes


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_carriage_returns_next_to_lines_that_end_in_line_feeds(end, tmp_path):
    rows = [f'n{k},"x\r{k % 3}\ny",{k % 7}.5,a\rb' for k in range(60)]
    found = both(written(tmp_path / "t.csv", end.join(["name,note,v,w", *rows, ""])))
    assert found.columns == ["name", "note", "v", "w"]
    assert len(found.frame) == 60


@pytest.mark.parametrize(
    ("line", "separator"),
    [
        ("9,44;2,81", ";"),
        ("1;9,44;2,81", ";"),
        ("-1,5;1.234,50", ";"),
        ("9,44\t2,81", "\t"),
        ("9,44|2,81", "|"),
        ('"9,44";"2,81"', ";"),
        ('"9,44","2,81"', ","),
        # Cells with semicolons in a file with commas.
        ("52.5,13.4;52.6,13.5", ","),
        ("5,a;b,7", ","),
        ("a\u2028b;1", ";"),
        ("a\x85b;1", ";"),
    ],
)
def test_the_delimiter_of_a_file_without_a_header(line, separator):
    assert detect_delimiter(f"{line}\n" * 30) == separator


def test_a_header_shows_which_of_two_delimiters_it_is():
    assert detect_delimiter("a,b,c\n" + "1,2;3,4\n" * 30) == ","
    assert detect_delimiter("a;b\n" + "1,2;3,4\n" * 30) == ";"


def test_european_decimals_without_a_header_are_read_as_rows(tmp_path):
    rows = [f"{k % 7},{k % 9};{k % 5},{k % 3}1" for k in range(60)]
    rows[0] = "3,5;2,21"
    found = both(written(tmp_path / "t.csv", "\n".join([*rows, ""])))
    assert (found.frame.shape, [note.kind for note in found.notes]) == ((60, 2), ["header_is_row"])
