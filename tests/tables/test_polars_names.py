"""Columns whose names polars treats as patterns work like others, wherever they are named."""

from datetime import datetime, time, timedelta

import numpy as np
import polars as pl
import pytest

import odefs
from command import odefs as run
from command import read
from odefs.tables.writers.files import write_table
from opening import read_in_memory

NAMES = {
    "key": "^a.*$",
    "label": "*",
    "amount": "^.*$",
    "shop": "^($",
    "day": "^d$",
    "code": "^c.+$",
    "flag": "^f.$",
}
"""Of some the pattern matches the name itself, of others it matches other columns or is none."""


def plain_table(n=400):
    rng = np.random.default_rng(0)
    is_outlier = np.arange(n) % 80 == 7
    columns = {
        "key": [f"k{i:04}" for i in range(n)],
        "label": is_outlier.astype(int),
        "amount": np.round(rng.normal(100, 10, n) + 90 * is_outlier, 3),
        "shop": rng.choice(["x", "y", "z"], n),
        "day": [f"2024-01-{day:02}" for day in rng.integers(1, 29, n)],
        "code": [f"{code:04}" for code in rng.integers(1, 40, n)],
        "flag": rng.choice(["true", "false"], n),
        "abc": rng.normal(size=n).round(3),
        "dd": rng.integers(0, 50, n),
    }
    return pl.DataFrame(columns)


def named(frame):
    renamed = frame.clone()
    renamed.columns = [NAMES.get(name, name) for name in frame.columns]
    return renamed


def write(frame, path):
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "xlsx": frame.write_excel}[
        path.suffix[1:]
    ](path)


def detected(file, names, folder, output, in_parts, *more):
    """Run the command on a file; the rows of its output."""
    marked = (
        "--id",
        names["key"],
        "--label",
        names["label"],
        "--hide",
        names["shop"],
        "--reasons",
        "none",
    )
    done = run(
        "detect",
        file,
        *marked,
        "--with-data",
        "-o",
        output,
        *more,
        cwd=folder,
        ODEFS_IN_PARTS=in_parts,
    )
    assert done.returncode == 0, done.stderr
    assert ("read in parts" in done.stdout) == (in_parts == "1")
    return (
        pl.read_parquet(folder / output).to_dicts()
        if output.endswith("parquet")
        else read(folder / output)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "in_parts"),
    [
        ("csv", ""),
        ("parquet", "1"),
        ("csv", "1"),
        ("parquet", ""),
        ("xlsx", ""),
    ],
)
def test_the_command_takes_them_as_they_are(kind, in_parts, tmp_path):
    """The same output as under plain names, from reading to scores of a saved model."""
    write(plain_table(), tmp_path / f"plain.{kind}")
    write(named(plain_table()), tmp_path / f"odd.{kind}")
    same = dict(zip(NAMES, NAMES, strict=True))
    plain = detected(
        f"plain.{kind}", same, tmp_path, "plain.scores.parquet", in_parts, "--no-report"
    )
    odd = detected(f"odd.{kind}", NAMES, tmp_path, "odd.scores.parquet", in_parts, "--no-report")
    assert odd == [
        {NAMES.get(column, column): cell for column, cell in row.items()} for row in plain
    ]
    assert NAMES["shop"] not in odd[0], "hidden"
    text = detected(f"odd.{kind}", NAMES, tmp_path, "odd.scores.csv", in_parts, "--save", "m.odefs")
    assert [list(row) for row in text] == [list(row) for row in odd]
    assert [row[NAMES["key"]] for row in text] == [row[NAMES["key"]] for row in odd]
    done = run("score", "m.odefs", f"odd.{kind}", "-o", "again.csv", "--with-data", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = read(tmp_path / "again.csv")
    # New rows are not searched for values to check.
    assert set(again[0]) == {*text[0], "kind", "reasons"} - {"checks"}
    np.testing.assert_allclose(
        [float(r["score"]) for r in again], [r["score"] for r in odd], rtol=1e-6
    )


def odd_cells():
    return {
        "^a.*$": pl.Series([timedelta(seconds=3), None]),
        "^b.+$": pl.Series([b"x", None]),
        "^c$$": pl.Series([datetime(2024, 1, 1), datetime(1800, 1, 1)]),
        "^d.*$": pl.Series([float("inf"), float("nan")]),
        "^e.*$": pl.Series([2**60, 1]),
        "^f.*$": pl.Series(["=1", "x" * 40_000]),
        "^g.*$": pl.Series([[1, 2], None]),
        "^h.*$": pl.Series(["u", None], dtype=pl.Categorical),
        "^i.*$": pl.Series([time(1, 2), None]),
        "*": pl.Series([1, 2]),
        "^.*$": pl.Series([1.5, 2.5]),
    }


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "ndjson", "parquet", "arrow", "csv.gz"])
def test_cells_of_any_type_are_written_under_them(ending, tmp_path):
    cells = odd_cells()
    plain = dict(zip("abcdefghijk", cells.values(), strict=True))
    write_table(tmp_path / f"odd.{ending}", [cells], excel=ending == "csv")
    write_table(tmp_path / f"plain.{ending}", [plain], excel=ending == "csv")
    odd, expected = (
        read_in_memory(tmp_path / f"{name}.{ending}").frame for name in ("odd", "plain")
    )
    assert odd.columns == list(cells)
    odd.columns = expected.columns
    assert odd.equals(expected)


