"""Impossible values that the name of a column reveals: years, angles, the pH."""

from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest

from odefs.tables.checks import find_checks
from odefs.tables.checks.facts import name_words
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.learning import learn_encoder
from odefs.tables.table import table_of

TODAY = datetime(2026, 6, 1, tzinfo=UTC).timestamp()
ROW = 17


def found_in(name, cells):
    """Return the rows of each kind of check in a column with this name."""
    frame = pl.DataFrame({name: cells, "other": np.arange(len(cells)) % 7.0})
    table, encoder = table_of(frame), ColumnEncoder()
    learn_encoder(encoder, table, table.names, 0)
    checks = find_checks(table, encoder, table.names, today=TODAY)
    return {check.kind: check.rows for check in checks if check.column == name}


def with_cell(cells, value):
    cells = np.array(cells, dtype=float)
    cells[ROW] = value
    return cells


def years(n=400):
    return np.random.default_rng(0).integers(1900, 2021, n)


@pytest.mark.parametrize("name", ["pH", "soil pH", "Soil_pH", "pH_1", "PH", "soilPH"])
def test_the_ph_is_a_word(name):
    cells = np.random.default_rng(0).normal(7, 0.3, 300).round(2)
    assert found_in(name, with_cell(cells, 71.5)) == {"impossible_value": (ROW,)}
    assert found_in(name, cells) == {}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("phoneHome", ["phone", "home"]),
        ("graphSize", ["graph", "size"]),
        ("pHeight", ["p", "height"]),
    ],
)
def test_names_that_merely_contain_the_ph(name, words):
    assert name_words(name) == words


@pytest.mark.parametrize(
    "name", ["Year.Built", "Garage.Yr.Blt", "yr_built", "pub_year", "birthyear"]
)
@pytest.mark.parametrize("value", [2028, 2207, 20_040])
def test_years_in_the_future(name, value):
    assert found_in(name, with_cell(years(), value)) == {"future_date": (ROW,)}


@pytest.mark.parametrize("name", ["year", "yr_renovated"])
def test_numbers_before_all_years(name):
    cells = years()
    # A house that was never renovated.
    cells[100:300] = 0
    assert found_in(name, with_cell(cells, 197.8)) == {"impossible_value": (ROW,)}
    assert found_in(name, with_cell(cells, -1961)) == {"impossible_value": (ROW,)}


def test_models_are_named_after_the_next_year():
    assert found_in("year", with_cell(years(), 2027)) == {}


def test_many_numbers_before_all_years():
    """More of them than the lowest values that are kept."""
    cells = np.repeat(np.arange(1950.0, 2020), 143)
    cells[:80] = np.arange(80) % 90 + 10
    assert set(found_in("year_built", cells)) == {"impossible_value"}


def test_a_bearing_may_be_a_part_of_a_machine():
    cells = np.random.default_rng(0).normal(180, 30, 1000)
    cells[:2] = 365, 372
    assert "impossible_value" not in found_in("bearing_temp", cells)
    assert "impossible_value" in found_in("bearing", cells)


def test_forecasts_and_plans_are_in_the_future():
    assert found_in("year", np.repeat(np.arange(1950.0, 2101), 4)) == {}
    assert found_in("year", np.repeat(np.arange(2000.0, 2031), 4)) == {}
    assert "future_date" not in found_in("expiry_year", with_cell(years(), 2060))


def test_tables_of_history_have_years_of_all_sizes():
    cells = np.concatenate([np.arange(1000, 2020), [79, 235, 395, 685]]).astype(float)
    assert found_in("eruption_year", cells) == {}


@pytest.mark.parametrize("name", ["mm_per_year", "years_of_records", "yearly_income"])
def test_amounts_are_no_years(name):
    cells = np.random.default_rng(0).normal(1500, 120, 400).round()
    kinds = found_in(name, with_cell(cells, 2100))
    assert "future_date" not in kinds
    assert "impossible_value" not in kinds


@pytest.mark.parametrize("name", ["wind_dir", "Direction", "bearing", "heading (deg)", "azimuth"])
def test_angles_end_at_a_full_circle(name):
    cells = np.random.default_rng(0).integers(0, 37, 500) * 10.0
    assert found_in(name, with_cell(cells, 720)) == {"impossible_value": (ROW,)}
    assert found_in(name, with_cell(cells, -20)) == {"impossible_value": (ROW,)}
    assert found_in(name, cells) == {}


def test_angles_may_count_from_minus_180():
    cells = np.abs(np.random.default_rng(0).normal(0, 40, 500)).round()
    assert "impossible_value" not in found_in("heading", with_cell(cells, -170))
