"""Folders of parquet files with different column types: one table of one type, however read."""

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import odefs as run
from command import read as read_csv
from odefs.engines.stream import RowBlocks
from odefs.exceptions import TableError
from opening import MODES, read

NONE = pa.nulls(2)
LARGE = 2**53 + 1


def both_ways(folder):
    """The table as it is read at once and as it is read in parts, both as frames of polars."""
    return tuple(read(folder, mode).frame for mode in MODES)


def write_parts(folder, columns, name="a"):
    for number, column in enumerate(columns, 1):
        pq.write_table(
            pa.table({name: column, "other": pa.array([1.0] * len(column))}),
            folder / f"{number}.parquet",
        )


def numbers(cells, kind):
    return pa.array(cells, kind)


JOINED = {
    "int8 int64": ([numbers([1, None], pa.int8()), numbers([2, LARGE], pa.int64())], pl.Int64),
    "int64 int8": ([numbers([1, LARGE], pa.int64()), numbers([2, None], pa.int8())], pl.Int64),
    "uint8 int8": ([numbers([1, 255], pa.uint8()), numbers([-2, 3], pa.int8())], pl.Int16),
    "uint32 int32 uint8": (
        [numbers([2**32 - 1], pa.uint32()), numbers([-2, 3], pa.int32()), numbers([7], pa.uint8())],
        pl.Int64,
    ),
    "int64 uint64": (
        [numbers([-1, LARGE], pa.int64()), numbers([2**64 - 1, 3], pa.uint64())],
        pl.Decimal(20, 0),
    ),
    "int64 float64": (
        [numbers([1, LARGE], pa.int64()), numbers([2.5, None], pa.float64())],
        pl.Float64,
    ),
    "float64 int64": (
        [numbers([float("nan"), 1.5], pa.float64()), numbers([LARGE, None], pa.int64())],
        pl.Float64,
    ),
    "int8 float32": ([numbers([1, 2], pa.int8()), numbers([0.5, None], pa.float32())], pl.Float64),
    "float32 float64": (
        [numbers([0.1, 2.5], pa.float32()), numbers([0.1, None], pa.float64())],
        pl.Float64,
    ),
    "null int16": ([NONE, numbers([3, 4], pa.int16())], pl.Int16),
    "int16 null float64": (
        [numbers([3, 4], pa.int16()), NONE, numbers([0.5], pa.float64())],
        pl.Float64,
    ),
    "null null text": ([NONE, NONE, pa.array(["x", None])], pl.String),
    "text null": ([pa.array(["x", "y"]), NONE], pl.String),
    "text categories": (
        [pa.array(["x", "y"]), pa.array(["z", "y"]).dictionary_encode()],
        pl.String,
    ),
    "categories null text": (
        [pa.array(["z", "y"]).dictionary_encode(), NONE, pa.array(["x", None])],
        pl.String,
    ),
    "null bool": ([NONE, pa.array([True, None])], pl.Boolean),
    "null date": ([NONE, pa.array([date(2024, 1, 1), None])], pl.Date),
    "null list": ([NONE, pa.array([[1], None])], pl.List(pl.Int64)),
    "null null": ([NONE, NONE], pl.Null),
    "decimals": (
        [
            pa.array([Decimal("1.5")], pa.decimal128(3, 1)),
            pa.array([Decimal("123456.789")], pa.decimal128(9, 3)),
        ],
        pl.Decimal(9, 3),
    ),
    "long decimals": (
        [
            pa.array([Decimal("1.5")], pa.decimal128(38, 1)),
            pa.array([Decimal("0.25")], pa.decimal128(38, 30)),
        ],
        pl.Float64,
    ),
    "decimal int": (
        [pa.array([Decimal("1.5")], pa.decimal128(3, 1)), pa.array([LARGE, None])],
        pl.Decimal(21, 1),
    ),
    "decimal float": (
        [
            pa.array([Decimal(cents).scaleb(-2) for cents in range(1, 400)], pa.decimal128(10, 2)),
            pa.array([0.5]),
        ],
        pl.Float64,
    ),
    "binary": ([pa.array([b"ab"], pa.binary(2)), pa.array([b"abc"])], pl.Binary),
    "int decimal": (
        [pa.array([7, None]), pa.array([Decimal("1.5")], pa.decimal128(3, 1))],
        pl.Decimal(21, 1),
    ),
    "ms us": (
        [pa.array([5, -5], pa.timestamp("ms")), pa.array([7, None], pa.timestamp("us"))],
        pl.Datetime("us"),
    ),
    "ns ms": (
        [
            pa.array([1999, -1, -1000, None], pa.timestamp("ns")),
            pa.array([2**44, -(2**45)], pa.timestamp("ms")),
        ],
        pl.Datetime("us"),
    ),
    "zoned": (
        [
            pa.array([1999, -1], pa.timestamp("ns", "UTC")),
            pa.array([datetime(2024, 1, 1, tzinfo=UTC)]),
        ],
        pl.Datetime("us", "UTC"),
    ),
    "times of day": (
        [pa.array([5], pa.time32("ms")), pa.array([7, None], pa.time64("us"))],
        pl.Time,
    ),
}