def test_frames_are_read_under_them():
    """Numbers, truth values, times of any kind, text and categories, short and long columns."""
    rng = np.random.default_rng(0)
    for n in (300, 1500):
        whole = pl.Series(rng.integers(0, 10**6, n))
        frame = pl.DataFrame(
            {
                "a": whole,
                "b": whole.cast(pl.Duration("us")),
                "c": whole.cast(pl.Datetime("ns", "UTC")),
                "d": (whole % 9).cast(pl.String),
                "e": (whole % 7).cast(pl.String).cast(pl.Categorical),
                "f": whole % 2 == 0,
                "g": (whole * 3600).cast(pl.Time),
                "h": whole % 100 + 2**60,
                "i": whole.cast(pl.Date),
                "j": whole.cast(pl.Decimal(12, 2)),
            }
        )
        odd = frame.clone()
        odd.columns = [f"^{name}.+$" for name in frame.columns]
        assert np.array_equal(
            odefs.TableEncoder().fit_transform(odd), odefs.TableEncoder().fit_transform(frame)
        )


def test_a_sheet_that_begins_further_down(tmp_path):
    """With a column without name and cells, one of numbers among text, and times of day."""
    from xlsxwriter import Workbook

    rows = [["x", 3, None, 1.123456789012, time(1, 2)], ["1.20", 4, None, "u", time(3, 4)]]
    for file, names in (
        ("odd", ["^a.*$", "*", "", "^.*$", "^t$"]),
        ("plain", ["a", "b", "", "c", "t"]),
    ):
        with Workbook(tmp_path / f"{file}.xlsx") as book:
            sheet, form = book.add_worksheet(), book.add_format({"num_format": "hh:mm"})
            for row, cells in enumerate([names, *rows], 2):
                for column, cell in enumerate(cells):
                    if isinstance(cell, time):
                        sheet.write_datetime(row, column, cell, form)
                    elif cell:
                        sheet.write(row, column, cell)
    odd, plain = (read_in_memory(tmp_path / f"{file}.xlsx").frame for file in ("odd", "plain"))
    assert odd.columns == ["^a.*$", "*", "^.*$", "^t$"]
    assert (
        odd.rows()
        == plain.rows()
        == [("x", 3, "1.123456789012", time(1, 2)), ("1.20", 4, "u", time(3, 4))]
    )
    assert odd.dtypes == plain.dtypes
