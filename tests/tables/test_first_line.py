"""The first line of a text file: names, or a row; a note where it may be the other."""

import datetime as dt

import numpy as np
import pytest

from opening import read_in_memory, read_in_parts

ROW, NOTED, NAMES = {"header_is_row"}, {"header_like_data"}, set()


def responses(rng):
    return [f"{value:.2f}" for value in rng.uniform(0, 110, size=4)]


def counts(rng):
    return rng.integers(0, 51, size=3)


def two_decimals(n):
    return lambda rng: [f"{value:.2f}" for value in rng.normal(50, 20, size=n)]


def european(rng):
    return [f'"{value:.2f}"'.replace(".", ",") for value in rng.normal(5, 2, size=3)]


def dated(rng):
    day = dt.date(2024, 1, 1) + dt.timedelta(int(rng.integers(400)))
    return [day, *two_decimals(2)(rng)]


def trend(rng):
    """Values that are far above those of the first line."""
    return [dt.date(2024, 1, 2) + dt.timedelta(int(rng.integers(99))), f"{rng.uniform(9, 10):.2f}"]


def clocked(rng):
    return [f"{rng.integers(24):02}:{rng.integers(60):02}", *two_decimals(2)(rng)]


def keyed(rng):
    return [f"S{rng.integers(10**6)}", *two_decimals(3)(rng)]


def kept(rng):
    return [f"K{rng.integers(10**6)}", *rng.integers(0, 4000, size=4)]


def with_line_separators(rng):
    """Text with characters that end lines for Python, but not in a file."""
    return [rng.choice(["a\x85b", "c\u2028d"]), *two_decimals(2)(rng)]


def with_line_feeds(rng):
    return [rng.choice(['"a\nb"', "c"]), *two_decimals(2)(rng)]


def with_text(rng):
    cells = responses(rng)
    return ["<0.1", *cells[1:]] if rng.random() < 0.2 else cells


def with_missing(rng):
    return ["NA" if rng.random() < 0.1 else cell for cell in two_decimals(3)(rng)]


@pytest.mark.parametrize(
    ("first", "make", "kinds"),
    [
        # Doses and cut-offs are names, even if they are among the numbers below.
        ("0.1,1,10,100", responses, NOTED),
        ("100,10,1,0.1", responses, NOTED),
        ("18.5,25,30", counts, NOTED),
        ("18.5,25,30", two_decimals(3), NOTED),
        ("18.5,25", two_decimals(2), NOTED),
        ("0.1,1,10,100", with_text, NOTED),
        # Rows of which the numbers rise or fall by chance.
        ("41.20,50.11,62.87", two_decimals(3), ROW),
        ("62.87,50.11", two_decimals(2), ROW),
        ("41.20,50.11,49.02,62.87", two_decimals(4), ROW),
        ("41.20,50.11,62.87,62.90", two_decimals(4), NOTED),
        ("50.11,41.20,62.87", with_missing, ROW),
        ('"6,87","5,13","5,90"', european, ROW),
        # No header, and dates, times or keys first.
        ("2024-01-01,51.30,68.70", dated, ROW),
        ("2024-01-01,1.30", trend, ROW),
        ("08:15,51.30,68.70", clocked, ROW),
        ("S77,51.30,68.70,52.02", keyed, NOTED),
        ("a\x85b,51.30,68.70", with_line_separators, ROW),
        ('"a\nb",51.30,68.70', with_line_feeds, ROW),
        # Headers with years, sizes or dates next to a name.
        ("region,2019,2020,2021,2022", kept, NAMES),
        ("key,100,250,300,1000", kept, NAMES),
        ("day,51.30,68.70", dated, NAMES),
        ("2024-01-01,2024-02-01,2024-03-01", two_decimals(3), NAMES),
        ("height,width,weight", two_decimals(3), NAMES),
    ],
)
def test_a_first_line_is_a_row_if_its_cells_are_like_those_below(first, make, kinds, tmp_path):
    path, rng = tmp_path / "t.csv", np.random.default_rng(0)
    rows = [",".join(map(str, make(rng))) for _ in range(80)]
    path.write_text("\n".join([first, *rows]) + "\n", encoding="utf-8")
    (tmp_path / "work").mkdir()
    for found in (read_in_memory(path), read_in_parts(path, tmp_path / "work")):
        notes = {note.kind for note in found.notes}
        assert notes & {"header_is_row", "header_like_data"} == kinds
        assert len(found.frame) == (81 if kinds == ROW else 80)
        assert found.reading.has_header == (kinds != ROW)