@pytest.mark.parametrize(("columns", "dtype"), JOINED.values(), ids=JOINED)
def test_parts_get_a_type_that_holds_all_of_them(columns, dtype, tmp_path):
    write_parts(tmp_path, columns)
    here, there = both_ways(tmp_path)
    assert here.schema["a"] == there.schema["a"] == dtype
    assert here.equals(there)
    cells = pl.concat([pl.Series(pl.from_arrow(column)).cast(dtype) for column in columns])
    assert here["a"].equals(cells, null_equal=True)


REFUSED = {
    "number text": [pa.array([1, 2]), pa.array(["x", "y"])],
    "text number": [pa.array(["1", "2"]), pa.array([1.5, 2.5])],
    "number date": [pa.array([1, 2]), pa.array([date(2024, 1, 1)])],
    "date time stamp": [pa.array([date(2024, 1, 1)]), pa.array([datetime(2024, 1, 1)])],
    "number bool": [pa.array([1.5]), pa.array([True])],
    "zones": [pa.array([1], pa.timestamp("us", "UTC")), pa.array([1], pa.timestamp("us"))],
    "lists": [pa.array([[1]]), pa.array([["x"]])],
}


@pytest.mark.parametrize("columns", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("gap", [False, True])
def test_other_types_are_refused_either_way(columns, gap, tmp_path):
    """A part without cells has no say: the one that is named has cells."""
    write_parts(tmp_path, [NONE, *columns] if gap else columns)
    first, second = ("2.parquet", "3.parquet") if gap else ("1.parquet", "2.parquet")
    for mode in MODES:
        with pytest.raises(TableError) as error:
            read(tmp_path, mode)
        said = f"its column 'a' is of another type than in {first}: write both with one type."
        assert str(error.value) == f"{tmp_path / second}: {said}"


def test_how_texts_are_held_is_no_part_of_a_type(tmp_path):
    """Nor is whether cells may lack."""
    fields = [pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.large_string())]
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), tmp_path / "1.parquet")
    pq.write_table(
        pa.table({"a": [3, 4], "b": ["z", None]}).cast(pa.schema(fields)), tmp_path / "2.parquet"
    )
    here, there = both_ways(tmp_path)
    assert here.equals(there)
    assert here.rows() == [(1, "x"), (2, "y"), (3, "z"), (4, None)]


NANO = pa.array([1_704_067_200_123_456_789, None, -1], pa.timestamp("ns"))
BESIDE = {
    "categories": [pa.table({"a": NANO, "b": pa.array(["x", "y", "x"]).dictionary_encode()})],
    "required": [
        pa.table(
            [NANO, pa.array([1, 2, 3])],
            pa.schema([("a", NANO.type), pa.field("b", pa.int64(), False)]),
        )
    ],
    "zoned": [
        pa.table(
            {
                "a": NANO.cast(pa.timestamp("ns", "UTC")),
                "b": pa.array(["x", "y", "x"]).dictionary_encode(),
            }
        )
    ],
    "dictionary": [pa.table({"a": NANO.dictionary_encode(), "b": [1.0, 2.0, 3.0]})],
    "other types": [
        pa.table({"a": NANO, "b": pa.array([1.0, 2.0, 3.0], kind)})
        for kind in (pa.float64(), pa.float32())
    ],
}


@pytest.mark.parametrize("tables", BESIDE.values(), ids=BESIDE)
def test_nanoseconds_stay_what_they_are_beside_columns_that_are_cast(tables, tmp_path):
    for number, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{number}.parquet")
    here, there = both_ways(tmp_path)
    cells = pl.Series(pl.from_arrow(NANO)).to_list() * len(tables)
    assert [cell and cell.replace(tzinfo=None) for cell in here["a"]] == cells
    assert [cell and cell.replace(tzinfo=None) for cell in there["a"]] == cells
    assert (
        there["b"].cast(pl.String).to_list()
        == here["b"].cast(there["b"].dtype).cast(pl.String).to_list()
    )


def test_categories_that_polars_has_named_beforehand(tmp_path):
    for number, shops in enumerate((["a", "b"], ["c", "b"], ["d", "a"])):
        pl.DataFrame({"shop": pl.Series(shops, dtype=pl.Enum(shops))}).write_parquet(
            tmp_path / f"{number}.parquet"
        )
    here, there = both_ways(tmp_path)
    assert (
        here["shop"].cast(pl.String).to_list()
        == there["shop"].to_list()
        == ["a", "b", "c", "b", "d", "a"]
    )


