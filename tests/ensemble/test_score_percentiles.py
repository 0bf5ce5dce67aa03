"""Percentiles of scores among the training rows."""

import numpy as np
import pytest

import odefs
from odefs import ODEFS
from odefs.engines.out_of_core import Folder
from odefs.ensemble import score_percentiles
from odefs.ensemble.score_percentiles import percentiles, score_quantiles
from odefs.kernels import row_reductions


@pytest.mark.parametrize("n", [2, 50, 1000, 30_000])
def test_percentiles_of_training_rows_are_their_ranks(n):
    scores = np.random.default_rng(n).lognormal(size=n)
    found = percentiles(score_quantiles(scores), scores)
    exact = 100 * np.argsort(np.argsort(scores)) / (n - 1)
    assert np.abs(found - exact).max() < 0.6
    assert np.abs(found - exact)[exact > 99].max() < 0.06
    assert (found[scores.argmin()], found[scores.argmax()]) == (0, 100)


def test_scores_beyond_the_training_rows_and_ties():
    quantiles = score_quantiles(np.array([1.0] * 50 + [2.0] * 30 + [3.0] * 20))
    found = percentiles(quantiles, np.array([0.5, 1.0, 2.0, 3.0, 9.0, np.nan]))
    assert found == pytest.approx([0, 25, 65, 90, 100, np.nan], abs=0.6, nan_ok=True)
    assert np.array_equal(percentiles(score_quantiles(np.full(3, np.nan)), np.ones(1)), [100.0])


def test_large_files_are_sampled_and_keep_their_highest_score(monkeypatch):
    scores = np.random.default_rng(0).lognormal(size=20_000)
    in_file = Folder().array(scores.shape, np.float64)
    in_file[:] = scores
    monkeypatch.setattr(score_percentiles, "MOST_SCORES", 1500)
    monkeypatch.setattr(row_reductions, "CHUNK_ROWS", 4000)
    quantiles = score_quantiles(in_file)
    assert quantiles[-1] == scores.max()
    exact = (scores[:, None] < scores[:100]).mean(axis=0) * 100
    assert np.abs(percentiles(quantiles, scores[:100]) - exact).max() < 4


def test_models_keep_them(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = ODEFS(random_state=0).fit(X)
    new = np.vstack([X[:5], np.full((1, 4), 9.0)])
    found = model.score_percentiles(new)
    assert found[-1] == 100
    model.save(tmp_path / "m.odefs")
    assert np.array_equal(odefs.load(tmp_path / "m.odefs").score_percentiles(new), found)
    detection = odefs.detect(X)
    assert detection.percentiles[detection.order[0]] == 100
