"""Columns that look like pure noise: which are found, which never may be, and what that changes."""

import numpy as np
import pytest

from odefs import ODEFS, FeatureSelection, load
from odefs.selection.noise import DAMPING, FEWEST_ROWS, farthest_by_chance, noise_columns

N = 2000


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def found_in(X, n_rows=None):
    X = np.asarray(X, dtype=np.float32)
    seen = np.ma.masked_invalid(X)
    seen = (seen - seen.mean(axis=0)).filled(0)
    farthest = np.abs(seen).max(axis=0) / np.maximum(seen.std(axis=0), 1e-12)
    rng = np.random.default_rng(1)
    return noise_columns(
        X, farthest, n_rows or len(X), rng, lambda task, arguments: [task(one) for one in arguments]
    ).tolist()


def chain(rng, n, d):
    """Columns of which each goes along with the one before."""
    X = rng.normal(size=(n, d))
    for k in range(1, d):
        X[:, k] = 0.6 * X[:, k - 1] + 0.8 * X[:, k]
    return X


@pytest.mark.parametrize("draw", ["normal", "uniform", "binary", "whole"])
def test_independent_columns_without_tails_are_noise(rng, draw):
    noise = {
        "normal": lambda: rng.normal(size=(N, 40)),
        "uniform": lambda: rng.random((N, 40)),
        "binary": lambda: rng.integers(0, 2, size=(N, 40)),
        "whole": lambda: rng.integers(0, 9, size=(N, 40)),
    }[draw]()
    found = found_in(np.hstack([chain(rng, N, 10), noise]))
    assert not set(found) & set(range(10))
    assert len(found) >= 38


def test_a_relation_by_squares_alone_counts(rng):
    x = rng.uniform(-1, 1, size=N)
    y = np.abs(x) + 0.1 * rng.normal(size=N)
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.06
    found = found_in(np.column_stack([x, y, rng.random((N, 5))]))
    assert not set(found) & {0, 1}


def test_weak_relations_to_many_columns_count(rng):
    """5 % of rows shifted by one standard deviation in a fifth of the columns: no clear pair."""
    X = rng.normal(size=(5000, 100))
    X[:250, :20] += 1
    found = found_in(X)
    assert len(set(found) & set(range(20))) <= 2
    assert len(found) >= 75


def test_columns_with_tails_are_not_noise(rng):
    heavy = rng.standard_t(3, size=(N, 3))
    very_rare = np.arange(N)[:, None] == [1, 2, 3]
    assert not set(found_in(np.hstack([heavy, very_rare, rng.random((N, 5))]))) & set(range(6))


@pytest.mark.parametrize("shares", [(0.98, 0.02), (0.6, 0.39, 0.01)])
def test_a_category_that_is_related_to_nothing_is_noise_among_noise(rng, shares):
    """Otherwise its rare values would have the score to themselves."""
    code = rng.choice(len(shares), N, p=shares)
    category = np.eye(len(shares))[code][:, 1:]
    X = np.hstack([category, rng.normal(size=(N, 6))])
    assert found_in(X) == [], "a category alone is no reason to call anything noise"
    X[:5, -1] = 15.0
    noise = set(range(X.shape[1] - 1))
    assert noise - set(found_in(X)) == set()
    # One level of it that goes along with a number keeps all of them.
    X[:, -2] += 2 * (code == 1)
    assert not set(found_in(X)) & set(range(len(shares) - 1))


def test_an_unrelated_category_hides_no_extreme_value(rng):
    X = np.c_[rng.random(N) < 0.02, rng.normal(size=(N, 8))]
    X[:5] = 0
    X[:5, 1] = 10.0
    model = ODEFS(random_state=0).fit(X)
    assert set(np.argsort(-model.outlier_scores_)[:5]) == set(range(5))
    assert model.is_outlier_.sum() <= 8


