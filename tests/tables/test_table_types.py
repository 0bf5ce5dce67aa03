"""Columns of every Arrow type, through pyarrow, polars and pandas: equal cells, not rounded."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

import odefs
from command import odefs as run
from command import read
from odefs import TableEncoder
from odefs.exceptions import TableError
from odefs.tables.frames.convert import columns_of
from odefs.tables.records.notes import Exclusion
from odefs.tables.table import ParquetTable
from opening import read_in_memory

N = 120
RNG = np.random.default_rng(0)
DRAWN = RNG.integers(1, 10**9, N).astype("int64")
IDS = [1_712_345_678_901_234_567 + k for k in range(5)]


def holes(cells):
    return [None if k % 11 == 3 else cell for k, cell in enumerate(cells)]


COLUMNS = {
    "nanoseconds": pa.array(
        holes((1_700_000_000 * 10**9 + DRAWN * 1001).tolist()), pa.timestamp("ns")
    ),
    "nanoseconds before 1970": pa.array(
        (-1_000 - DRAWN * 1001).tolist(), pa.timestamp("ns", "UTC")
    ),
    "milliseconds": pa.array(
        holes((1_700_000_000_000 + DRAWN).tolist()), pa.timestamp("ms", "Europe/Berlin")
    ),
    "days": pa.array(holes([dt.date(1969, 12, 1) + dt.timedelta(days=k % 60) for k in range(N)])),
    "days in milliseconds": pa.array([dt.date(2020, 1, 1 + k % 9) for k in range(N)], pa.date64()),
    "durations": pa.array(holes((DRAWN * 1001).tolist()), pa.duration("ns")),
    "decimals": pa.array(
        holes([decimal.Decimal(k % 7) / 4 for k in range(N)]), pa.decimal128(10, 4)
    ),
    "halves": pa.array((np.arange(N) % 7).astype(np.float16)),
    "dictionary of numbers": pa.array(holes([k % 5 for k in range(N)])).dictionary_encode(),
    "dictionary": pa.array(holes(["x", "y"] * (N // 2))).dictionary_encode(),
    "views": pa.array(holes(["x", "y"] * (N // 2)), pa.string_view()),
    "nothing": pa.nulls(N),
    "truth": pa.array(holes([True, False] * (N // 2))),
    "small": pa.array(holes([k % 5 for k in range(N)]), pa.int8()),
    "large": pa.array(holes([2**63 + k % 6 for k in range(N)]), pa.uint64()),
    "ids": pa.array([IDS[k % 5] for k in range(N)]),
    "bytes": pa.array([b"a", b"b"] * (N // 2)),
}


def frames(table):
    return {
        "polars": pl.from_arrow(table),
        "pandas": table.to_pandas(),
        "pandas of arrow": table.to_pandas(types_mapper=pd.ArrowDtype),
    }


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_the_same_in_every_frame(name):
    if name == "halves" and not hasattr(pl, "Float16"):
        pytest.skip("this polars has no type for them")
    if name == "views":
        try:
            pa.array(["a"], pa.string_view()).cast(pa.string())
        except pa.ArrowNotImplementedError:
            pytest.skip("this pyarrow cannot read them")
    table = pa.table({"p": COLUMNS[name]})
    expected = TableEncoder(keep=["p"]).learn_columns(
        columns_of(pa.table({"a": np.arange(N) % 9.5, "p": COLUMNS[name]}))
    )
    for kind, frame in frames(table).items():
        if kind == "pandas" and name == "large":
            continue  # unsigned numbers with holes are floats there, rounded before they come here
        frame = (
            frame.assign(a=np.arange(N) % 9.5)
            if kind != "polars"
            else frame.with_columns(a=np.arange(N) % 9.5)
        )
        encoder = TableEncoder(keep=["p"])
        found = encoder.learn_columns(columns_of(frame))
        assert ("p" in found) == ("p" in expected) == (name not in ("nothing", "bytes")), kind
        if name == "nothing":
            assert encoder.left_out_ == {"p": Exclusion("empty")}, kind
        if "p" in found:
            assert found["p"].kind == expected["p"].kind, kind
            np.testing.assert_array_equal(found["p"].values, expected["p"].values, err_msg=kind)
        assert encoder.notes_ == [], kind


def test_times_are_what_they_say():
    stamps = pa.array([1_700_000_000_123_456_789, -1, None], pa.timestamp("ns"))
    np.testing.assert_array_equal(
        columns_of(pa.table({"t": stamps}))["t"].values, [1_700_000_000.123456, -1e-6, np.nan]
    )
    times = pa.array([3_661_999_999_999, 0, None], pa.time64("ns"))
    np.testing.assert_array_equal(columns_of(pa.table({"t": times}))["t"].values, [3661, 0, np.nan])


def nanoseconds(n_rows=300):
    rng = np.random.default_rng(1)
    stamps = 1_700_000_000 * 10**9 + rng.integers(0, 10**15, n_rows)
    return pa.table(
        {
            "key": pa.array(IDS[0] + np.arange(n_rows)),
            "when": pa.array(stamps, pa.timestamp("ns")),
            "seen": pa.array(stamps + 1, pa.timestamp("ns")),
            "a": rng.normal(size=n_rows),
        }
    )


@pytest.mark.slow
def test_nanoseconds_in_memory_in_parts_and_in_folders(tmp_path):
    (tmp_path / "parts").mkdir()
    for name in ("t.parquet", "parts/one.parquet"):
        pq.write_table(nanoseconds(), tmp_path / name)
    ask = ("detect", "t.parquet", "--id", "key", "--drop", "seen", "--no-report", "-o")
    done = run(*ask, "memory.csv", "--save", "m.odefs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run(*ask, "parts.csv", cwd=tmp_path, ODEFS_IN_PARTS="1")
    assert done.returncode == 0, done.stderr
    one, other = read(tmp_path / "memory.csv"), read(tmp_path / "parts.csv")
    assert [row["key"] for row in one] == [row["key"] for row in other]
    assert {row["key"] for row in one} == {str(IDS[0] + k) for k in range(300)}
    np.testing.assert_allclose(
        [float(r["score"]) for r in one], [float(r["score"]) for r in other], rtol=1e-9
    )
    done = run("score", "m.odefs", "parts", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("options", [{"id": "key"}, {"drop": ["key"]}, {}])
def test_large_ids_in_arrow(options):
    found = odefs.detect(nanoseconds(), **options)
    assert "key" not in found.encoder.columns
    assert found.n_rows == 300


def test_a_row_is_named_by_nanoseconds():
    found = odefs.detect(nanoseconds(), id="when")
    assert all(str(name).startswith("2023-11-") for name in found.row_names)
    assert len(set(found.row_names)) == 300


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_ids_with_more_digits_than_a_float_are_told_apart(make):
    cells = [IDS[k % 4] for k in range(299)] + [IDS[4]]
    a = np.random.default_rng(0).normal(size=300)
    for name in ("user_id", "code"):
        found = odefs.detect(make({"a": a, name: cells}))
        assert found.encoder.columns == ["a", name]
        assert found.encoder.specs_[1].levels == tuple(map(str, IDS))
        assert found.table[name].at(299) == str(IDS[4])
        scored = found.encoder.transform(make({"a": a[:4], name: IDS[1:]}))
        assert len(np.unique(scored[:, 1:], axis=0)) == 4


def test_ids_of_text_are_told_apart():
    cells = [str(10 * IDS[k % 4] + k % 4) for k in range(300)]
    encoder = TableEncoder().fit(pd.DataFrame({"a": np.arange(300) % 7.5, "code": cells}))
    assert encoder.specs_[1].levels == tuple(sorted(set(cells)))


def test_one_large_number_among_small_ones_stays_a_number():
    cells = [*range(100, 399), -(2**63)]
    found = odefs.detect(
        pd.DataFrame({"a": np.random.default_rng(0).normal(size=300), "amount": cells})
    )
    assert found.encoder.specs_[1].kind == "number"
    assert found.order[0] == 299


def test_large_numbers_are_numbers_where_they_are_said_to_be():
    cells = [IDS[0] + 1000 * (k % 40) for k in range(300)]
    encoder = TableEncoder(number=["x"]).fit(pd.DataFrame({"x": cells}))
    assert encoder.specs_[0].kind == "number"


def test_large_numbers_of_an_array():
    X = np.array([[IDS[k % 5], k % 7] for k in range(100)])
    assert TableEncoder().fit(X).specs_[0].levels == tuple(map(str, IDS))


def test_numbers_in_python_and_sparse_columns_and_codes_of_numbers_are_numbers():
    decimals = [None if k == 5 else decimal.Decimal(k % 7) / 4 for k in range(N)]
    frame = pd.DataFrame(
        {
            "decimal": pd.Series(decimals, dtype=object),
            "sparse": pd.arrays.SparseArray(np.arange(N) % 4 * 1.5, fill_value=0.0),
            "coded": pd.Categorical([None if k == 3 else k % 5 for k in range(N)]),
            "flags": pd.Categorical([k % 5 == 0 for k in range(N)]),
            "day": [dt.date(2020, 1, 1 + k % 28) for k in range(N)],
        }
    )
    encoder = TableEncoder().fit(frame)
    assert [spec.kind for spec in encoder.specs_] == [
        "number",
        "number",
        "number",
        "boolean",
        "time",
    ]
    assert encoder.notes_ == []
    assert encoder.left_out_ == {}
    read = columns_of(frame)
    np.testing.assert_array_equal(read["sparse"].values, np.arange(N) % 4 * 1.5)
    np.testing.assert_array_equal(
        read["coded"].values, [np.nan if k == 3 else k % 5 for k in range(N)]
    )
    np.testing.assert_array_equal(
        read["decimal"].values, [np.nan if k == 5 else k % 7 / 4 for k in range(N)]
    )


def test_a_large_number_for_missing_cells_is_compared_by_all_of_its_digits():
    frame = pa.table({"a": np.arange(60) % 7.5, "x": pa.array([IDS[k % 3] for k in range(60)])})
    spec = TableEncoder(na=[str(IDS[1])]).fit(frame).specs_[1]
    assert spec.levels == (str(IDS[0]), str(IDS[2]))
    assert spec.missing_share == pytest.approx(1 / 3)


@pytest.mark.parametrize("kind", ["numbers", "text"])
def test_large_measurements_that_stay_apart_are_numbers(kind):
    """Nanoseconds and small units of money: float64 separates them, and the largest stands out."""
    wei = np.random.default_rng(0).integers(10**18 - 10**15, 10**18 + 10**15, size=300)
    wei[7] = 9 * 10**18
    frame = pd.DataFrame(
        {"wei": wei if kind == "numbers" else wei.astype(str), "v": np.arange(300) % 7}
    )
    assert int(odefs.detect(frame).order[0]) == 7


def test_missing_marks_of_pandas_among_python_objects_are_missing():
    frame = pd.DataFrame(
        {"day": [dt.date(2020, 1, 1), pd.NaT, dt.date(2020, 1, 3)], "n": [1, pd.NA, 3]},
        dtype=object,
    )
    table = columns_of(frame)
    assert [column.kind for column in table.columns] == ["time", "number"]
    assert [column.missing.tolist() for column in table.columns] == [[False, True, False]] * 2


MOMENTS = {
    "dates": (pl.Date, [dt.date(2031, 5, 5), dt.date(1969, 12, 31)], ("2031-05-05", "1969-12-31")),
    "midnights": (
        pl.Datetime("us"),
        [dt.datetime(2031, 5, 5), dt.datetime(2031, 5, 6)],
        ("2031-05-05", "2031-05-06"),
    ),
    "stamps": (
        pl.Datetime("ns"),
        [dt.datetime(2031, 5, 5), dt.datetime(2031, 5, 5, 7, 30, 0, 250_000)],
        ("2031-05-05 00:00:00", "2031-05-05 07:30:00.250000"),
    ),
    "times of day": (pl.Time, [dt.time(7, 30), dt.time(0, 0, 5)], ("07:30:00", "00:00:05")),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_times_that_are_categories_have_the_names_that_csv_files_give_them(name, tmp_path):
    kind, (often, seldom), names = MOMENTS[name]
    when = pl.Series("when", [often] * 37 + [seldom] * 2 + [None], dtype=kind)
    frame = pl.DataFrame({"when": when, "x": [float(i % 7) for i in range(40)]})
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_csv(tmp_path / "t.csv")
    frame.with_columns(when=pl.Series([names[0]] * 37 + [names[1]] * 2 + [None])).write_csv(
        tmp_path / "plain.csv"
    )
    encoder = odefs.TableEncoder(category=["when"])
    encoded = encoder.fit_transform(frame)
    assert encoder.specs_[0].levels == tuple(sorted(names))
    others = [
        frame.to_arrow(),
        frame.to_pandas(),
        ParquetTable((tmp_path / "t.parquet",)).take(np.arange(40), frame.columns),
    ]
    others += [
        read_in_memory(tmp_path / file, text_columns=["when"]).frame
        for file in ("t.csv", "plain.csv")
    ]
    for other in others:
        assert_array_equal(encoder.transform(other), encoded)
        # A part need not hold what tells the form, and a model of one table takes the other.
        parts = [
            columns_of(
                other[start : start + 3] if not hasattr(other, "slice") else other.slice(start, 3)
            )
            for start in range(0, 40, 3)
        ]
        assert_array_equal(
            np.vstack([encoder.encode_table(encoder.recognised(part)) for part in parts]), encoded
        )
        trained = odefs.TableEncoder(category=["when"]).fit(other)
        assert_array_equal(trained.transform(frame), trained.transform(other))
    plain = encoder.recognised(columns_of(others[-2]))["when"]
    assert plain.values.tolist() == [names[0]] * 37 + [names[1]] * 2 + [None]


def test_models_that_knew_times_by_their_seconds_know_them_still():
    frame = pl.DataFrame(
        {
            "when": [dt.date(2031, 5, 5)] * 37 + [dt.date(2031, 5, 6)] * 3,
            "x": [float(i % 7) for i in range(40)],
        }
    )
    encoder = odefs.TableEncoder(category=["when"])
    encoded = encoder.fit_transform(frame)
    state = encoder.state()
    state["specs"][0] |= {"levels": ["1935705600", "1935792000"], "fill_level": "1935705600"}
    assert_array_equal(odefs.TableEncoder.from_state(state).transform(frame), encoded)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "ndjson"])
def test_decimals_of_256_bits_are_written_with_all_digits(suffix, tmp_path):
    n = 100
    long = [decimal.Decimal(f"{10**43 + k}.25") for k in range(n)]
    short = [decimal.Decimal(k % 7).scaleb(-2) for k in range(n)]
    table = {
        "x": pa.array(np.random.default_rng(0).normal(size=n)),
        "long": pa.array(long, pa.decimal256(50, 2)),
        "short": pa.array(short, pa.decimal256(20, 2)),
        "list": pa.array([[cell] for cell in long], pa.list_(pa.decimal256(50, 2))),
        "struct": pa.array([{"v": cell} for cell in short], pa.struct({"v": pa.decimal256(20, 2)})),
    }
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    out = tmp_path / f"out.{suffix}"
    done = run("detect", tmp_path / "t.parquet", "--with-data", "-o", out, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    read_back = {
        "csv": lambda path: pl.read_csv(path, infer_schema=False),
        "parquet": pl.read_parquet,
        "ndjson": pl.read_ndjson,
    }[suffix](out)
    assert [decimal.Decimal(cell) for cell in read_back["long"]] == long
    assert [decimal.Decimal(cell) for cell in read_back["short"]] == short
    last = read_back["list"][-1]
    assert str(long[-1]) in (last if suffix == "csv" else last.to_list()[0])


def test_an_arrow_file_with_decimals_of_256_bits_is_refused(tmp_path):
    cells = pa.array([decimal.Decimal(k) for k in range(50)], pa.decimal256(50, 2))
    with pa.ipc.new_file(tmp_path / "t.arrow", pa.schema({"d": cells.type})) as file:
        file.write_table(pa.table({"d": cells}))
    with pytest.raises(TableError, match="'d'"):
        read_in_memory(tmp_path / "t.arrow")


@pytest.mark.parametrize("id", [1, "1", np.int64(1)])
def test_integer_column_names_can_be_ids_and_hidden(id):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)))
    found = odefs.detect(frame, id=id, hide=[2])
    assert found.identifier == "1"
    assert found.encoder.columns == ["0", "2"]
    assert list(found.row_names) == frame[1].tolist()
    assert found.hidden == {"2"}


@pytest.mark.parametrize("name", [1, np.int64(1), "1"])
def test_integer_column_names_are_names_in_every_parameter(name, tmp_path):
    cells = np.random.default_rng(0).integers(1, 9, size=(60, 4))
    frame = pd.DataFrame(cells)
    for given in (name, [name]):
        assert odefs.detect(frame, drop=given).encoder.columns == ["0", "2", "3"]
    for encoder in (TableEncoder(category=[name]), None):
        own = {} if encoder else {"category": [name]}
        kinds = {
            spec.name: spec.kind
            for spec in odefs.detect(frame, **own, encoder=encoder).encoder.specs_
        }
        assert kinds["1"] == "category"
    with pytest.raises(TableError, match="'1'"):
        odefs.detect(frame, number=[name], category=["1"])
    frame[1] = np.arange(60)
    found = odefs.detect(frame, keep=[name], number=[name])
    assert "1" in found.encoder.columns
    found.save(tmp_path / "m.odefs")
    assert odefs.load(tmp_path / "m.odefs")[0].keep == ["1"]


@pytest.mark.parametrize("use", [odefs.detect, columns_of, TableEncoder().fit])
def test_column_names_of_several_levels_are_refused(use):
    names = pd.MultiIndex.from_product([["a", "b"], [1, 2]])
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 4)), columns=names)
    with pytest.raises(TableError, match="levels"):
        use(frame)
    frame.columns = frame.columns.map(str)
    use(frame)


def test_a_column_of_an_array_can_be_the_id():
    X = np.random.default_rng(0).normal(size=(60, 3))
    assert list(odefs.detect(X, id="x1").row_names) == X[:, 1].tolist()
    X[:, 0] = np.arange(60) + 100
    names = odefs.detect(X, id="x0").row_names
    assert list(names) == list(range(100, 160))
    assert all(type(name) is int for name in names)
    large = np.array([[cell, k % 5] for k, cell in enumerate(IDS * 4)])
    assert list(odefs.detect(large, id="x0").row_names) == IDS * 4
    with pytest.raises(TableError, match="x0, x1, x2"):
        odefs.detect(X, id=0)
