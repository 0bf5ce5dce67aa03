"""A second detector joins where columns are discrete, and leaves everything else as it is."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

import odefs
from odefs import ODEFS, FeatureSelection, RowBlocks
from odefs.detectors import CouplingDetector
from odefs.ensemble.companion import FULL_WEIGHT
from odefs.exceptions import ModelFileError
from odefs.persist.checks import Arrays
from odefs.persist.models import get_model, put_model


@pytest.fixture(scope="module")
def nominal():
    """Eight columns of three values that follow a hidden group; forty rows follow none."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, (1500, 1))
    X = np.where(rng.random((1500, 8)) < 0.85, group, rng.integers(0, 3, (1500, 8)))
    X[:40] = rng.permuted(np.tile([0, 0, 0, 1, 1, 1, 2, 2], (40, 1)), axis=1)
    X[:40, 7] = 3
    return X.astype(float)


@pytest.fixture(scope="module")
def model(nominal):
    return ODEFS(detector="auto", trust=0, random_state=0).fit(nominal)


def z(scores):
    return (scores - scores.mean()) / scores.std()


def companions(model):
    return [one for one in model._model.components if one.detector is not None]


def test_weights_add_up_and_an_ordinary_row_scores_one(model):
    (member,) = companions(model)
    assert isinstance(member.detector, CouplingDetector)
    assert 0 < member.weight < 1
    assert sum(one.weight for one in model._model.scoring) == pytest.approx(1)
    assert model.outlier_scores_.mean() == pytest.approx(1)


def test_the_ranking_is_that_of_the_weighted_sum(model, nominal):
    bare = ODEFS(trust=0, random_state=0).fit(nominal).outlier_scores_
    (member,) = companions(model)
    coupled = member.detector.score(
        model._model.scaling.apply(nominal, np.empty(nominal.shape)), member.state
    )
    expected = z(bare) + FULL_WEIGHT * z(coupled)
    assert spearmanr(expected, model.outlier_scores_)[0] > 0.9999


def test_parts_add_up(model, nominal):
    explained = model.explain(nominal[:30])
    np.testing.assert_allclose(
        explained.values.sum(axis=1), model.outlier_scores(nominal[:30]), rtol=1e-9
    )


def test_it_helps_on_a_nominal_table(model, nominal):
    y = np.arange(1500) < 40
    bare = ODEFS(trust=0, random_state=0).fit(nominal).outlier_scores_
    assert roc_auc_score(y, model.outlier_scores_) >= roc_auc_score(y, bare)


def test_numbers_alone_have_none():
    X = np.random.default_rng(1).normal(size=(600, 5))
    auto = ODEFS(detector="auto", random_state=0).fit(X)
    assert not companions(auto)
    assert np.array_equal(auto.outlier_scores_, ODEFS(random_state=0).fit(X).outlier_scores_)


def test_the_paper_has_none(nominal):
    assert not companions(ODEFS.paper(random_state=0).fit(nominal))
    assert not companions(ODEFS(detector="auto", trust=1.0, random_state=0).fit(nominal))


def test_files_and_blocks_agree(model, nominal, tmp_path):
    model.save(tmp_path / "model.odefs")
    loaded = odefs.load(tmp_path / "model.odefs")
    new = nominal[::-1][:300] + 0.1
    assert np.array_equal(loaded.outlier_scores(new), model.outlier_scores(new))
    blocks = RowBlocks.from_arrays([nominal[:700], nominal[700:]])
    there = ODEFS(detector="auto", trust=0, random_state=0).fit(blocks)
    assert np.array_equal(there.outlier_scores_, model.outlier_scores_)


def test_torch_scores_the_same(model, nominal):
    pytest.importorskip("torch")
    there = ODEFS(detector="auto", trust=0, engine="torch:cpu", random_state=0).fit(nominal)
    assert len(companions(there)) == 1
    np.testing.assert_allclose(there.outlier_scores_, model.outlier_scores_, rtol=1e-6)


def test_a_file_cannot_name_another_detector_for_a_component(model, tmp_path):
    arrays = {}
    described = put_model(model._model, arrays)
    n_columns = model.n_features_in_
    assert get_model(described, Arrays(dict(arrays)), n_columns, None).components[-1].detector
    (number,) = described["own_detectors"]
    described["own_detectors"][number] = {
        "name": "tails",
        "built_in": True,
        "settings": {"n_references": 10},
    }
    with pytest.raises(ModelFileError):
        get_model(described, Arrays(dict(arrays)), n_columns, None)


def test_it_joins_whatever_else_is_set(nominal):
    model = ODEFS(
        detector="auto",
        trust=0,
        n_estimators=4,
        selection=FeatureSelection(n_rounds=1),
        random_state=0,
    ).fit(nominal)
    assert len(companions(model)) == 1


def test_explanations_say_how_both_are_split(model, nominal):
    assert CouplingDetector.attribution in model.explain(nominal[:2]).attribution