@pytest.mark.parametrize("far", [0, 50, 500, 1e6, 999_999_999, 1e12])
@pytest.mark.parametrize("relation", ["values", "squares"])
def test_one_far_cell_hides_no_relation(rng, far, relation):
    X = rng.normal(size=(N, 8))
    own = X[:, 2] if relation == "values" else X[:, 2] ** 2
    X[:, 3] = np.clip(own + 0.1 * rng.normal(size=N), -3, 3)
    X[0, 2] += far
    found = found_in(X)
    assert 3 not in found
    assert len(set(found) & {0, 1, 4, 5, 6, 7}) >= 5


def test_one_extreme_value_outside_the_sample_is_enough(rng):
    """Of a million rows a few thousand are looked at; the ranges are those of all."""
    X = rng.normal(size=(N, 12)).astype(np.float32)
    farthest = np.full(12, 4.8)
    farthest[3] = 9.0
    assert farthest_by_chance(10**6) > 4.8
    found = noise_columns(
        X, farthest, 10**6, rng, lambda task, arguments: [task(one) for one in arguments]
    )
    assert 3 not in found
    assert len(found) >= 10


@pytest.mark.parametrize("n_columns", [10, 100])
def test_nothing_but_noise_is_no_noise(n_columns):
    """One of a hundred columns looks like more by chance, which is no reason to damp the others."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        for X in (rng.random((N, n_columns)), rng.normal(size=(N, n_columns))):
            assert found_in(np.hstack([X, np.ones((N, 2))])) == []


@pytest.mark.parametrize("shares", [[0.93, 0.07], [0.5, 0.5], [0.5, 0.3, 0.2], [0.99, 0.01]])
@pytest.mark.parametrize("indicators", [slice(None), slice(1)])
def test_a_category_is_no_reason_to_call_numbers_noise(rng, shares, indicators):
    """Its indicators exclude each other, and the rare one has a heavy tail, by construction."""
    kinds = np.eye(len(shares))[rng.choice(len(shares), 2000, p=shares)]
    X = np.column_stack([rng.normal(size=(2000, 8)), kinds[:, indicators]])
    assert found_in(X) == []


@pytest.mark.parametrize("negated", [False, True])
def test_related_columns_of_two_values_are_a_reason(rng, negated):
    """Which of two values is the higher one is a matter of coding."""
    pair = (rng.random(2000) < 0.3).astype(float)
    other = np.where(rng.random(2000) < 0.8, pair, 1 - pair)
    other = 1 - other if negated else other
    found = found_in(np.column_stack([rng.normal(size=(2000, 8)), pair, other]))
    assert found == list(range(8))


def test_a_third_value_outside_the_sample_is_seen(rng):
    flag = (rng.random(20_000) < 0.5).astype(float)
    flag[7] = 1e4
    X = np.column_stack([rng.normal(size=(20_000, 8)), flag])
    for seed in range(3):
        assert ODEFS(random_state=seed).fit(X).noise_columns_.size >= 6


def test_few_rows_say_nothing(rng):
    assert found_in(rng.normal(size=(FEWEST_ROWS - 1, 30))) == []
    assert found_in(rng.normal(size=(N, 1))) == []
    assert found_in(np.ones((N, 4))) == []


def test_missing_cells_make_no_relation(rng):
    X = np.hstack([chain(rng, N, 4), rng.random((N, 20))])
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 4] = np.nan
    found = found_in(X)
    assert not set(found) & set(range(5))
    assert len(found) >= 17


@pytest.mark.parametrize("share", [0.05, 0.3])
@pytest.mark.parametrize("together", [False, True])
def test_missing_cells_make_no_tail(rng, share, together):
    """Gaps do not change normality, and columns with gaps in the same rows are not related."""
    noise = rng.normal(size=(N, 20))
    noise[
        np.repeat(rng.random((N, 1)) < share, 20, axis=1)
        if together
        else rng.random((N, 20)) < share
    ] = np.nan
    found = found_in(np.hstack([chain(rng, N, 4), noise]))
    assert not set(found) & set(range(4))
    assert len(found) >= 17


@pytest.mark.parametrize("heavy", [False, True])
def test_relations_between_cells_that_are_seldom_seen_count(rng, heavy):
    """A tenth of the cells would shrink a correlation to a tenth if all rows were counted."""
    n = 4 * N
    shared = rng.normal(size=(n, 1))
    pair = 0.5 * shared + rng.random((n, 2))
    if heavy:
        pair[:3, 0] = 1e4  # hides the relation until it is clipped
    pair[rng.random(n) < 0.9] = np.nan
    X = np.hstack([chain(rng, n, 4), pair, rng.random((n, 10))])
    X[:3, 4] = 1e4 if heavy else X[:3, 4]
    found = found_in(X)
    assert not set(found) & set(range(6))
    assert len(found) >= 8


def test_few_observed_cells_say_nothing(rng):
    X = np.hstack([chain(rng, N, 4), rng.random((N, 6))])
    X[FEWEST_ROWS - 1 :, 9] = np.nan
    assert 9 not in found_in(X)
    assert set(found_in(X)) & {4, 5, 6, 7, 8}


def test_many_columns_are_compared_with_a_sample(rng, monkeypatch):
    from odefs.selection import noise

    monkeypatch.setattr(noise, "MAX_PARTNERS", 64)
    monkeypatch.setattr(noise, "MAX_CELLS", 2**17)
    X = np.hstack(
        [
            np.repeat(rng.normal(size=(N, 1)), 60, axis=1) + rng.normal(size=(N, 60)),
            rng.random((N, 90)),
        ]
    )
    found = found_in(X)
    assert not set(found) & set(range(60))
    assert len(found) >= 85


@pytest.fixture
def among_noise(rng):
    """Outliers off the diagonal of related columns, among four times as many columns of noise."""
    X = np.hstack([chain(rng, N, 10), rng.random((N, 40))])
    y = np.zeros(N, dtype=bool)
    y[:40] = True
    X[:40, :10] = rng.permuted(X[:40, :10], axis=0) + rng.choice([-1.5, 1.5], size=(40, 10))
    return X, y


def test_noise_hides_less(among_noise):
    from sklearn.metrics import roc_auc_score

    X, y = among_noise
    damped, kept, alone = (
        ODEFS(random_state=0, trust=0.0, noise_columns=choice).fit(part)
        for choice, part in (("damp", X), ("keep", X), ("keep", X[:, :10]))
    )
    auc = [roc_auc_score(y, model.outlier_scores_) for model in (damped, kept, alone)]
    assert auc[0] > auc[1] + 0.03
    assert abs(auc[0] - auc[2]) < 0.02
    assert kept.noise_columns_.size == 0
    assert set(damped.noise_columns_) <= set(range(10, 50))
    assert damped.noise_columns_.size >= 38


def test_a_value_never_seen_is_still_seen_in_a_noise_column(among_noise):
    X, _ = among_noise
    model = ODEFS(random_state=0).fit(X)
    row = np.median(X, axis=0, keepdims=True)
    far = row.copy()
    column = int(model.noise_columns_[0])
    far[0, column] = 1000.0
    usual, unusual = model.outlier_scores(np.vstack([row, far]))
    assert unusual > 10 * usual
    assert model.explain(far).reasons(0)[0][0].column == f"x{column}"


def test_a_noise_column_counts_a_tenth(among_noise):
    X, _ = among_noise
    damped, kept = (
        ODEFS(random_state=0, noise_columns=choice).fit(X) for choice in ("damp", "keep")
    )
    ratio = kept._model.scaling.width / damped._model.scaling.width
    expected = np.ones(50)
    expected[damped.noise_columns_] = DAMPING
    np.testing.assert_allclose(ratio, expected)


def test_the_paper_and_other_scalings(among_noise):
    X, _ = among_noise
    assert ODEFS.paper(random_state=0, n_estimators=2).fit(X).noise_columns_.size == 0
    for scaling in ("minmax", "rootstd", "none"):
        model = ODEFS(
            random_state=0,
            scaling=scaling,
            n_estimators=2,
            trust=0.5,
            selection=FeatureSelection(n_rounds=1),
        ).fit(X)
        assert model.noise_columns_.size >= 38
    with pytest.raises(ValueError, match="noise_columns"):
        ODEFS(noise_columns="drop").fit(X)


def test_any_number_of_threads_and_blocks_of_rows_find_the_same(among_noise):
    from odefs.engines.stream import RowBlocks

    X, _ = among_noise
    models = [ODEFS(random_state=0, n_jobs=jobs).fit(X) for jobs in (1, 2)]
    models.append(ODEFS(random_state=0).fit(RowBlocks.from_arrays([X[:700], X[700:]])))
    for model in models[1:]:
        assert np.array_equal(model.noise_columns_, models[0].noise_columns_)
        assert np.array_equal(model.outlier_scores_, models[0].outlier_scores_)


def test_what_known_outliers_share_is_not_damped(rng):
    from sklearn.metrics import roc_auc_score

    X = np.hstack([chain(rng, N, 5), rng.random((N, 15))])
    y = X[:, 7] > 0.97
    known = np.flatnonzero(y)[:25]
    assert 7 in ODEFS(random_state=0).fit(X).noise_columns_
    model = ODEFS(random_state=0).fit(X, known_outliers=known)
    assert 7 not in model.noise_columns_
    assert model.noise_columns_.size >= 12
    others = np.delete(np.arange(N), known)
    assert roc_auc_score(y[others], model.outlier_scores_[others]) > 0.7
    for none in ([], np.zeros(N, dtype=bool)):
        assert 7 in ODEFS(random_state=0).fit(X, known_outliers=none).noise_columns_


@pytest.mark.parametrize("n_columns", [30, 60])
def test_known_outliers_tell_a_column_from_noise(n_columns):
    """Nothing else does: without them the table looks like noise alone."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, n_columns))
        X[:20, 4] += 2.2
        known = np.arange(10)
        assert not ODEFS(random_state=0).fit(X).noise_columns_.size
        found = ODEFS(random_state=0).fit(X, known_outliers=known).noise_columns_
        assert 4 not in found
        assert found.size > 0.9 * (n_columns - 1)
        ordinary = ODEFS(random_state=0).fit(X, known_outliers=known + 500).noise_columns_
        assert not ordinary.size, "rows that nothing sets apart"


@pytest.mark.slow
@pytest.mark.parametrize("detector", ["iforest", "tails"])
def test_detectors_that_do_not_depend_on_scale_have_none(among_noise, detector):
    X, _ = among_noise
    damped, kept = (
        ODEFS(random_state=0, detector=detector, n_estimators=2, noise_columns=choice).fit(X)
        for choice in ("damp", "keep")
    )
    assert damped.noise_columns_.size == 0
    assert np.array_equal(damped.outlier_scores_, kept.outlier_scores_)


def test_model_files_and_tables_name_them(among_noise, tmp_path):
    import polars as pl

    import odefs

    X, _ = among_noise
    model = ODEFS(random_state=0).fit(X)
    model.save(tmp_path / "model.odefs")
    again = load(tmp_path / "model.odefs")
    assert np.array_equal(again.noise_columns_, model.noise_columns_)
    assert np.array_equal(again.outlier_scores(X), model.outlier_scores_)
    frame = pl.DataFrame({f"c{k}": X[:, k] for k in range(50)})
    found = odefs.detect(frame)
    assert set(found.noise) <= {f"c{k}" for k in range(10, 50)}
    assert len(found.noise) >= 38
    for shown in (found.report().markdown(), found.report().html()):
        assert "Treated as noise" in shown