def test_columns_in_another_order(tmp_path):
    pq.write_table(
        pa.table({"^b$": [1, 2], "a": ["x", "y"], "*": [1.5, 2.5]}), tmp_path / "1.parquet"
    )
    pq.write_table(
        pa.table({"*": [3, 4], "^b$": [2.5, None], "a": pa.nulls(2)}), tmp_path / "2.parquet"
    )
    here, there = both_ways(tmp_path)
    assert here.columns == ["^b$", "a", "*"]
    assert here.equals(there)
    assert here.rows() == [(1, "x", 1.5), (2, "y", 2.5), (2.5, None, 3), (None, None, 4)]
    pq.write_table(pa.table({"*": [3], "^b$": [2.5], "c": ["x"]}), tmp_path / "2.parquet")
    for mode in MODES:
        with pytest.raises(
            TableError, match=r"2\.parquet: its columns are not those of 1\.parquet"
        ):
            read(tmp_path, mode)


def months():
    """Three months of a table as written by pandas.

    One has no decimals, one only missing remarks, and one another order of columns.
    """
    rng = np.random.default_rng(0)
    found = []
    for month in range(3):
        n = 1500
        amount = rng.normal(100, 10, n)
        amount[::300] += 90
        frame = pd.DataFrame(
            {
                "key": [f"{month}-{i:04}" for i in range(n)],
                "amount": amount,
                "count": rng.integers(0, 9, n),
                "remark": rng.choice(["a", "b", "c"], n),
                "when": pd.Timestamp("2024-01-01")
                + pd.to_timedelta(rng.integers(0, 10**6, n), "s"),
            }
        )
        found.append(frame)
    found[0]["amount"] = found[0]["amount"].round().astype("int32")
    found[0]["when"] = found[0]["when"].astype("datetime64[ms]")
    found[1]["remark"] = None
    found[1]["count"] = found[1]["count"].where(found[1]["count"] != 3)
    found[2]["count"] = found[2]["count"].astype("uint8")
    found[2] = found[2][["remark", "count", "key", "when", "amount"]]
    return found


@pytest.mark.slow
def test_the_command_finds_the_same_either_way(tmp_path):
    (tmp_path / "t").mkdir()
    for number, frame in enumerate(months()):
        frame.to_parquet(tmp_path / "t" / f"x{number}.parquet", index=False)
    common = ("detect", "t", "--id", "key", "--no-report", "--reasons", "all", "--with-data")
    here = run(*common, "--save", "m.odefs", "-o", "here.csv", cwd=tmp_path)
    there = run(*common, "-o", "there.csv", cwd=tmp_path, ODEFS_IN_PARTS="1")
    assert here.returncode == there.returncode == 0, here.stderr + there.stderr
    assert "read in parts" in there.stdout
    a, b = read_csv(tmp_path / "here.csv"), read_csv(tmp_path / "there.csv")
    np.testing.assert_allclose(
        [float(r["score"]) for r in b], [float(r["score"]) for r in a], rtol=1e-6
    )
    for column in ("key", "outlier", "reasons", "amount", "count", "remark", "when"):
        assert [row[column] for row in a] == [row[column] for row in b]
    done = run("score", "m.odefs", "t/x*.parquet", "-o", "again.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = read_csv(tmp_path / "again.csv")
    assert [row["key"] for row in again] == [row["key"] for row in a]
    np.testing.assert_allclose(
        [float(r["score"]) for r in again], [float(r["score"]) for r in a], rtol=1e-6
    )


def test_a_matrix_over_parts_of_mixed_numbers(tmp_path):
    pq.write_table(pa.table({"a": numbers([1, 2], pa.int8()), "b": NONE}), tmp_path / "1.parquet")
    pq.write_table(
        pa.table({"b": numbers([LARGE, 4], pa.int64()), "a": [0.1, None]}), tmp_path / "2.parquet"
    )
    pq.write_table(
        pa.table({"a": numbers([0.5], pa.float32()), "b": numbers([2**64 - 1], pa.uint64())}),
        tmp_path / "3.parquet",
    )
    blocks = RowBlocks.from_parquet(tmp_path)
    assert (blocks.dtype, blocks.names) == (np.float64, ("a", "b"))
    expected = [[1, np.nan], [2, np.nan], [0.1, LARGE], [np.nan, 4], [0.5, 2**64 - 1]]
    assert np.array_equal(
        np.concatenate(list(blocks)), np.array(expected, dtype=np.float64), equal_nan=True
    )
    pq.write_table(pa.table({"a": [1.0], "c": [1.0]}), tmp_path / "3.parquet")
    with pytest.raises(ValueError, match=r"3\.parquet: its columns are not those of 1\.parquet"):
        RowBlocks.from_parquet(tmp_path)
