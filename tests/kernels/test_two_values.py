"""Columns of two values are those with at most two different cells."""

import numpy as np
import pytest

from odefs.kernels.two_values import two_valued_columns


@pytest.mark.parametrize("n_rows", [1, 50, 300])
def test_at_most_two_values(n_rows):
    rng = np.random.default_rng(0)
    for _ in range(50):
        X = rng.choice([0.0, 1.0, 2.0, np.nan], size=(n_rows, 5), p=[0.5, 0.47, 0.01, 0.02])
        X[:, 4] = rng.choice([1.0, np.nan])
        expected = [np.unique(column[~np.isnan(column)]).size <= 2 for column in X.T]
        assert two_valued_columns(X).tolist() == expected


def test_ends_may_be_outside_of_a_sample():
    X = np.array([[0.0, 0.0, 1.0], [1.0, 0.5, 1.0]])
    assert two_valued_columns(X, np.zeros(3), np.ones(3)).tolist() == [True, False, True]
