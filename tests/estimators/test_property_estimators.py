"""Properties that every public estimator keeps on whatever table it is given."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import odefs
from odefs import ODEFS, LeSiNN, ODEFSSelector
from odefs.baselines import CINFO, DisFS, RandFS, RegFS
from odefs.detectors import IForestDetector
from strategies import LAYOUTS, frames, tables

pytestmark = pytest.mark.slow

FEW = {"random_state": 0, "n_jobs": 1, "missing": "ignore"}
ESTIMATORS = {
    "ODEFS": ODEFS(n_estimators=2, n_subsets=6, **FEW),
    "auto": ODEFS(n_subsets=6, **FEW),
    "paper": ODEFS.paper(n_estimators=2, n_subsets=6, **FEW),
    "iforest": ODEFS(detector=IForestDetector(n_trees=4, subset_size=8), n_estimators=2, **FEW),
    "tails": ODEFS(detector="tails", n_estimators=2, **FEW),
    "LeSiNN": LeSiNN(n_subsets=6, **FEW),
    "unscaled": LeSiNN(n_subsets=6, scaling="none", **FEW),
    "RandFS": RandFS(n_estimators=2, n_subsets=6, **FEW),
    "breadth first": RandFS(n_estimators=2, n_subsets=6, combination="breadth_first", **FEW),
    "RegFS": RegFS(n_subsets=6, **FEW),
    "DisFS": DisFS(n_subsets=6, **FEW),
    "CINFO": CINFO(n_subsets=6, **FEW),
}
# Tables are small as they are: to look for a smaller one that fails takes longer than to read it.
SETTINGS = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
MUCH = settings(SETTINGS, max_examples=30)
EXTREME = np.array(
    [[1.7e308, -0.0], [-1.7e308, 5e-324], [0.0, 5e-324], [1e308, -5e-324], [np.nan, 1.0]]
)


def check(estimator, X, layout, seed):
    """All properties of a fit to one table."""
    before = X.copy()
    model = clone(estimator).fit(X)
    scores = model.outlier_scores_
    assert scores.shape == (len(X),)
    assert np.isfinite(scores).all()
    assert np.isfinite(model.offset_)
    assert np.array_equal(model.outlier_scores(X), scores), "training rows score as in training"
    assert np.array_equal(model.predict(X) == -1, model.is_outlier_)

    again = clone(model).fit(X)
    assert np.array_equal(again.outlier_scores_, scores), "one seed, one result"
    assert again.get_params().keys() == model.get_params().keys()

    other = LAYOUTS[layout](X)
    assert np.array_equal(clone(estimator).fit(other).outlier_scores_, scores), (
        "orders and containers do not count"
    )

    order = np.random.default_rng(seed).permutation(len(X))
    np.testing.assert_allclose(model.outlier_scores(X[order]), scores[order], rtol=1e-6, atol=1e-12)
    assert np.isfinite(model.outlier_scores(X[:1])).all()

    if getattr(model, "combination", "cumulative") == "cumulative":
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "m")
            loaded = odefs.load(Path(folder) / "m")
        assert np.array_equal(loaded.outlier_scores(X), scores), "bit-equal after loading"
        shares = np.asarray(model.explain(X))
        assert np.isfinite(shares).all()
        np.testing.assert_allclose(shares.sum(axis=1), scores, rtol=1e-4, atol=1e-6)
    same = (before == X) | ((X != X) & (before != before))
    assert np.asarray(same, dtype=bool).all(), "input is left alone"


@pytest.mark.parametrize("name", ESTIMATORS)
@example(X=EXTREME, layout="fortran", seed=0)
@given(X=tables(), layout=st.sampled_from(list(LAYOUTS)), seed=st.integers(0, 9))
@SETTINGS
def test_estimators_keep_their_promises(name, X, layout, seed):
    check(ESTIMATORS[name], X, layout, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
@given(X=tables(), layout=st.sampled_from(list(LAYOUTS)), seed=st.integers(0, 9))
@MUCH
def test_on_many_tables(name, X, layout, seed):
    check(ESTIMATORS[name], X, layout, seed)


@pytest.mark.parametrize("keep", ["any", 2, 0.5])
@given(X=tables(), layout=st.sampled_from(list(LAYOUTS)))
@SETTINGS
def test_the_selector(keep, X, layout):
    selector = ODEFSSelector(ODEFS(n_estimators=2, n_subsets=6, **FEW), keep=keep).fit(X)
    kept = selector.get_support(indices=True)
    assert kept.size >= 1
    assert np.isfinite(selector.feature_importances_).all()
    assert selector.feature_importances_.sum() == pytest.approx(1.0)
    np.testing.assert_equal(
        np.asarray(selector.transform(X), dtype=float), X[:, kept].astype(float)
    )
    again = clone(selector).fit(LAYOUTS[layout](X))
    assert np.array_equal(again.support_, selector.support_)
    assert np.array_equal(again.feature_importances_, selector.feature_importances_)


@given(frame=frames(), seed=st.integers(0, 9))
@settings(SETTINGS, max_examples=12)
def test_tables_of_any_kind_of_column(frame, seed):
    """``odefs.detect``: finite scores, the same when repeated, reordered and loaded."""
    model = ODEFS(n_estimators=2, n_subsets=6, random_state=0, n_jobs=1, scaling="none")
    found = odefs.detect(frame, model=model)
    assert np.isfinite(found.scores).all()
    assert np.isfinite(found.threshold)
    assert np.array_equal(odefs.detect(frame, model=clone(model)).scores, found.scores)
    for reasons in found.reasons(range(found.n_rows)):
        assert all(np.isfinite(reason.share) for reason in reasons)
    with tempfile.TemporaryDirectory() as folder:
        found.save(Path(folder) / "m")
        loaded = odefs.load(Path(folder) / "m")
    assert np.array_equal(-loaded.score_samples(frame), found.scores)
    order = np.random.default_rng(seed).permutation(found.n_rows)
    shuffled = frame.iloc[order] if hasattr(frame, "iloc") else frame[order]
    np.testing.assert_allclose(
        -loaded.score_samples(shuffled), found.scores[order], rtol=1e-6, atol=1e-12
    )
