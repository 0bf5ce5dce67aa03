"""Encoder of a table larger than its sample: units, ranges and counts are those of all rows."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import odefs
from odefs.tables import table as tables
from odefs.tables.detect import detect_table
from odefs.tables.encoder import learning
from odefs.tables.encoder.distinct_values import DistinctValues
from odefs.tables.encoder.statistics import Spread
from odefs.tables.table import ParquetTable

N = 4000
ODD = 3333
"""A row that is not in the sample, and stands out in every column."""


def with_comma(values):
    return [f"{value:.2f}".replace(".", ",") for value in values]


def table_of_all_kinds():
    rng = np.random.default_rng(0)
    amount, price = rng.normal(50, 10, N).round(2), rng.lognormal(3, 1, N).round(2)
    amount[ODD] = 1e6
    # As text it is neither the first nor the last: 3 stands before 9.
    price[ODD] = 3e6
    days = rng.integers(1, 28, N)
    hole = rng.random(N) < 0.05
    years = np.where(np.arange(N) == ODD, 2924, 2024)
    seconds = rng.integers(0, 10**7, N) * 1000
    return pl.DataFrame(
        {
            "amount": amount,
            "price": with_comma(price),
            "weight": [f"{value:.1f} kg" for value in np.where(amount > 99, 7e4, amount)],
            "date": [f"{day:02d}.06.{year}" for day, year in zip(days, years, strict=True)],
            "when": pl.Series(1_700_000_000_000 + seconds).cast(pl.Datetime("ms")),
            "account_id": rng.choice([101, 102, 103], N),
            "shop": [
                "zoo" if i == ODD else name for i, name in enumerate(rng.choice(["a", "b"], N))
            ],
            "flag": rng.random(N) < 0.1,
            "x": pl.Series(rng.normal(size=N)).set(pl.Series(hole), None),
        }
    )


@pytest.fixture(params=["in memory", "in parts"])
def table(request, tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "SAMPLE_ROWS", 500)
    monkeypatch.setattr(tables, "rows_at_once", lambda n_columns: 257)
    assert ODD not in np.random.default_rng([0, 7]).choice(N, size=500, replace=False)
    table_of_all_kinds().write_parquet(tmp_path / "t.parquet", row_group_size=700)
    found = ParquetTable((tmp_path / "t.parquet",))
    return found.load() if request.param == "in memory" else found


@pytest.mark.parametrize("mark_missing", [False, True])
def test_all_but_median_tails_and_distribution_is_as_of_all_rows(table, mark_missing):
    exact = odefs.TableEncoder(mark_missing=mark_missing).fit(table_of_all_kinds())
    learned = odefs.TableEncoder(mark_missing=mark_missing)
    learning.learn_encoder(learned, table, table.names, seed=0)
    assert learned.left_out_ == exact.left_out_
    assert {spec.name: spec.style for spec in exact.specs_ if spec.style} == {
        "price": "numbers with decimal comma",
        "weight": "numbers (kg)",
        "date": "day-first dates",
    }
    assert {spec.kind for spec in exact.specs_} == {"number", "time", "category", "boolean"}
    for one, other in zip(learned.specs_, exact.specs_, strict=True):
        changed = {"fill": 0.0, "sigma": 0.0, "units": (), "cuts": (), "below": ()}
        assert replace(one, **changed) == replace(other, **changed)
        # The units are those of values whose tails are drawn in.
        rtol = 0.1 if one.sigma else 1e-12
        np.testing.assert_allclose(one.units, other.units, rtol=rtol, err_msg=one.name)


@pytest.mark.parametrize("left_out", [[], ["x"]], ids=["medians for missing cells", "none missing"])
def test_outliers_are_those_of_an_encoder_that_saw_all_rows(table, left_out, monkeypatch):
    sample = learning.SAMPLE_ROWS
    monkeypatch.setattr(learning, "SAMPLE_ROWS", N)
    here = odefs.detect(table_of_all_kinds().drop(left_out))
    monkeypatch.setattr(learning, "SAMPLE_ROWS", sample)
    there = detect_table(table, clone(here.model), odefs.TableEncoder(), ignore=left_out, top=5)
    assert here.order[0] == ODD
    # Median and tails come from a sample of 500 rows.
    assert np.corrcoef(there.extent.scores, here.scores)[0, 1] > 0.98
    assert np.mean(there.extent.is_outlier == here.is_outlier) > 0.98
    first = int(there.order[0])
    assert there.extent.numbers[first] == ODD
    assert [r.column for r in there.reasons([first])[0]] == [
        r.column for r in here.reasons([ODD])[0]
    ]
    again = clone(here.model).fit(there.encoder.transform(table_of_all_kinds()))
    np.testing.assert_allclose(there.extent.scores, again.outlier_scores_, rtol=1e-6)


@pytest.mark.parametrize("heights", [(4000,), (1, 1333, 2666), (700, 700, 2600)], ids=str)
@pytest.mark.parametrize("mark_missing", [False, True])
def test_memory_and_parts_agree_to_the_bit(heights, mark_missing, tmp_path, monkeypatch):
    """However rows are spread over files, row groups and batches."""
    monkeypatch.setattr(learning, "SAMPLE_ROWS", 500)
    monkeypatch.setattr(learning, "rows_at_once", lambda n_columns: 1000)
    frame, files = table_of_all_kinds(), []
    for start, height in zip(np.cumsum((0, *heights)), heights, strict=False):
        files.append(tmp_path / f"{len(files)}.parquet")
        frame.slice(start, height).write_parquet(files[-1], row_group_size=177)
    found = []
    for batch, in_memory in ((4000, True), (4000, False), (101, False)):
        monkeypatch.setattr(tables, "rows_at_once", lambda n_columns, batch=batch: batch)
        table = ParquetTable(tuple(files))
        encoder = odefs.TableEncoder(mark_missing=mark_missing, category=["account_id"])
        model = odefs.ODEFS(random_state=0, n_estimators=3, scaling="none")
        found.append(detect_table(table.load() if in_memory else table, model, encoder))
    found.append(
        odefs.detect(
            frame, model=found[0].model, mark_missing=mark_missing, category=["account_id"]
        )
    )
    here = found[0]
    assert here.part is None
    for other in found[1:]:
        assert other.encoder.specs_ == here.encoder.specs_
        assert other.encoder.left_out_ == here.encoder.left_out_
        assert other.notes == here.notes
        assert np.array_equal(other.extent.scores, here.scores)
        assert np.array_equal(other.extent.agreement, here.agreement)
        assert np.array_equal(other.extent.is_outlier, here.is_outlier)
        assert other.threshold == here.threshold


def test_more_categories_than_are_counted_are_judged_by_the_sample(table, monkeypatch):
    units = []
    for many in (2, 20):
        monkeypatch.setattr(learning, "MAX_COUNTED_VALUES", many)
        learned = odefs.TableEncoder()
        learning.learn_encoder(learned, table, table.names, seed=0)
        spec = next(spec for spec in learned.specs_ if spec.name == "shop")
        assert spec.levels == ("a", "b", "zoo"), "the row with the last value is in the sample"
        units.append(spec.units[2])
    # One in 500 rows is less odd than one in 4,000.
    assert units[0] < units[1]


@pytest.mark.parametrize("in_memory", [True, False])
def test_text_that_is_categories_counts_as_it_stands(in_memory, tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "SAMPLE_ROWS", 500)
    rng = np.random.default_rng(0)
    days = [f"2024-01-{day:02d}" for day in rng.integers(1, 6, N)]
    # Neither the first nor the last, and the same day as another text.
    days[ODD] = "2024-01-02 00:00:00"
    frame = pl.DataFrame({"day": days, "x": rng.normal(size=N)})
    frame.write_parquet(tmp_path / "t.parquet")
    exact = odefs.TableEncoder(category=["day"]).fit(frame)
    learned = odefs.TableEncoder(category=["day"])
    table = ParquetTable((tmp_path / "t.parquet",))
    learning.learn_encoder(learned, table.load() if in_memory else table, ["day", "x"], seed=0)
    assert learned.specs_[0] == exact.specs_[0]
    assert days[ODD] in exact.specs_[0].levels


@pytest.mark.parametrize("in_memory", [True, False])
def test_identifiers_are_those_of_the_whole_table(in_memory, tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "SAMPLE_ROWS", 500)
    monkeypatch.setattr(tables, "rows_at_once", lambda n_columns: 257)
    rng = np.random.default_rng(0)
    half, most = rng.permutation(N) // 2 + 10_000, rng.permutation(N) * 7
    fifth = rng.permutation(N) // 5 + 10_000
    most[:200] = most[200:400]
    large = most + 2**60
    columns = {
        "customer_id": fifth,
        "as_text_id": [f"{one:,}" for one in fifth],
        "numbered_id": [f"2015-{one}" for one in fifth],
        "shared_id": half,
        "shared_text_id": [f"{one:,}" for one in half],
        "shared_numbered_id": [f"2015-{one}" for one in half],
        "shared_by_three_id": [f"2015-{one}" for one in rng.permutation(N) // 3],
        "order_id": most,
        "or_missing_id": pl.Series(most).set(pl.Series(rng.random(N) < 0.4), None),
        "or_word_id": np.where(rng.random(N) < 0.4, "unknown", [f"{one:,}" for one in most]),
        "large": large,
        "large_id": large // 1000 * 1000 + half % 1000,
        "x": rng.normal(size=N),
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    table = ParquetTable((tmp_path / "t.parquet",))
    learned = odefs.TableEncoder(na=["unknown"])
    learning.learn_encoder(learned, table.load() if in_memory else table, table.names, seed=0)
    assert learned.columns == ["customer_id", "as_text_id", "numbered_id", "x"]
    exact = odefs.TableEncoder(na=["unknown"]).fit(pl.DataFrame(columns))
    assert learned.left_out_ == exact.left_out_


@pytest.mark.parametrize("n_sampled", [500, N - 9])
@pytest.mark.parametrize("in_memory", [True, False])
def test_serial_numbers_are_those_of_the_whole_table(n_sampled, in_memory, tmp_path, monkeypatch):
    """A sample of nearly all rows misses some of those that are out of order."""
    monkeypatch.setattr(learning, "SAMPLE_ROWS", n_sampled)
    monkeypatch.setattr(tables, "rows_at_once", lambda n_columns: 257)
    rng = np.random.default_rng(0)
    seen = np.random.default_rng([0, 7]).choice(N, size=N - 9, replace=False)
    unseen = np.setdiff1d(np.arange(1, N - 1), seen)
    serial, repeats = np.arange(N) + 5000, np.arange(N) + 5000
    repeats[np.union1d(unseen, seen[(seen > 0) & (seen < N - 1)][: 81 - unseen.size])] = 5000
    columns = {
        "tick": serial,
        "coded": np.where(serial % 100 == 7, 999_999, serial),
        "again": np.tile(serial[: N // 2], 2),
        "repeats": repeats,
        "x": rng.normal(size=N),
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    table = ParquetTable((tmp_path / "t.parquet",))
    learned = odefs.TableEncoder(na=["999999"])
    learning.learn_encoder(learned, table.load() if in_memory else table, table.names, seed=0)
    kinds = {name: why.kind for name, why in learned.left_out_.items()}
    assert kinds == dict.fromkeys(["tick", "coded"], "serial_numbers")
    assert learned.left_out_ == learned.fit(pl.DataFrame(columns)).left_out_


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 2000), st.integers(1, 7), st.integers(0, 100))
def test_distinct_values_do_not_depend_on_batches(n_values, repeats, seed):
    values = np.random.default_rng(seed).permutation(np.repeat(np.arange(n_values) - 7.0, repeats))
    whole, parts = DistinctValues(), DistinctValues()
    whole.add(values)
    for part in np.array_split(values, 5):
        parts.add(part)
    assert whole.count == parts.count == n_values


def test_many_distinct_values_are_estimated():
    values, counted = np.arange(300_000.0), DistinctValues()
    whole = DistinctValues()
    whole.add(values)
    for part in np.array_split(np.random.default_rng(0).permutation(np.tile(values, 2)), 7):
        counted.add(part)
    assert counted.count == whole.count == pytest.approx(values.size, rel=0.02)


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.floats(-1.7e308, 1.7e308), min_size=1, max_size=30),
    st.lists(st.integers(1, 29), max_size=4),
)
def test_the_spread_of_parts_is_that_of_the_whole(values, cuts):
    whole, total = Spread.of(np.array(values)), Spread()
    for part in np.split(np.array(values), sorted(cuts)):
        total = total.merge(Spread.of(part))
    assert (total.n, total.low, total.high) == (whole.n, whole.low, whole.high)
    assert np.isfinite(total.unit)
    assert total.unit == pytest.approx(whole.unit, rel=1e-9, abs=0)


@pytest.mark.parametrize("middle", [0.0, 1e15, 2.0**52, -(2.0**53)])
def test_the_spread_keeps_its_digits_far_from_zero(middle):
    values = middle + np.random.default_rng(0).integers(0, 50, 5000) * 2.0
    total = Spread()
    for part in np.array_split(values, 1000):
        total = total.merge(Spread.of(part))
    assert total.unit == pytest.approx(Spread.of(values).unit, rel=1e-12)


def test_a_unit_is_the_root_of_half_the_range_times_the_standard_deviation():
    values = np.random.default_rng(0).normal(1e6, 1, 1000)
    assert Spread.of(values).unit == pytest.approx(
        np.sqrt(np.ptp(values) / 2 * values.std()), rel=1e-9
    )
    assert Spread.of(np.full(3, 7.0)).unit == Spread().unit == 1.0
