"""Text files with lines around the table: the table is found, in memory and in parts alike."""

import gzip
from dataclasses import dataclass, field

import pytest

from odefs.exceptions import TableError
from opening import MODES, in_both_modes, read

N = 30
NAMES = ["city", "price", "size"]


def body(separator=",", n=N):
    return [separator.join([f"city{k}", f"{10.5 + k}", f"{100 + 7 * k}"]) for k in range(n)]


@dataclass
class Case:
    """Lines of a file, and the table in it."""

    lines: list[str]
    names: list[str] = field(default_factory=lambda: list(NAMES))
    first: tuple = ("city0", 10.5, 100)
    last: tuple = ("city29", 39.5, 303)
    first_line: int = 2
    notes: tuple[str, ...] = ()
    n_rows: int = N


HEADER = "city,price,size"
QUARTERS = [f"region {k},{1.5 + k},{2.5 + k},{3.5 + k},{4.5 + k}" for k in range(N)]

CASES = {
    "plain": Case([HEADER, *body()]),
    "comments": Case(
        ["# prices of 2024, all cities", "# in EUR", HEADER, *body()],
        first_line=4,
        notes=("rows_above",),
    ),
    "a comment with as many fields as the table": Case(
        ["# city, price and size", "# a, b, c", HEADER, *body()],
        first_line=4,
        notes=("rows_above",),
    ),
    "a header that starts like a comment": Case(
        [f"#{HEADER}", *body()], names=["#city", "price", "size"]
    ),
    "a comment above such a header": Case(
        ["# prices", f"#{HEADER}", *body()],
        names=["#city", "price", "size"],
        first_line=3,
        notes=("rows_above",),
    ),
    "title": Case(["Prices of 2024", HEADER, *body()], first_line=3, notes=("rows_above",)),
    "title and blank line": Case(
        ["Prices of 2024", "", HEADER, *body()], first_line=4, notes=("rows_above",)
    ),
    "title with the delimiters of a spreadsheet": Case(
        ["Prices of 2024,,", ",,", HEADER, *body()], first_line=4, notes=("rows_above",)
    ),
    "title, semicolons": Case(
        ["Prices; all cities", "city;price;size", *body(";")],
        first_line=3,
        notes=("rows_above",),
    ),
    "source below": Case([HEADER, *body(), "Source: Office of Prices"], notes=("rows_below",)),
    "source with a comma, after a blank line": Case(
        [HEADER, *body(), "", "Source: Office of Prices, 2024"], notes=("rows_below",)
    ),
    "notes below, of which the first has a source": Case(
        [HEADER, *body(), '"Source: Office of Prices"', '"Office"', '"October 2024"'],
        notes=("rows_below",),
    ),
    "short lines below a blank line": Case(
        [HEADER, *body(), "", "Office of Prices", "provisional"], notes=("rows_below",)
    ),
    "a text with the delimiters of a row below a blank line": Case(
        [HEADER, *body(), "", "Total samples: 30,,", "Note: preliminary"], notes=("rows_below",)
    ),
    "a text below a blank line, both with delimiters": Case(
        [HEADER, *body(), ",,", "Office of Prices,,", "provisional,,", ",,"],
        notes=("rows_below",),
    ),
    "a text with the delimiters of a row that is one": Case(
        [HEADER, *body(), "city30,,"], last=("city30", None, None), n_rows=N + 1
    ),
    "short lines that are rows": Case(
        [HEADER, *body(), "city30"],
        last=("city30", None, None),
        notes=("short_lines",),
        n_rows=N + 1,
    ),
    "comments above and below": Case(
        ["# prices", HEADER, *body(), "# end"],
        first_line=3,
        notes=("rows_above", "rows_below"),
    ),
    "units": Case([HEADER, ",EUR,m2", *body()], first_line=3, notes=("units_row",)),
    "two-line header": Case(
        ["region,2023,,2024,", ",Q1,Q2,Q1,Q2", *QUARTERS],
        names=["region", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"],
        first=("region 0", 1.5, 2.5, 3.5, 4.5),
        last=("region 29", 30.5, 31.5, 32.5, 33.5),
        first_line=3,
        notes=("joined_header",),
    ),
    "runs of spaces": Case(
        [
            f"{name:<10}{price:>10}{size:>10}"
            for name, price, size in [NAMES, *[row.split(",") for row in body()]]
        ],
        notes=("separated_by_spaces",),
    ),
    "tabs and runs of spaces": Case(
        ["city\tprice\tsize", *[row.replace(",", "   ", 1).replace(",", " \t") for row in body()]],
        notes=("separated_by_spaces",),
    ),
    "tabs and runs of spaces, and quotes": Case(
        ["price\tsize\tcity", *[f'{10.5 + k}   {100 + 7 * k}\t"the \tcity {k}"' for k in range(N)]],
        names=["price", "size", "city"],
        first=(10.5, 100, "the \tcity 0"),
        last=(39.5, 303, "the \tcity 29"),
        notes=("separated_by_spaces",),
    ),
    "tabs, and spaces in names and cells": Case(
        ["city\tprice in EUR\tsize", *[row.replace("city", "city ") for row in body("\t")]],
        names=["city", "price in EUR", "size"],
        first=("city 0", 10.5, 100),
        last=("city 29", 39.5, 303),
    ),
    "tabs, and more names than fields": Case(
        ["city\tprice\tsize\tnote\tmore", *body("\t")[:-2], "city28\t\t100", "the city\t39.5\t303"],
        names=[*NAMES, "note", "more"],
        first=("city0", 10.5, 100, None, None),
        last=("the city", 39.5, 303, None, None),
        notes=("short_lines",),
    ),
    "runs of spaces below a comment": Case(
        ["# city price size", "   city  price   size", *[f"  {row}" for row in body("   ")]],
        first_line=3,
        notes=("rows_above", "separated_by_spaces"),
    ),
    "a short last row": Case(
        [HEADER, *body(), "city30"],
        last=("city30", None, None),
        n_rows=N + 1,
        notes=("short_lines",),
    ),
    "names of people": Case(
        ["name", "Ann Lee", "Bo Li", "Cy Ray"],
        names=["name"],
        first=("Ann Lee",),
        last=("Cy Ray",),
        n_rows=3,
    ),
}


@in_both_modes
@pytest.mark.parametrize("name", CASES)
def test_the_table_is_found(name, mode, tmp_path):
    case = CASES[name]
    (tmp_path / "t.csv").write_text("\n".join(case.lines) + "\n")
    found = read(tmp_path / "t.csv", mode)
    assert found.columns == case.names
    assert found.n_rows == case.n_rows
    assert (found.frame.row(0), found.frame.row(-1)) == (case.first, case.last)
    assert found.lines[0] == case.first_line
    assert tuple(note.kind for note in found.notes) == case.notes


def test_notes_name_lines_of_the_file(tmp_path):
    lines = ["# one", "# two", "", HEADER, ",EUR,m2", *body(), "", "* provisional", "Source: us"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    above, units, below = read(tmp_path / "t.csv", "in memory").notes
    assert (above.line, above.count, above.value) == (4, 2, "# one")
    assert (units.line, units.details) == (5, ("EUR", "m2"))
    assert (below.line, below.count, below.value) == (37, 2, "* provisional")
    assert below.column == "city", "the note is hidden if the column is"


@in_both_modes
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_other_encodings(encoding, mode, tmp_path):
    lines = ["Preise für 2024", HEADER, *body(), "ü,1.5,2"]
    (tmp_path / "t.csv").write_bytes("\n".join(lines).encode(encoding))
    found = read(tmp_path / "t.csv", mode)
    assert (found.columns, found.n_rows) == (NAMES, N + 1)
    assert found.frame.row(-1) == ("ü", 1.5, 2)
    assert found.notes[-1].kind == "rows_above"


@in_both_modes
def test_tabs_and_spaces_with_the_delimiter_given(mode, tmp_path):
    lines = ["city\tprice size", *[row.replace(",", " ", 1).replace(",", "\t") for row in body()]]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    found = read(tmp_path / "t.csv", mode, delimiter=" ")
    assert (found.columns, found.frame.row(-1)) == (NAMES, ("city29", 39.5, 303))


@in_both_modes
def test_a_compressed_file(mode, tmp_path):
    lines = ["Prices", HEADER, *body(), "Source: us"]
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    found = read(tmp_path / "t.csv.gz", mode)
    assert (found.columns, found.n_rows) == (NAMES, N)


@in_both_modes
def test_the_place_of_the_table_can_be_given(mode, tmp_path):
    lines = ["a,b,c", "1,2,3", "4,5,6", HEADER, *body()]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    for options in ({"skip_rows": 3}, {"header_row": 4}):
        found = read(tmp_path / "t.csv", mode, **options)
        assert (found.columns, found.n_rows, found.lines[0]) == (NAMES, N, 5)
        assert found.notes == ()
    bare = read(tmp_path / "t.csv", mode, skip_rows=4, header=False)
    assert (bare.columns[0], bare.n_rows) == ("column 1", N)
    with pytest.raises(TableError, match="no table below line 99"):
        read(tmp_path / "t.csv", mode, skip_rows=99)


def test_options_that_do_not_apply_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("\n".join([HEADER, *body()]))
    (tmp_path / "t.ndjson").write_text('{"a": 1}\n{"a": 2}\n')
    with pytest.raises(TableError, match="--range is for Excel files"):
        read(tmp_path / "t.csv", MODES[0], cell_range="A1:B3")
    with pytest.raises(TableError, match="--skip-rows is for Excel and text files"):
        read(tmp_path / "t.ndjson", MODES[0], skip_rows=1)
    with pytest.raises(TableError, match="--no-header and --header-row contradict"):
        read(tmp_path / "t.csv", MODES[0], header_row=2, header=False)


def test_a_file_of_sentences_is_refused(tmp_path):
    text = ["This is a file of text.", "It has no table in it.", "So it is refused at once."]
    (tmp_path / "t.txt").write_text("\n".join(text))
    with pytest.raises(TableError, match="one column was found"):
        read(tmp_path / "t.txt", MODES[0])


def test_a_long_file_is_cut_at_its_end(tmp_path):
    rows = body(n=20_000)
    (tmp_path / "t.csv").write_text("\n".join(["Prices", HEADER, *rows, "", "Source: us"]))
    found = [read(tmp_path / "t.csv", mode) for mode in MODES]
    assert [one.n_rows for one in found] == [20_000, 20_000]
    assert found[0].frame.equals(found[1].frame)
    assert found[0].notes == found[1].notes
    assert found[0].notes[1].line == 20_004


NOT_NOTES = {
    "a title that starts like a note": ["Notes from Underground", "Emma,Austen", "Dracula"],
    "a row of empty cells": [",,,,", "Emma,Austen", "Dracula"],
}


@pytest.mark.parametrize("name", NOT_NOTES)
@in_both_modes
def test_short_rows_at_the_end_are_rows(name, mode, tmp_path):
    rows = [f"book{k},author{k},{1900 + k},{k},x{k % 3}" for k in range(N)]
    lines = ["title,author,year,copies,shelf", *rows, *NOT_NOTES[name]]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    assert "Dracula" in read(tmp_path / "t.csv", mode).frame["title"].to_list()


@in_both_modes
@pytest.mark.parametrize("blank", ["", ",,,,"])
def test_short_rows_of_a_file_with_an_empty_line_after_each_row_are_rows(blank, mode, tmp_path):
    rows = [f"book{k},author{k},{1900 + k},{k},x{k % 3}" for k in range(N)]
    lines = ["title,author,year,copies,shelf", *rows, "Emma,Austen", f"Dracula{blank}"]
    (tmp_path / "t.csv").write_text(f"\n{blank}\n".join(lines) + "\n")
    assert "Dracula" in read(tmp_path / "t.csv", mode).frame["title"].to_list()
