"""scikit-learn's own conformance checks, for every public estimator and detector."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from odefs import ODEFS, FeatureSelection, LeSiNN, ODEFSSelector, ODEFSWarning
from odefs.baselines import RandFS
from odefs.detectors import LeSiNNDetector
from odefs.models import feature_selection
from odefs.models.odefs import PAPER

ESTIMATORS = [
    ODEFS(),
    ODEFS.paper(),
    ODEFS(detector="iforest", n_estimators=3),
    ODEFS(detector="tails", n_estimators=3),
    ODEFS(detector=LeSiNNDetector(n_subsets=20), n_estimators=3),
    ODEFS(
        missing="ignore",
        selection=FeatureSelection(solver="lbfgs", self_paced="classic"),
        n_estimators=3,
    ),
    ODEFS(
        selection=FeatureSelection(loss="logistic", column_weights="learned", self_paced=False),
        contamination=0.1,
        n_estimators=3,
    ),
    LeSiNN(),
    LeSiNN(missing="ignore", scaling="none", contamination=0.1),
]

SELECTORS = [
    ODEFSSelector(),
    ODEFSSelector(keep=0.5),
    ODEFSSelector(ODEFS(missing="ignore", detector="tails", random_state=0), keep=2),
]


@parametrize_with_checks([ODEFS(), ODEFS.paper(), LeSiNN(), ODEFSSelector()])
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([*ESTIMATORS[2:], *SELECTORS[1:]])
def test_scikit_learn_conformance_of_variants(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_fitted_attributes_agree(estimator, noisy):
    model = clone(estimator).set_params(random_state=0).fit(noisy)
    assert np.array_equal(model.outlier_scores_, model.outlier_scores(noisy))
    assert np.array_equal(model.score_samples(noisy), -model.outlier_scores_)
    assert model.decision_scores_ is model.outlier_scores_
    assert np.array_equal(model.predict(noisy) == -1, model.is_outlier_)
    assert np.array_equal(clone(model).fit_predict(noisy), model.predict(noisy))
    assert model.outlier_scores_.mean() == pytest.approx(1.0)


def test_labels_are_ignored(noisy):
    a = ODEFS(random_state=0).fit(noisy)
    b = ODEFS(random_state=0).fit(noisy, y=np.arange(len(noisy)))
    assert np.array_equal(a.outlier_scores_, b.outlier_scores_)


def test_contamination_is_the_share_that_is_flagged(noisy):
    assert ODEFS(contamination=0.04, random_state=0).fit(noisy).is_outlier_.sum() == 20


def test_auto_threshold_keeps_cantellis_promise(noisy):
    model = ODEFS(random_state=0).fit(noisy)
    assert 0 < model.is_outlier_.mean() <= 1 / (1 + 2**2)


BAD_PARAMETERS = [
    {"detector": "knn"},
    {"n_estimators": 0},
    {"n_estimators": "many"},
    {"selection__n_outlier_examples": 0},
    {"selection__unlabeled_ratio": 0},
    {"selection__candidate_threshold": -1},
    {"selection__loss": "square"},
    {"selection__l1": -1.0},
    {"selection__solver": "adam"},
    {"selection__tol": "small"},
    {"selection__self_paced": "slowly"},
    {"selection__min_weight": 1.5},
    {"selection__min_weight": 1.0},
    {"selection__l1": np.inf},
    {"selection__candidate_threshold": np.inf},
    {"selection__unlabeled_ratio": np.inf},
    {"n_jobs": "2"},
    {"n_jobs": 1.5},
    {"verbose": None},
    {"n_subsets": 0},
    {"subset_size": 2.5},
    {"selection__reference_rows": "new"},
    {"selection__metric": "cosine"},
    {"scaling": "zscore"},
    {"selection__standardize_scores": "std"},
    {"selection__column_weights": None},
    {"trust": 1.1},
    {"selection__normalization_rows": 0},
    {"missing": "mean"},
    {"contamination": 0.6},
    {"engine": "cloud"},
    {"n_jobs": 0},
]


@pytest.mark.parametrize("parameters", BAD_PARAMETERS, ids=str)
def test_a_wrong_parameter_is_named(parameters, noisy):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"^{name.removeprefix('selection__')}="):
        ODEFS().set_params(**parameters).fit(noisy)


def test_a_detector_checks_its_settings():
    with pytest.raises(ValueError, match="metric"):
        LeSiNNDetector(metric="cosine")


def test_the_tag_for_missing_values_is_honest(noisy):
    class Fragile(LeSiNNDetector):
        handles_missing = False

    model = ODEFS(detector=Fragile(), missing="ignore")
    assert not model.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match="missing"):
        model.fit(noisy)


def test_the_paper_is_pinned():
    """Every parameter that affects the result is set: new defaults do not change the paper's."""
    free = {"missing", "max_false_flags", "engine", "n_jobs", "random_state", "verbose"}
    free.add("selection")  # FeatureSelection.paper()
    assert set(PAPER) == set(ODEFS().get_params(deep=False)) - free
    assert set(feature_selection.PAPER) == set(FeatureSelection().get_params())


