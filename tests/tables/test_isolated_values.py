"""Isolated values: the gap to the next one exceeds the range of all others, and is no chance."""

import numpy as np
import pytest

from odefs.tables.checks.gather import KEPT
from odefs.tables.checks.isolation import FEWEST, MOST, isolated_values

TAILS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "power": lambda rng, n: rng.pareto(1, n) + 1,
    "light power": lambda rng, n: rng.pareto(2, n) + 1,
    "small gamma": lambda rng, n: rng.gamma(0.3, size=n),
    "counts": lambda rng, n: rng.geometric(0.2, n).astype(float),
}


def isolated(values):
    values = np.sort(values)
    return isolated_values(values[:KEPT], values[::-1][:KEPT], values, values.size)


def rooms(n=5000):
    """Return numbers of rooms, skewed to the right."""
    return np.minimum(np.random.default_rng(0).poisson(2.2, n) + 1.0, 9)


def prices(n=2000):
    return np.random.default_rng(0).gamma(8, 2, n).round(2) + 9


@pytest.mark.parametrize("kind", TAILS)
@pytest.mark.parametrize("n", [FEWEST, 100, 1000])
def test_hardly_any_tail_has_isolated_values(kind, n):
    rng = np.random.default_rng(n)
    assert sum(any(isolated(TAILS[kind](rng, n))) for _ in range(300)) <= 3


def test_values_beyond_twice_the_range():
    assert isolated(rooms()) == (0, 0)
    assert isolated([*rooms(), 33]) == (0, 1)
    assert isolated([*rooms(), 33, 34]) == (0, 2)
    assert isolated(-np.array([*rooms(), 33])) == (1, 0)


def test_a_group_of_values_is_not_isolated():
    assert isolated([*rooms(), *[33.0] * (MOST + 1)]) == (0, 0)


def test_low_values_are_compared_by_logarithms():
    cells = prices()
    assert isolated([*cells, 0.5]) == (1, 0)
    # As far below the others by the difference, but not by the quotient.
    assert isolated([*(cells + 100), 100.5]) == (0, 0)


def test_both_ends():
    assert isolated([*prices(), 0.5, 900.0]) == (1, 1)


def test_units_do_not_matter():
    for factor in (1e-9, 1e9):
        assert isolated(factor * np.array([*prices(), 0.5, 900.0])) == (1, 1)
