"""Further detectors join where the table suits them, and leave everything else as it is."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score, roc_auc_score

import odefs
from odefs import ODEFS, FeatureSelection, RowBlocks
from odefs.detectors import CouplingDetector, RelationsDetector
from odefs.ensemble.companions import COUPLING_WEIGHT
from odefs.exceptions import ModelFileError
from odefs.persist.header_values import Arrays
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
    return ODEFS(trust=0, random_state=0).fit(nominal)


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


@pytest.mark.parametrize("trust", ["auto", 0, 0.5])
@pytest.mark.parametrize("known", [None, [0, 1, 2]])
def test_training_rows_score_as_in_training(trust, known, nominal):
    """To the last bit: ranks and flags would change with the order of a sum."""
    for X in (nominal, RowBlocks.from_arrays([nominal[:700], nominal[700:]])):
        model = ODEFS(trust=trust, n_estimators=4, random_state=0).fit(X, known_outliers=known)
        assert companions(model)
        assert np.array_equal(model.outlier_scores(nominal), model.outlier_scores_)
        assert np.array_equal(model.agreement(nominal), model.agreement_)


def test_the_ranking_is_that_of_the_weighted_sum(model, nominal):
    bare = ODEFS(detector="lesinn", trust=0, random_state=0).fit(nominal).outlier_scores_
    (member,) = companions(model)
    coupled = member.detector.score(
        model._model.scaling.apply(nominal, np.empty(nominal.shape)), member.state
    )
    expected = z(bare) + COUPLING_WEIGHT * z(coupled)
    assert spearmanr(expected, model.outlier_scores_)[0] > 0.9999


def test_parts_add_up(model, nominal):
    explained = model.explain(nominal[:30])
    np.testing.assert_allclose(
        explained.values.sum(axis=1), model.outlier_scores(nominal[:30]), rtol=1e-9
    )


def test_it_helps_on_a_nominal_table(model, nominal):
    y = np.arange(1500) < 40
    bare = ODEFS(detector="lesinn", trust=0, random_state=0).fit(nominal).outlier_scores_
    assert roc_auc_score(y, model.outlier_scores_) >= roc_auc_score(y, bare)


@pytest.mark.parametrize("n_columns", [1, 16])
def test_one_column_or_many_columns_of_numbers_have_none(n_columns):
    X = related(n_columns)
    found = ODEFS(random_state=0).fit(X)
    assert not companions(found)
    bare = ODEFS(detector="lesinn", random_state=0).fit(X)
    assert np.array_equal(found.outlier_scores_, bare.outlier_scores_)


def test_the_paper_has_none(nominal):
    assert not companions(ODEFS.paper(random_state=0).fit(nominal))
    assert not companions(ODEFS(trust=1.0, random_state=0).fit(nominal))


def test_files_and_blocks_agree(model, nominal, tmp_path):
    model.save(tmp_path / "model.odefs")
    loaded = odefs.load(tmp_path / "model.odefs")
    new = nominal[::-1][:300] + 0.1
    assert np.array_equal(loaded.outlier_scores(new), model.outlier_scores(new))
    blocks = RowBlocks.from_arrays([nominal[:700], nominal[700:]])
    there = ODEFS(trust=0, random_state=0).fit(blocks)
    assert np.array_equal(there.outlier_scores_, model.outlier_scores_)


def test_torch_scores_the_same(model, nominal):
    pytest.importorskip("torch")
    there = ODEFS(trust=0, engine="torch:cpu", random_state=0).fit(nominal)
    assert len(companions(there)) == 1
    np.testing.assert_allclose(there.outlier_scores_, model.outlier_scores_, rtol=1e-6)


def test_a_file_cannot_name_another_detector_for_a_component(model, tmp_path):
    arrays = {}
    described = put_model(model._model, arrays)
    n_columns = model.n_features_in_
    (number,) = described["own_detectors"]
    restored = get_model(described, Arrays(dict(arrays)), n_columns, None)
    assert isinstance(restored.components[int(number)].detector, CouplingDetector)
    described["own_detectors"][number] = {
        "name": "tails",
        "built_in": True,
        "settings": {"n_references": 10},
    }
    with pytest.raises(ModelFileError):
        get_model(described, Arrays(dict(arrays)), n_columns, None)


def test_it_joins_whatever_else_is_set(nominal):
    model = ODEFS(
        trust=0,
        n_estimators=4,
        selection=FeatureSelection(n_rounds=1),
        random_state=0,
    ).fit(nominal)
    assert len(companions(model)) == 1


def test_explanations_say_how_both_are_split(model, nominal):
    assert CouplingDetector.attribution in model.explain(nominal[:2]).attribution


def related(n_columns, n_rows=800):
    """Columns that follow one hidden number."""
    rng = np.random.default_rng(2)
    return rng.normal(size=(n_rows, 1)) + 0.3 * rng.normal(size=(n_rows, n_columns))


@pytest.fixture(scope="module")
def broken_pair():
    """Two columns that go together, except in the first 20 rows, among 18 columns of noise."""
    rng = np.random.default_rng(3)
    pair = rng.normal(size=(2000, 1)) + 0.1 * rng.normal(size=(2000, 2))
    pair[:20, 1] = pair[:20, 0] + 1.5 * rng.choice([-1, 1], 20)
    return np.c_[pair, rng.normal(size=(2000, 18))]


@pytest.fixture(scope="module")
def pair_model(broken_pair):
    return ODEFS(random_state=0).fit(broken_pair)


def test_rows_that_break_a_relation_come_first(pair_model, broken_pair):
    y = np.arange(2000) < 20
    (member,) = companions(pair_model)
    assert isinstance(member.detector, RelationsDetector)
    assert member.columns.tolist() == [0, 1]
    assert average_precision_score(y, pair_model.outlier_scores_) >= 0.7
    first = pair_model.explain(broken_pair[:20]).values.argmax(axis=1)
    assert (first < 2).mean() >= 0.95


def test_parts_of_relations_add_up(pair_model, broken_pair):
    explained = pair_model.explain(broken_pair[:30])
    np.testing.assert_allclose(
        explained.values.sum(axis=1), pair_model.outlier_scores(broken_pair[:30]), rtol=1e-9
    )


def test_files_and_blocks_agree_on_relations(pair_model, broken_pair, tmp_path):
    pair_model.save(tmp_path / "model.odefs")
    loaded = odefs.load(tmp_path / "model.odefs")
    new = broken_pair[::-1][:300] + 0.1
    assert np.array_equal(loaded.outlier_scores(new), pair_model.outlier_scores(new))
    blocks = RowBlocks.from_arrays([broken_pair[:700], broken_pair[700:]])
    there = ODEFS(random_state=0).fit(blocks)
    assert np.array_equal(there.outlier_scores_, pair_model.outlier_scores_)


def test_torch_scores_relations_the_same(pair_model, broken_pair):
    pytest.importorskip("torch")
    there = ODEFS(engine="torch:cpu", random_state=0).fit(broken_pair)
    assert len(companions(there)) == 1
    np.testing.assert_allclose(there.outlier_scores_, pair_model.outlier_scores_, rtol=1e-5)


def test_one_discrete_column_is_coupled_with_nothing():
    codes = np.random.default_rng(4).integers(0, 3, 1000)
    found = companions(ODEFS(trust=0, random_state=0).fit(np.c_[related(3, 1000), codes]))
    assert [one.detector.name for one in found] == ["relations"]


def test_mixed_tables_have_both():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, (1000, 2)) + rng.integers(0, 2, (1000, 1))
    found = companions(ODEFS(trust=0, random_state=0).fit(np.c_[related(3, 1000), codes]))
    assert [one.detector.name for one in found] == ["coupling", "relations"]
    assert found[1].columns.tolist() == [0, 1, 2]


def test_a_balanced_table_keeps_its_distances():
    """All rows have the same coupling score, up to rounding."""
    X = np.array(list(product([0.0, 1.0], repeat=4)) * 20)
    model = ODEFS(n_estimators=4, random_state=0).fit(X)
    assert not companions(model)
    near, far = model.outlier_scores(np.array([[7.0, 0, 0, 0], [9.0] * 4]))
    assert 2 < near < far


@pytest.mark.parametrize("share", [0.05, 0.15])
def test_amounts_that_are_mostly_zero_do_not_hide_broken_relations(share):
    rng = np.random.default_rng(0)
    a, c = rng.normal(size=(2, 2000))
    b, d = a + 0.2 * rng.normal(size=2000), c - 0.2 * rng.normal(size=2000)
    b[:10] = -b[:10] - np.sign(a[:10])
    amounts = np.where(rng.random(2000) < share, rng.lognormal(3, 1, 2000), 0.0)
    found = ODEFS(random_state=0).fit(np.c_[a, b, c, d, amounts])
    expected = ODEFS(random_state=0).fit(np.c_[a, b, c, d])
    y = np.arange(2000) < 10
    assert average_precision_score(y, expected.outlier_scores_) > 0.7
    assert average_precision_score(y, found.outlier_scores_) > 0.4


@pytest.mark.parametrize("amount", [1e3, 1e5, 1e9])
def test_amounts_that_are_mostly_zero_may_be_far(amount):
    """Among the bins of coupled values, any amount but zero is as rare as the largest."""
    rng = np.random.default_rng(0)
    amounts = np.where(rng.random((1000, 5)) < 0.9, 0.0, rng.lognormal(2, 1, (1000, 5)))
    X = np.c_[amounts, rng.normal(size=(1000, 3))]
    X[:5, 0] = amount
    scores = ODEFS(random_state=0).fit(X).outlier_scores_
    assert average_precision_score(np.arange(1000) < 5, scores) > 0.6


def test_noise_columns_are_coupled_with_nothing():
    """Of the discrete columns all but one are noise next to the far values."""
    rng = np.random.default_rng(1)
    X = np.c_[rng.normal(size=(1000, 4)), rng.integers(0, 3, (1000, 4)), rng.random(1000) < 0.1]
    X[:10, 0] = 8 + rng.normal(size=10)
    model = ODEFS(random_state=0).fit(X)
    assert not companions(model)
    assert average_precision_score(np.arange(1000) < 10, model.outlier_scores_) > 0.9


def test_a_companion_of_little_weight_does_not_join():
    rng = np.random.default_rng(0)
    few = rng.random((1000, 2)) < 0.01
    X = np.c_[rng.normal(size=(1000, 40)) @ rng.normal(size=(40, 40)), few]
    assert not companions(ODEFS(trust=0, random_state=0).fit(X))


@pytest.mark.parametrize(
    ("noise", "joins"), [(0.5, True), (5.0, False)], ids=["related", "unrelated"]
)
def test_relations_join_only_where_columns_explain_each_other(noise, joins):
    """Among unrelated columns their distance is that from the centre, far from no cluster."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1)) + noise * rng.normal(size=(2000, 4))
    model = ODEFS(trust=0, noise_columns="keep", random_state=0).fit(X)
    assert [type(one.detector) for one in companions(model)] == [RelationsDetector] * joins


def test_a_ring_is_ranked_by_distances():
    """The centre of a ring is empty, and near to the mean of all rows."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 2000)
    X = 5 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.3 * rng.normal(size=(2000, 2))
    X[:20] = 0.3 * rng.normal(size=(20, 2))
    model = ODEFS(random_state=0).fit(X)
    assert roc_auc_score(np.arange(2000) < 20, model.outlier_scores_) > 0.9
