"""The ensemble against Algorithm 1 written out, and its numbers."""

import itertools

import numpy as np
import pytest

import naive
from odefs import ODEFS, FeatureSelection
from odefs.ensemble.model import component_weights


def test_final_scores_are_the_papers(noisy):
    """``ODEFS.paper()`` scores are Eq. "final_score" times the number of rows.

    Computed from the subsets and losses that it reports.
    """
    noisy = noisy[:100]
    model = ODEFS.paper(random_state=0, selection__candidate_threshold=1.0).fit(noisy)
    # The model's references have another origin, which no distance sees.
    scaling = model._model.scaling
    X = naive.minmax(noisy) - (scaling.low - noisy.min(axis=0)) / scaling.width
    parts = []
    for component in model._model.components:
        rows = component.state.rows
        parts.append(naive.lesinn(X[:, component.columns], rows, 50, "sqeuclidean"))
    expected = naive.final_scores(parts, model.component_loss_) * len(X)
    np.testing.assert_allclose(model.outlier_scores_, expected, rtol=1e-6)
    top = model.feature_weights_.max(axis=1, keepdims=True)
    for w, subset in zip(model.feature_weights_ / top, model.feature_subsets_, strict=True):
        assert subset.tolist() == np.flatnonzero(w > 0.05).tolist()


def test_candidates_are_those_of_the_bare_scores(noisy):
    model = ODEFS.paper(random_state=0, selection__candidate_threshold=1.0).fit(noisy)
    bare = model.set_params(trust=0.0).fit(noisy).outlier_scores_
    assert np.array_equal(model.candidate_indices_, np.flatnonzero(bare > bare.mean() + bare.std()))


@pytest.mark.parametrize(("n_rows", "m_star"), [(500, 32), (10_001, 64)])
def test_numbers_of_the_paper(n_rows, m_star):
    X = np.random.default_rng(0).normal(size=(n_rows, 4))
    model = ODEFS.paper(random_state=0, selection__candidate_threshold=1.0).fit(X)
    info = model.fit_info_
    n_star = model.candidate_indices_.size
    assert info["n_outlier_examples"] == min(m_star, n_star)
    assert info["n_unlabeled_examples"] == min(6 * m_star, n_rows)
    assert info["n_components"] == len(model.feature_subsets_) == 2 * -(-n_star // m_star)


def test_more_unlabelled_examples_than_rows():
    X = np.random.default_rng(0).normal(size=(50, 4))
    assert ODEFS(random_state=0).fit(X).fit_info_["n_unlabeled_examples"] == 50


def test_component_weights_favour_small_losses():
    weights = component_weights(np.array([0.1, 0.5, -900.0]))
    assert weights.sum() == pytest.approx(1)
    assert weights[2] == pytest.approx(1)
    np.testing.assert_allclose(
        component_weights(np.array([1.0, 2.0])), np.exp([-1, -2]) / np.exp([-1, -2]).sum()
    )


def test_trust_mixes_learned_subsets_with_the_full_space(noisy):
    scores = {
        t: ODEFS(detector="lesinn", trust=t, random_state=0).fit(noisy).outlier_scores_
        for t in (0.0, 0.3, 1.0)
    }
    np.testing.assert_allclose(scores[0.3], 0.3 * scores[1.0] + 0.7 * scores[0.0])


def test_normalisers_from_a_sample_of_rows(noisy):
    model = ODEFS(random_state=0, selection=FeatureSelection(normalization_rows=100)).fit(noisy)
    assert np.array_equal(model.outlier_scores(noisy), model.outlier_scores_)
    assert model.outlier_scores_.mean() == pytest.approx(1.0, abs=0.1)
    assert model.outlier_scores_.mean() != pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("scaling", ["minmax", "rootstd"])
def test_units_do_not_matter(noisy, scaling):
    units = 10.0 ** np.random.default_rng(1).integers(-6, 6, 30)
    a, b = (
        ODEFS(scaling=scaling, random_state=0).fit(X).outlier_scores_
        for X in (noisy, noisy * units + 3 * units)
    )
    np.testing.assert_allclose(a, b, rtol=1e-6)


def test_self_paced_variants_differ(noisy):
    runs = [
        ODEFS(selection=FeatureSelection(self_paced=s, tol=1e-5), random_state=0).fit(noisy)
        for s in (True, False, "classic")
    ]
    assert all(
        not np.array_equal(a.feature_weights_, b.feature_weights_)
        for a, b in itertools.pairwise(runs)
    )
    assert min(runs[0].fit_info_["examples_kept"]) < 1
    assert runs[1].fit_info_["examples_kept"] == [1.0] * len(runs[1].feature_subsets_)
    assert runs[2].fit_info_["examples_kept"] == [1.0] * len(runs[2].feature_subsets_)


def test_traces_never_rise(noisy):
    for trace in ODEFS.paper(random_state=0).fit(noisy).fit_info_["objective_traces"]:
        assert (np.diff(trace) <= 1e-12).all()


def test_verbose_talks_to_standard_error_only(noisy, capsys):
    ODEFS(random_state=0).fit(noisy)
    assert capsys.readouterr() == ("", "")
    ODEFS(random_state=0, verbose=1).fit(noisy)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "components" in captured.err
