"""How well scores rank, how methods compare, and how rows are split for it."""

import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from experiment_records import fake_records
from odefs.experiments import run, summary, tables
from odefs.experiments.methods import TABLE2
from odefs.experiments.paper_numbers import TABLE2_AUC, TABLE2_P_AT_K, paper_number
from odefs.experiments.run import evaluate, precision_at_k


def test_precision_at_k_is_the_expectation_over_orders_of_ties():
    rng = np.random.default_rng(0)
    y = (rng.random(60) < 0.3).astype(int)
    scores = rng.integers(0, 4, 60).astype(float)
    k = y.sum()
    sampled = [y[np.lexsort((rng.random(60), -scores))[:k]].mean() for _ in range(4000)]
    assert precision_at_k(y, scores) == pytest.approx(np.mean(sampled), abs=0.01)
    assert precision_at_k(y, y.astype(float)) == 1
    assert np.isnan(precision_at_k(np.zeros(3), np.arange(3.0)))


def test_measures():
    y, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8])
    found = evaluate(y, scores)
    assert found["auc"] == roc_auc_score(y, scores)
    assert found["p@k"] == 0.5


def test_holm_by_hand():
    np.testing.assert_allclose(
        summary.holm(np.array([0.01, np.nan, 0.04, 0.03])), [0.03, np.nan, 0.06, 0.06]
    )
    np.testing.assert_allclose(summary.holm(np.array([0.5, 0.9])), [1.0, 1.0])


def test_signed_ranks_against_the_reference():
    rng = np.random.default_rng(1)
    values = rng.random((12, 3))
    values[:, 2] = values[:, 0]
    values[3, 1] = np.nan
    p = summary.signed_rank_p_values(values, 0)
    whole = np.delete(values, 3, axis=0)
    assert np.isnan(p[0])
    assert p[1] == pytest.approx(stats.wilcoxon(whole[:, 0], whole[:, 1]).pvalue)
    assert p[2] == 1.0
    # All eleven of eleven better: two sign patterns of 2^11 are as extreme.
    assert summary.signed_rank_p_values(np.c_[np.arange(11.0) + 1, np.zeros(11)], 0)[
        1
    ] == pytest.approx(2 / 2**11)


def test_p_values_of_the_papers_table_are_those_it_prints():
    methods = ["RandFS", "DisFS", "RegFS", "CINFO", "ODEFS*", "ODEFS-paper"]
    for table, printed in (
        (TABLE2_AUC, [0.004, 0.003, 0.003, 0.006, 0.007]),
        (TABLE2_P_AT_K, [0.011, 0.008, 0.005, 0.008, 0.005]),
    ):
        values = np.array([[row[method] for method in methods] for row in table.values()])
        p = summary.signed_rank_p_values(values, 5, approximate=True)
        np.testing.assert_array_equal(np.round(p[:5], 3), printed)
        exact = summary.signed_rank_p_values(values, 5)
        assert (exact[:5] < p[:5]).all()


def test_exact_p_values_count_the_patterns_of_signs():
    """With ties and zeros, where tabulated distributions do not apply."""
    difference = np.array([0.3, 0.3, -0.1, 0.0, 0.2, 0.2, -0.2, 0.5])
    ranks = stats.rankdata(np.abs(difference[difference != 0]))
    signs = np.array(list(itertools.product([0, 1], repeat=7)))
    sums, found = signs @ ranks, ranks[difference[difference != 0] > 0].sum()
    expected = 2 * min((sums <= found).mean(), (sums >= found).mean())
    p = summary.signed_rank_p_values(np.c_[difference, np.zeros(8)], 0)
    assert p[1] == pytest.approx(expected)


def test_average_ranks_and_critical_difference():
    np.testing.assert_allclose(
        summary.average_ranks(np.array([[3.0, 2, 1], [1, 1, 0]])), [1.25, 1.75, 3]
    )
    # Demsar (2006): q_0.05 = 2.343 for three methods.
    assert summary.critical_difference(3, 10) == pytest.approx(
        2.343 * np.sqrt(3 * 4 / 60), abs=1e-3
    )


def test_averages_of_the_papers_tables_are_those_it_prints():
    for method, average in (
        ("RandFS", 0.764),
        ("DisFS", 0.759),
        ("RegFS", 0.759),
        ("CINFO", 0.782),
        ("ODEFS-paper", 0.815),
    ):
        assert np.mean([row[method] for row in TABLE2_AUC.values()]) == pytest.approx(
            average, abs=0.001
        )
    assert paper_number("LeSiNN", "bank", "p@k") == 0.190
    assert paper_number("ODEFS", "bank", "auc") is None


def test_the_fastest_method_ranks_first():
    records = fake_records()
    for record in records:
        record["seconds"] = 1.0 if record["job"]["method"] == "RandFS" else 5.0
    table = tables.comparison_table(records, TABLE2, ["musk", "bank"], "seconds", "ODEFS-paper")
    ranks = next(row for row in table.rows if row[0] == "average rank")
    assert ranks[1 + TABLE2.index("RandFS")] == "1.00"


def test_identical_rows_stay_on_one_side():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(2000, 4))
    train, test = run.split_rows(X, 0)
    assert not {tuple(row) for row in X[train]} & {tuple(row) for row in X[test]}
    assert 0.69 < len(train) / 2000 <= 0.7
    assert len(train) + len(test) == 2000


def test_one_large_group_of_identical_rows_does_not_eat_the_training_part():
    X = np.r_[np.zeros((1200, 3)), np.random.default_rng(0).normal(size=(800, 3))]
    for seed in range(10):
        train, test = run.split_rows(X, seed)
        assert 0.35 <= len(train) / 2000 <= 0.7
        assert not {tuple(row) for row in X[train]} & {tuple(row) for row in X[test]}
