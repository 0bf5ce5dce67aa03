"""Ranks, counts, percentiles and metrics over numbers in files, as by NumPy and scikit-learn."""

import tracemalloc

import numpy as np
import polars as pl
import pytest

from odefs.engines.out_of_core import Folder
from odefs.exceptions import TableError
from odefs.experiments.run import evaluate
from odefs.kernels import row_reductions
from odefs.system.tempfiles import FileArray
from odefs.tables import known_cases as labels
from odefs.tables.flagging import flag_rows
from odefs.tables.known_cases import known_cases, known_rows
from odefs.tables.records.notes import FlagConvention
from odefs.tables.table import ParquetTable

KINDS = ("different", "tied", "equal", "one frequent")


def numbers(kind, n, rng):
    values = rng.random(n)
    if kind == "tied":
        return np.round(values, 1)
    if kind == "equal":
        return np.ones(n)
    return np.where(rng.random(n) < 0.9, 1.0, values) if kind == "one frequent" else values


def in_file(values):
    out = Folder().array(values.shape, values.dtype)
    out[:] = values
    return out


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch):
    monkeypatch.setattr(row_reductions, "CHUNK_ROWS", 50)
    monkeypatch.setattr(row_reductions, "PER_RANGE", 40)
    monkeypatch.setattr(row_reductions, "SAMPLED", 8)
    monkeypatch.setattr(labels, "CHUNK", 11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 50, 51, 1234])
def test_ranks_and_counts(kind, n):
    rng = np.random.default_rng(n)
    values = numbers(kind, n, rng)
    expected = np.searchsorted(np.sort(-values), -values) + 1
    assert np.array_equal(row_reductions.descending_ranks(values), expected)
    assert np.array_equal(
        row_reductions.fill_ranks(in_file(values), np.empty(n, dtype=np.int64)), expected
    )
    limits = np.concatenate([values[:5], [0.5, 0.5, -1.0, 2.0]])
    above = [(values > limit).sum() for limit in limits]
    assert np.array_equal(row_reductions.counts_above(in_file(values), limits), above)
    assert row_reductions.median(in_file(values)) == np.median(values)
    for q in (0, 3.7, 50, 99, 100):
        assert row_reductions.percentile(in_file(values), q) == np.percentile(values, q)


@pytest.mark.parametrize("kind", KINDS)
def test_measures(kind):
    rng = np.random.default_rng(1)
    scores = numbers(kind, 400, rng)
    y = (rng.random(400) < 0.3).astype(np.uint8)
    expected = evaluate(y, scores)
    assert labels.evaluate(in_file(y), in_file(scores)) == pytest.approx(expected)
    rows = np.array([399, 0, 57, 57])
    rest = labels.without_rows(in_file(y), in_file(scores), rows)
    assert np.array_equal(rest[0], np.delete(y, rows))
    assert np.array_equal(rest[1], np.delete(scores, rows))


@pytest.mark.parametrize("asked", [{"contamination": 0.07}, {"threshold": 0.8}, {"flag": 13}, {}])
@pytest.mark.parametrize("kind", KINDS)
def test_flags(asked, kind):
    scores = numbers(kind, 321, np.random.default_rng(2))
    here, there = (
        flag_rows(values, 0.6, FlagConvention("auto", rate=2.0), **asked)
        for values in (scores, in_file(scores))
    )
    assert isinstance(there.is_outlier, FileArray)
    assert np.array_equal(here.is_outlier, there.is_outlier)
    assert (here.threshold, here.convention) == (there.threshold, there.convention)
    assert np.array_equal(here.is_outlier, scores > here.threshold)


def test_known_rows():
    outliers, normal = known_rows(iter([None, 1, "0", "yes", float("nan"), False]), "told")
    assert (outliers.tolist(), normal.tolist()) == ([1, 3], [2, 5])
    with pytest.raises(TableError, match="'maybe' in row 2"):
        known_rows(iter([1, "maybe"]), "told")


def test_known_rows_of_a_large_table(tmp_path):
    """All rows may be known: their numbers are kept as such, 8 bytes each, and not as objects."""
    cells = np.arange(400_000) % 5 == 2
    files = tuple(tmp_path / f"{name}.parquet" for name in "ab")
    for file, part in zip(files, np.split(cells, [150_001]), strict=True):
        pl.DataFrame({"told": part}).write_parquet(file)
    table = ParquetTable(files)
    assert table.n_rows == cells.size
    tracemalloc.start()
    cases, said = known_cases(table, "told")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.array_equal(cases["known_outliers"], np.flatnonzero(cells))
    assert np.array_equal(cases["known_normal"], np.flatnonzero(~cells))
    assert (said.kind, said.column, said.count, said.n_normal) == (
        "known_cases",
        "told",
        80_000,
        320_000,
    )
    assert peak < 24 * cells.size
    pl.DataFrame({"told": ["1", None, "maybe"]}).write_parquet(files[1])
    pl.DataFrame({"told": ["0"] * 70_000}).write_parquet(files[0])
    with pytest.raises(TableError, match="'maybe' in row 70003"):
        known_cases(ParquetTable(files), "told")
    pl.DataFrame({"told": pl.Series([], dtype=pl.String)}).write_parquet(files[0])
    nobody, _ = known_cases(ParquetTable(files[:1]), "told")
    assert [rows.tolist() for rows in nobody.values()] == [[], []]
