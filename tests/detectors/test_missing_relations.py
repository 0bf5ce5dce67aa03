"""Relations of columns with missing cells are learned from the cells that there are."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

import odefs
from odefs.detectors import missing_relations
from odefs.detectors.missing_relations import as_correlations, expected_precision
from odefs.detectors.relations import RelationsDetector

BROKEN = np.arange(2000) < 20


def totals(share, columns, seed=0):
    """A total of three columns that does not add up in twenty rows, and missing cells elsewhere."""
    rng = np.random.default_rng(seed)
    X = np.c_[rng.normal(50, 10, 2000), rng.normal(20, 5, 2000), rng.normal(30, 7, 2000)]
    X = np.c_[X, X.sum(axis=1)]
    X[BROKEN, 3] += 8 * rng.choice([-1, 1], 20)
    holes = rng.random((2000, 4)) < share
    holes[BROKEN] = holes[:, [k for k in range(4) if k not in columns]] = False
    X[holes] = np.nan
    return X


@pytest.mark.parametrize("columns", [[1], [0, 1, 2, 3]])
@pytest.mark.parametrize("share", [0.002, 0.05, 0.2])
def test_missing_cells_hide_no_total_that_does_not_add_up(share, columns):
    X = totals(share, columns)
    detector = RelationsDetector()
    scores = detector.score(X, detector.prepare(X, np.random.default_rng(0)))
    assert average_precision_score(BROKEN, np.nan_to_num(scores)) > 0.99


def test_such_rows_are_flagged_in_a_table():
    import pandas as pd

    found = odefs.detect(pd.DataFrame(totals(0.05, [1]), columns=["a", "b", "c", "total"]))
    assert average_precision_score(BROKEN, found.scores) > 0.99
    assert found.is_outlier[BROKEN].mean() > 0.9


def inverse(correlations, total):
    """Shrunk by the weight that takes part, as in the detector."""
    share = 1 / total
    return np.linalg.inv(correlations * (1 - share) + share * np.eye(len(correlations)))


def naive(z, missing, weights, n_steps):
    """The same, row by row from the definition."""
    found = as_correlations((z * weights[:, None]).T @ z)
    for _ in range(n_steps):
        P, moments = inverse(found, weights.sum()), np.zeros((z.shape[1],) * 2)
        for row, holes, weight in zip(z, missing, weights, strict=True):
            filled, covariance = row.copy(), np.zeros_like(moments)
            if holes.any():
                block = np.linalg.inv(P[np.ix_(holes, holes)])
                filled[holes] = -block @ (P @ row)[holes]
                covariance[np.ix_(holes, holes)] = block
            moments += weight * (np.outer(filled, filled) + covariance)
        found = as_correlations(moments)
    return inverse(found, weights.sum())


def example(n_rows=300, n_columns=5, share=0.3, seed=1):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n_rows, n_columns)) @ rng.normal(size=(n_columns, n_columns))
    missing = rng.random(z.shape) < share
    return np.where(missing, 0.0, z), missing, rng.random(n_rows)


@pytest.mark.parametrize("frequent", [0, 150, np.inf])
def test_rows_of_one_pattern_may_be_filled_together(frequent, monkeypatch):
    """All patterns, those of many rows, or none: the cells of a row stay the same."""
    z, missing, weights = example()
    expected = expected_precision(z, missing, weights, inverse)
    monkeypatch.setattr(missing_relations, "FREQUENT_CELLS", frequent)
    found = expected_precision(z, missing, weights, inverse)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_it_agrees_with_the_definition(monkeypatch):
    z, missing, weights = example()
    expected = naive(z, missing, weights, missing_relations.N_STEPS)
    found = expected_precision(z, missing, weights, inverse)
    assert np.allclose(found, expected, rtol=1e-7)
    monkeypatch.setattr(missing_relations, "MAX_GATHERED", 100)
    assert np.allclose(expected_precision(z, missing, weights, inverse), found, rtol=1e-9)


def test_the_most_frequent_patterns_take_part_if_there_are_too_many(monkeypatch):
    z, missing, weights = example(n_rows=400, share=0.2)
    _, pattern_of, counts = np.unique(missing, axis=0, return_inverse=True, return_counts=True)
    most = np.argsort(-counts)[:6]
    assert counts[most[-1]] > np.delete(counts, most).max()
    frequent = np.isin(pattern_of.ravel(), most)
    monkeypatch.setattr(missing_relations, "MAX_SOLVED", 6 * 5**3)
    found = expected_precision(z, missing, weights, inverse)
    expected = expected_precision(z[frequent], missing[frequent], weights[frequent], inverse)
    assert np.allclose(found, expected, rtol=1e-7)


@pytest.mark.parametrize(("n_frequent", "enough"), [(90, False), (120, True)])
def test_few_rows_are_not_taken_for_all(monkeypatch, n_frequent, enough):
    """Fewer than 20 for each column, and fewer than half of the rows."""
    z, missing, _ = example(n_rows=400, share=0.0)
    missing[n_frequent:] = np.arange(400 - n_frequent)[:, None] % 16 >> np.arange(5) & 1
    missing[n_frequent:, 4] = True
    monkeypatch.setattr(missing_relations, "MAX_SOLVED", 5**3)
    found = expected_precision(np.where(missing, 0.0, z), missing, np.ones(400), inverse)
    assert (found is not None) == enough


def test_a_row_is_not_far_because_its_cells_are_missing():
    """Many columns and patterns: the matrices of a few of them alone can be inverted."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 40)) @ rng.normal(size=(40, 40))
    X[:900][rng.random((900, 40)) < 0.1] = np.nan
    complete = ~np.isnan(X).any(axis=1)
    detector = RelationsDetector()
    scores = detector.score(X, detector.prepare(X, np.random.default_rng(0)))
    farthest = np.argsort(-scores)[:100]
    # As many as among all rows.
    assert abs(complete[farthest].mean() - complete.mean()) < 0.05


def test_constant_and_empty_columns_have_no_relation():
    X = totals(0.05, [1])
    X = np.c_[X, np.full(2000, 3.0), np.full(2000, np.nan)]
    X[5, 4] = np.nan
    detector = RelationsDetector()
    state = detector.prepare(X, np.random.default_rng(0))
    assert np.isfinite(state.precision).all()
    assert np.allclose(state.precision[4:, :4], 0, atol=1e-6)
    assert average_precision_score(BROKEN, detector.score(X, state)) > 0.99