def test_paper_takes_overrides():
    assert ODEFS.paper(selection__candidate_threshold=3).selection.candidate_threshold == 3
    assert ODEFS.paper().get_params()["selection__metric"] == "sqeuclidean"


def test_pipelines_and_grid_searches(noisy):
    """The planted rows are known here, so a scorer can choose; grids pass NumPy numbers."""
    y = np.arange(500) < 15

    def auc(model, X, labels):
        return roc_auc_score(labels, -model.score_samples(X))

    pipeline = make_pipeline(StandardScaler(), ODEFS(random_state=0))
    grid = {
        "odefs__n_estimators": np.arange(1, 4),
        "odefs__selection__candidate_threshold": [1.0, 2.0],
    }
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(pipeline, grid, scoring=auc, cv=folds, n_jobs=2).fit(noisy, y)
    assert search.best_score_ > 0.9
    chosen = search.best_params_["odefs__n_estimators"]
    assert search.best_estimator_[-1].fit_info_["n_components"] == chosen


def test_a_pickled_model_scores_the_same(noisy):
    model = ODEFS(random_state=0).fit(noisy)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.outlier_scores(noisy), model.outlier_scores_)
    assert np.array_equal(again.explain(noisy[:5]).values, model.explain(noisy[:5]).values)


@pytest.mark.parametrize(
    "wrong",
    [{"known_outliers": [10_000]}, {"known_normal": np.ones(3, dtype=bool)}],
    ids=["number", "truth values"],
)
def test_a_failed_fit_leaves_an_unfitted_estimator(wrong, noisy):
    model = ODEFS(n_estimators=3, random_state=0)
    for _ in range(2):
        with pytest.raises(ValueError, match="rows"):
            model.fit(noisy[:, :4], **wrong)
        assert {name for name in vars(model) if name.endswith("_")} == set()
        for use in (model.predict, model.explain, model.agreement):
            with pytest.raises(NotFittedError):
                use(noisy[:, :4])
        # The second failure comes after a fit that succeeded.
        assert np.isfinite(model.fit(noisy).outlier_scores(noisy)).all()


@pytest.mark.parametrize("estimator", [LeSiNN(), RandFS()], ids=str)
def test_a_refused_table_leaves_an_unfitted_estimator(estimator, noisy):
    model = clone(estimator).fit(noisy)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((9, 3), np.nan))
    with pytest.raises(NotFittedError):
        model.predict(noisy)


def test_a_fit_that_fails_late_leaves_an_unfitted_estimator(noisy, monkeypatch):
    model = ODEFS(n_estimators=3, random_state=0)
    monkeypatch.setattr("odefs.models.base.usual_contributions", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.fit(noisy)
    with pytest.raises(NotFittedError):
        model.predict(noisy)


def test_warnings_point_at_whoever_fits():
    with pytest.warns(ODEFSWarning) as told:
        LeSiNN(random_state=0).fit(np.arange(6.0).reshape(3, 2))
    assert told[0].filename == __file__
