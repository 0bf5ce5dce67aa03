"""Values far from all others: also in small, skewed and heavy-tailed columns, which are quiet."""

import numpy as np
import polars as pl
import pytest

from odefs.tables.checks import find_checks
from odefs.tables.checks.extreme_values import SMALL, _far_alone
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.learning import learn_encoder
from odefs.tables.table import table_of


def far_values(cells):
    """Return the rows of extreme values by column."""
    table, encoder = table_of(pl.DataFrame(cells)), ColumnEncoder()
    learn_encoder(encoder, table, table.names, 0)
    checks = find_checks(table, encoder, table.names)
    return {check.column: check.rows for check in checks if check.kind == "extreme_value"}


COLUMNS = {
    "normal": lambda rng, n: rng.normal(100, 10, n),
    "waves": lambda rng, n: np.round(np.exp(rng.uniform(3, 8, n) ** 0.98)),
    "skewed": lambda rng, n: rng.lognormal(3, 2, n),
    "very skewed": lambda rng, n: rng.lognormal(3, 4, n),
    "power": lambda rng, n: rng.pareto(1.2, n),
    "orders of magnitude": lambda rng, n: 10 ** rng.uniform(0, 6, n),
    "counts": lambda rng, n: rng.geometric(0.02, n).astype(float),
}


@pytest.mark.parametrize("n", [25, 80, 300])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_value_thousands_of_times_larger_is_named(kind, sign, n):
    values = COLUMNS[kind](np.random.default_rng(n), n)
    values[7] = 3000 * values.max()
    assert far_values({"x": sign * values, "y": np.arange(n) % 7.0}) == {"x": (7,)}


@pytest.mark.parametrize("n", [40, 60, 81, 150])
@pytest.mark.parametrize("value", [50.0, -50.0])
def test_a_single_far_value_in_a_small_table_is_named(value, n):
    cells = np.random.default_rng(1).normal(size=(20, n))
    cells[:, 3] = value
    found = far_values({f"x{k}": column for k, column in enumerate(cells)})
    assert len(found) >= 16
    assert set(found.values()) == {(3,)}


@pytest.mark.parametrize("kind", ["cauchy", "lognormal"])
def test_single_values_of_heavy_tails_are_not_compared_with_the_others_alone(kind):
    rng = np.random.default_rng(6)
    drawn = {"cauchy": rng.standard_cauchy, "lognormal": lambda n: rng.lognormal(0, 1, n)}[kind]
    columns = [np.sort(drawn(int(n))) for n in rng.integers(20, SMALL, 500)]
    assert sum(any(_far_alone(column)) for column in columns) <= 5


def test_a_total_below_a_series_that_rises_by_orders_of_magnitude_is_named():
    # Most logarithms lie far below the highest ones: their deviation does not describe the top.
    days = np.arange(478)
    cases = np.round(20 + 2800 * np.abs(np.sin(days / 60)) ** 3)
    for total in (3_815_777.0, 4e13):
        rows = [*cases, total]
        assert far_values({"cases": rows, "day": np.arange(479) % 7.0}) == {"cases": (478,)}


@pytest.mark.parametrize("n", [25, 80, 300])
@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_without_errors_are_quiet(kind, n):
    rng = np.random.default_rng(n)
    found = far_values({f"x{k}": COLUMNS[kind](rng, n) for k in range(60)})
    assert len(found) <= (3 if kind in ("very skewed", "power") else 1)


def test_rounding_errors_of_equal_values_are_no_gap():
    values = [0.3] * 190 + [0.1 + 0.2] * 8 + [0.31, 0.32]
    assert far_values({"x": values, "y": np.arange(200) % 7.0}) == {}


@pytest.mark.parametrize("huge", [1e100, 1e300, 1.7e308])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("infinite", [np.nan, np.inf])
def test_numbers_near_the_largest_float_are_named(huge, sign, infinite):
    cells = np.random.default_rng(0).normal(50, 3, (2, 200))
    cells[0, 7], cells[1, 9], cells[0, 11] = huge, infinite, infinite
    found = far_values({"x": sign * cells[0], "y": cells[1]})
    assert found == {"x": (7,)}
    cells[0, :20], cells[0, 20:40] = 1e308, -1e308
    assert far_values({"x": cells[0], "y": cells[1]}) == {}
