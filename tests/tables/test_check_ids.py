"""Repeated ids: of any type, with all digits, in tables with more ids than texts are counted."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import odefs
from odefs.tables import table as tables
from odefs.tables.checks import find_checks, gather
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.learning import learn_encoder
from odefs.tables.table import ParquetTable, table_of

N_ROWS = 25_000
"""More than the distinct texts whose counts are held."""


def repeats(table, id=None):
    """Return rows and values of the repeated ids by column."""
    encoder = ColumnEncoder()
    names = [name for name in table.names if name != id]
    learn_encoder(encoder, table, names, 0)
    checks = find_checks(table, encoder, names, id=id)
    return {
        check.column: (check.rows, check.values) for check in checks if check.kind == "repeated_id"
    }


def in_parts(frame, folder, monkeypatch, height):
    frame.write_parquet(folder / "t.parquet")
    monkeypatch.setattr(tables, "rows_at_once", lambda width: height)
    return ParquetTable((folder / "t.parquet",))


def with_repeats(ids, *pairs):
    """Return a frame with ids of which some are copied to other rows."""
    cells = list(ids)
    for source, target in pairs:
        cells[target] = cells[source]
    x = np.random.default_rng(0).normal(size=len(cells))
    return pl.DataFrame({"key_no": cells, "x": x})


TEXTS = {
    "digits": lambda k: str(100_000 + k),
    "form": lambda k: f"R-2026-{k:06d}",
    "random": lambda k: f"{(k * 2654435761) % 2**32:08x}-{k:x}",
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("height", [None, 7_001])
def test_ids_of_tall_tables_are_searched(kind, height, tmp_path, monkeypatch):
    ids = [TEXTS[kind](k) for k in range(N_ROWS)]
    frame = with_repeats(ids, (5, 24_000), (6, 9))
    # Labels of totals and words for missing are no ids.
    frame[24_997, "key_no"] = frame[24_998, "key_no"] = "Total"
    frame[24_995, "key_no"] = frame[24_996, "key_no"] = "n/a"
    table = table_of(frame) if height is None else in_parts(frame, tmp_path, monkeypatch, height)
    rows = (5, 6, 9, 24_000)
    if kind == "random":
        # Of ids without a common form, a label is one like any other.
        rows += (24_997, 24_998)
    assert repeats(table, "key_no")["key_no"][0] == rows
    by_name = repeats(table)
    assert set(by_name) == ({"key_no"} if kind != "random" else set())


@pytest.mark.parametrize("height", [None, 7_001])
def test_tall_columns_of_other_ids_are_not_named(height, tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "customer_id": [f"C{k:06d}" for k in rng.integers(0, 10**6, N_ROWS)],
            "order_id": [f"C{k:06d}" for k in rng.integers(0, 300, N_ROWS)],
            "key": [f"C{k:06d}" for k in range(N_ROWS)],
            "x": rng.normal(size=N_ROWS),
        }
    )
    table = table_of(frame) if height is None else in_parts(frame, tmp_path, monkeypatch, height)
    assert repeats(table) == {}
    assert repeats(table, "order_id") == {}


def test_a_declared_id_is_searched_before_others(monkeypatch):
    monkeypatch.setattr(gather, "MAX_IDS", 300)
    frame = with_repeats(range(1000, 1200), (3, 8)).with_columns(order_id=pl.col("key_no"))
    assert set(repeats(table_of(frame), "order_id")) == {"order_id"}
    monkeypatch.setattr(gather, "MAX_IDS", 199)
    assert repeats(table_of(frame), "order_id") == {}


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int128])
@pytest.mark.parametrize("height", [None, 70])
def test_ids_beyond_float64_are_compared_with_all_digits(dtype, height, tmp_path, monkeypatch):
    if height and dtype == pl.Int128:
        pytest.skip("parquet has no integers of 128 bits")
    # Half of the ids are below 2**53, from which on float64 rounds.
    frame = with_repeats([2**53 - 100 + k for k in range(200)], (150, 190), (20, 30))
    frame = frame.with_columns(pl.col("key_no").cast(dtype))
    table = table_of(frame) if height is None else in_parts(frame, tmp_path, monkeypatch, height)
    small, large = float(2**53 - 80), str(2**53 + 50)
    expected = {"key_no": ((20, 30, 150, 190), (small, small, large, large))}
    assert repeats(table, "key_no") == repeats(table) == expected


def test_neighbours_beyond_float64_are_no_repeated_ids():
    frame = with_repeats([10**17 + k for k in range(200)])
    assert repeats(table_of(frame), "key_no") == repeats(table_of(frame)) == {}


@pytest.mark.parametrize(
    "ids",
    {
        "dates": [date(2020, 1, 1) + timedelta(days=k) for k in range(200)],
        "durations": [timedelta(seconds=k) for k in range(200)],
        "floats": [k + 0.5 for k in range(200)],
        "whole floats": [float(k) for k in range(200)],
    }.values(),
)
def test_declared_ids_of_any_type_are_searched(ids):
    frame = with_repeats(ids, (3, 8))
    assert repeats(table_of(frame), "key_no")["key_no"][0] == (3, 8)
    assert repeats(table_of(frame.to_pandas()), "key_no")["key_no"][0] == (3, 8)
    # By their name alone, these are not taken for ids of the rows.
    assert repeats(table_of(frame)) == {}
    (check,) = odefs.detect(frame, id="key_no", random_state=0).checks
    assert check.kind == "repeated_id"
