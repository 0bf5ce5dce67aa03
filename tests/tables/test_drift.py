"""Drift of distributions and of the share of flagged rows: found where it is, not by chance."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import odefs
from odefs.tables import drift, messages
from odefs.tables.detect import score_table
from odefs.tables.drift import DriftCounts, flags_many_more
from odefs.tables.encoder.distribution import counts_below, cut_points
from odefs.tables.encoder.statistics import learn_spec
from odefs.tables.frames.columns import DURATION
from odefs.tables.frames.convert import columns_of
from odefs.tables.records.drift import ColumnDrift
from odefs.tables.results.displayed_rows import shown_drift
from odefs.tables.table import table_of

SIZES = (1, 5, 60, 1000, 20_000)


def sample(n_rows, rng):
    """Columns with and without ties, with heavy tails, of whole numbers and of booleans."""
    return pl.DataFrame(
        {
            "normal": rng.normal(size=n_rows),
            "whole": rng.poisson(2, n_rows),
            "tied": rng.choice([0, 0, 0, 0, 1.5, 7], n_rows),
            "rounded": rng.exponential(5, n_rows).round(1),
            "heavy": rng.standard_t(1.5, n_rows),
            "constant": np.where(rng.random(n_rows) < 0.01, 3.0, 4.0),
            "yes": rng.random(n_rows) < 0.1,
        }
    )


def shifts(training, *batches):
    """Entries of drift for columns whose distribution has shifted."""
    specs = [learn_spec(column, "", 50, False) for column in columns_of(training)]
    counts = [DriftCounts() for _ in specs]
    for batch in batches:
        for count, spec, column in zip(counts, specs, columns_of(batch), strict=True):
            count.add(spec, column)
    found = [count.drift(spec) for count, spec in zip(counts, specs, strict=True)]
    return {entry.column: entry for entry in found if entry.shift}


@pytest.mark.parametrize("n_training", [30, 400, 5000])
def test_a_fresh_sample_of_the_training_distribution_has_not_shifted(n_training):
    for seed in range(20):
        rng = np.random.default_rng([seed, n_training])
        training = sample(n_training, rng)
        for n_rows in SIZES:
            assert not shifts(training, sample(n_rows, rng)), (seed, n_rows)


def test_the_bound_on_chance_is_that_of_two_samples(monkeypatch):
    """With a chance of 5 %, at most 5 % of the columns are reported, and not hardly any."""
    monkeypatch.setattr(drift, "FALSE_ALARM", 0.05)
    monkeypatch.setattr(drift, "NOTABLE_SHIFT", 0.0)
    rng = np.random.default_rng(0)
    found = [
        len(shifts(*(pl.DataFrame({"x": rng.normal(size=300)}) for _ in range(2))))
        for _ in range(1000)
    ]
    assert 0.005 < np.mean(found) <= 0.05


@pytest.mark.parametrize("extreme", [0.0, 1e6])
def test_a_shift_is_found_whatever_the_range(extreme):
    rng = np.random.default_rng(1)
    price = rng.lognormal(3, 0.3, 400)
    price[7] += extreme
    training = pl.DataFrame({"price": price, "same": rng.normal(size=400)})
    other = pl.DataFrame({"price": 3 * price[100:160], "same": rng.normal(size=60)})
    found = shifts(training, other)["price"]
    above = pl.col("price") > found.cut
    assert found.above_now == other.select(above.mean()).item()
    assert found.above_before == pytest.approx(training.select(above.mean()).item())
    assert found.shift == pytest.approx(found.above_now - found.above_before)
    assert "same" not in shifts(training, other)


def test_a_small_difference_of_many_rows_is_not_reported():
    rng = np.random.default_rng(2)
    training, other = (pl.DataFrame({"x": rng.normal(k * 0.1, 1, 50_000)}) for k in (0, 1))
    assert not shifts(training, other)


def test_batches_add_up():
    rng = np.random.default_rng(3)
    training, other = sample(500, rng), sample(700, rng).with_columns(pl.col("normal") + 1)
    whole = shifts(training, other)
    assert list(whole) == ["normal"]
    assert shifts(training, other[:1], other[1:333], other[333:]) == whole


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0], [-1e308, 1e308], [0.1, 0.2, 0.30000000004]])
def test_cut_points_lie_between_values(values):
    known = np.array(values)
    cuts = cut_points(known)
    assert np.isfinite(cuts).all()
    assert not set(cuts) & set(values)
    assert len(cuts) == len(set(values)) - 1
    assert counts_below(cuts, known).tolist() == [*range(1, len(cuts) + 1), len(values)]


@pytest.mark.parametrize(
    ("cell", "unit", "shown"), [("{} kg", "kg", "9.5 kg"), ("{}%", "%", "9.5%"), ("{}", "", "9.5")]
)
def test_the_cut_is_shown_in_the_unit_of_the_cells(cell, unit, shown):
    def texts(first):
        return pl.DataFrame({"a": [cell.format(first + row % 20) for row in range(400)]})

    found = odefs.detect(texts(0), model=odefs.LeSiNN(scaling="none", random_state=0))
    _, (entry,) = score_table(table_of(texts(10)), found.model, found.encoder)
    assert entry.unit == unit
    (listed,) = drift.as_plain([entry])
    assert listed.get("unit", "") == unit
    assert ("unit" in listed) == bool(unit)
    assert f"100.00% of the values above {shown}, 50.00% in training" in messages.drift(entry)
    hidden = SimpleNamespace(hidden=frozenset("a"))
    assert shown_drift(hidden, [entry])[0].unit == ""


def test_missing_values_are_no_shift():
    training = pl.DataFrame({"x": np.arange(100.0)})
    gone = pl.DataFrame({"x": pl.Series([None] * 50, dtype=pl.Float64)})
    assert not shifts(training, gone)


@pytest.mark.parametrize(
    ("n_flagged", "n_rows", "before", "n_before", "expected"),
    [
        (58, 61, 0.02, 400, True),
        (0, 61, 0.02, 400, False),
        (3, 61, 0.02, 400, False),
        (1, 1, 0.0, 400, False),
        (6, 6, 0.0, 400, True),
        (2, 5, 0.0, 30, False),
        (1_500, 100_000, 0.01, 100_000, False),
        (2_500, 100_000, 0.01, 100_000, True),
        (0, 0, 0.0, 0, False),
        (5, 5, 1.0, 5, False),
    ],
)
def test_far_more_flagged_rows(n_flagged, n_rows, before, n_before, expected):
    assert flags_many_more(n_flagged, n_rows, before, n_before) is expected


def test_flags_of_fresh_samples_are_not_far_more():
    """Scores of other rows are a little higher than those of training rows."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n_training = 200
        found = odefs.detect(sample(n_training, rng), random_state=0)
        before = float(found.is_outlier.mean())
        for n_rows in SIZES[:-1]:
            other = table_of(sample(n_rows, rng))
            scored, _ = score_table(other, found.model, found.encoder)
            assert not flags_many_more(scored.n_flagged, n_rows, before, n_training)


def test_the_largest_difference_includes_the_shift():
    entry = ColumnDrift("a", 0.0, [], 0.0, 0.0, 0.0, shift=0.3)
    assert entry.largest == 0.3
    assert entry.is_notable


def test_the_cut_of_durations_is_one():
    seconds = np.random.default_rng(0).normal(5000, 300, 300)
    training, later = (
        pl.DataFrame({"took": (s * 1e6).astype("timedelta64[us]")})
        for s in (seconds, seconds + 900)
    )
    entry = shifts(training, later[:100], later[100:])["took"]
    assert entry.unit == DURATION
    assert (
        shifts(
            later.select(pl.col("took").dt.total_seconds()),
            training.select(pl.col("took").dt.total_seconds()),
        )["took"].unit
        == ""
    )
