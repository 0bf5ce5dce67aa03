"""Only RegFS grows with the square of the columns, and none with that of the rows.

Measured by peak memory, not time: it bounds the largest array, and would show a table of all pairs
of rows or columns.
"""

import tracemalloc

import numpy as np
import pytest

from odefs.baselines import CINFO, DisFS, RandFS, RegFS

LINEAR = 2.8
"""Growth by doubling: 2 with some play, against 4 of a square."""

# Small limits, so that twice the rows are twice the rows of the table and not of a sample that is
# still growing.
CAPPED = {
    RandFS: {},
    RegFS: {"max_rows": 500},
    DisFS: {"max_rows": 500, "max_candidates": 100},
    CINFO: {"max_candidates": 100},
}


def peak(model, n_rows, n_columns):
    """The most bytes that fitting holds at one time, without the table itself."""
    X = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    X[: n_rows // 50, :2] += 6
    tracemalloc.start()
    try:
        model.set_params(random_state=0, n_jobs=1, n_subsets=10, subset_size=4).fit(X)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("make", CAPPED)
def test_twice_the_rows_need_no_more_than_twice_the_memory(make):
    model = make(**CAPPED[make])
    peak(model, 500, 6)
    assert peak(model, 40_000, 6) < LINEAR * peak(model, 20_000, 6)


@pytest.mark.parametrize("make", [RandFS, DisFS, CINFO])
def test_twice_the_columns_need_no_more_than_twice_the_memory(make):
    model = make()
    peak(model, 150, 50)
    assert peak(model, 150, 2000) < LINEAR * peak(model, 150, 1000)


@pytest.mark.slow
def test_a_square_would_show():
    """RegFS inverts a matrix of columns by columns; DisFS without limits compares all rows."""
    model = RegFS()
    assert peak(model, 150, 2000) > LINEAR * peak(model, 150, 1000)
    model = DisFS(max_rows=10**6, max_candidates=10**6, candidate_threshold=0.0)
    assert peak(model, 2400, 4) > LINEAR * peak(model, 1200, 4)


@pytest.mark.parametrize("make", [RegFS, DisFS, CINFO])
def test_limits_are_finite_by_default(make):
    assert all(
        value < 10**5 for name, value in make().get_params().items() if name.startswith("max_")
    )
