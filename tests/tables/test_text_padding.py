"""Spaces at the delimiters of a text file: the table is that of the file without them."""

import csv
import json

import polars as pl
import pytest

import odefs
from command import odefs as command
from odefs.tables.readers.text.padding import find_padding
from opening import in_both_modes, read

N = 40
ROWS = [
    ["id", "colour", "place", "size", "price"],
    *(
        [
            str(k),
            ("red", "green", "blue")[k % 3],
            ("Bonn, West", "Ulm", 'the "Old" Mill', "two\nlines, here")[k % 4],
            str(k % 7),
            f"{k / 8:.2f}" if k % 5 else "",
        ]
        for k in range(N)
    ),
]


def quoted(cell):
    return f'"{cell.replace(chr(34), chr(34) * 2)}"' if set(cell) & set(',"\n') else cell


def written(path, separator, end="\n", encoding="utf-8", start="", stop=""):
    lines = [f"{start}{separator.join(map(quoted, row))}{stop}" for row in ROWS]
    path.write_bytes((end.join(lines) + end).encode(encoding))
    return path


@pytest.fixture
def plain(tmp_path):
    return read(written(tmp_path / "plain.csv", ","), "in memory")


PADDED = {
    "space after": {"separator": ", "},
    "spaces after": {"separator": ",   "},
    "spaces on both sides": {"separator": "  , "},
    "space before": {"separator": " ,", "stop": " "},
    "lines that begin with a space": {"separator": ", ", "start": " "},
    "Windows": {"separator": " , ", "end": "\r\n", "stop": "  "},
    "UTF-16": {"separator": ", ", "encoding": "utf-16"},
    "semicolons": {"separator": "; "},
    "tabs": {"separator": "\t "},
}


@in_both_modes
@pytest.mark.parametrize("case", PADDED)
def test_spaces_at_delimiters_are_not_part_of_the_cells(case, mode, plain, tmp_path):
    found = read(written(tmp_path / "t.csv", **PADDED[case]), mode)
    assert found.columns == plain.columns
    assert found.frame.equals(plain.frame)
    assert found.frame.dtypes == plain.frame.dtypes
    assert found.lines == plain.lines


@in_both_modes
def test_a_few_lines_without_spaces(mode, plain, tmp_path):
    path = written(tmp_path / "t.csv", ", ")
    lines = path.read_text().split("\n")
    lines[0] = lines[0].replace(" ", "")
    path.write_text("\n".join(lines))
    assert read(path, mode).frame.equals(plain.frame)


@in_both_modes
def test_long_files_have_the_same_table_without_the_spaces(mode, tmp_path):
    path = tmp_path / "t.csv"
    rows = [f'{k}, "a, b", {k % 9}, word{k % 11} \n' for k in range(70_000)]
    path.write_text("id, pair, digit, word \n" + "".join(rows))
    frame = read(path, mode).frame
    assert frame.dtypes == [pl.Int64, pl.String, pl.Int64, pl.String]
    assert frame["pair"].unique().to_list() == ["a, b"]
    assert frame["id"].to_list() == list(range(70_000))
    assert frame["digit"].sum() == sum(k % 9 for k in range(70_000))


@in_both_modes
def test_spaces_in_some_cells_stay(mode, tmp_path):
    path = tmp_path / "t.csv"
    words = ["b", " b", "b ", "c"]
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([["n", "word"], *([k, words[k % 4]] for k in range(N))])
    assert read(path, mode).frame["word"].to_list() == [words[k % 4] for k in range(N)]


@in_both_modes
def test_names_with_spaces_that_a_model_expects_are_found_with_their_cells(mode, tmp_path):
    path = written(tmp_path / "t.csv", ", ", end="\n")
    path.write_text("n, word\n" + "".join(f"{k}, x{k % 3}\n" for k in range(N)))
    found = read(path, mode, expected_names=("n", " word"))
    assert found.columns == ["n", " word"]
    assert found.frame[" word"].to_list() == [f" x{k % 3}" for k in range(N)]


@pytest.mark.parametrize(
    ("text", "delimiter", "after", "before"),
    [
        ("a,b\n1,2\n3,4\n", None, False, False),
        ("a, b\n1, 2\n3, 4\n5, 6\n", None, True, False),
        ("a , b\n1 , 2\n3 , 4\n5 , 6\n", None, True, True),
        ("a b\n1 2\n3 4\n5 6\n", " ", False, False),
        ("Prices, all cities\na,b,c\n1,2,3\n4,5,6\n", None, False, False),
        ("a,,\n1,,\n2,,\n3, ,\n", None, False, False),
    ],
)
def test_spaces_are_found_in_nearly_all_fields(text, delimiter, after, before):
    found = find_padding(text, delimiter)
    assert (found.after, found.before) == (after, before)


@in_both_modes
def test_long_runs_of_spaces_inside_cells_are_read_in_little_time(mode, tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{k}   , a{' ' * 300_000 * (k == 7)}b" for k in range(N)]
    path.write_text("n   , word\n" + "\n".join(rows) + "\n")
    assert read(path, mode).frame["word"][7] == f"a{' ' * 300_000}b"


@in_both_modes
def test_indentation_of_the_first_column_stays(mode, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("group, n\n" + "".join(f"{'   ' * (k % 2)}Food, {k}\n" for k in range(N)))
    assert set(read(path, mode).frame["group"]) == {"Food", "   Food"}


@pytest.mark.parametrize("keeps", [False, True])
def test_a_file_is_read_as_the_training_table_was(keeps, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n, colour\n0.1, red\n")
    found = read(path, "in memory", least_rows=1, keeps_spaces=keeps)
    assert found.frame["colour"].to_list() == [" red" if keeps else "red"]


@pytest.mark.parametrize("strips", [False, True])
def test_categories_of_a_frame_are_known_in_the_file(strips, tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "t.csv"
    path.write_text("n, colour\n" + "".join(f"{k * k % 31}, c{k % 3}\n" for k in range(90)))
    frame = pandas.read_csv(path).rename(columns=str.strip)
    if strips:
        frame["colour"] = frame["colour"].str.strip()
    odefs.detect(frame).save(tmp_path / "m.odefs")
    done = command("score", "m.odefs", "t.csv", "--json", cwd=tmp_path)
    drift = json.loads(done.stdout)["drift"]["columns"]
    assert not any(entry["unseen_share"] for entry in drift)


def test_lines_that_cannot_be_split_have_no_spaces_to_remove():
    text = "a, b\n" + "1, 2\n" * 20 + '3, "4\r5"x\r6, 7\n'
    assert not find_padding(text, None)
