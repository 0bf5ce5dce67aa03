"""The threshold of ``contamination="auto"``: few flags without outliers, whatever the table."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

import odefs
from odefs import ODEFS, LeSiNN
from odefs.engines.out_of_core import Folder
from odefs.ensemble.flag_threshold import FEWEST_ROWS, clear_outliers, tail_threshold
from odefs.exceptions import TableError
from odefs.kernels import row_reductions
from odefs.tables.answers.apply import with_answers
from odefs.tables.table import table_of


def bulk(n, shape=1.0, scale=0.3, seed=0):
    """Scores of the model: half below 1, the others 1 * exp(scale * z ** shape)."""
    z = np.random.default_rng(seed).normal(size=n)
    return np.exp(scale * np.sign(z) * np.abs(z) ** shape)


@pytest.mark.parametrize("shape", [1.0, 1.5])
@pytest.mark.parametrize("expected", [1, 5, 40])
def test_the_expected_number_of_rows_of_the_model_is_flagged(shape, expected):
    counts = [
        np.count_nonzero(scores > tail_threshold(scores, expected))
        for seed in range(60)
        for scores in [bulk(40_000, shape, seed=seed)]
    ]
    assert 0.7 * expected < np.mean(counts) < 1.7 * expected


def test_the_threshold_is_the_quantile_of_the_model():
    shares = (np.arange(200_000) + 0.5) / 200_000
    scores = np.exp(0.3 * norm.ppf(shares))
    assert tail_threshold(scores, 0.5) == pytest.approx(np.exp(0.3 * norm.isf(0.5 / 2e5)), rel=1e-3)


def test_outliers_do_not_raise_their_own_threshold():
    scores = np.append(bulk(950), np.full(50, 40.0))
    threshold = tail_threshold(scores, 1)
    assert np.count_nonzero(scores[:950] > threshold) <= 2
    assert (scores[950:] > threshold).all()
    assert scores.mean() + 2 * scores.std() > threshold


@pytest.mark.parametrize("k", [1, 2, 7])
def test_at_least_the_allowed_number_is_flagged(k):
    """The k-th highest score of the training rows is exceeded by k of as many new rows."""
    scores = np.linspace(1, 2, 400)
    assert np.count_nonzero(scores > tail_threshold(scores, k)) == k
    pairs = np.repeat(np.linspace(1, 2, 200), 2)
    assert np.count_nonzero(pairs > tail_threshold(pairs, k)) == k + k % 2
    ties = np.minimum(scores, scores[-50])
    assert not (ties > tail_threshold(ties, k)).any()


def test_fractions_flag_less():
    scores = np.linspace(1, 2, 400)
    assert not (scores > tail_threshold(scores, 0.5)).any()


@pytest.mark.parametrize(
    "scores",
    [
        np.linspace(1, 2, FEWEST_ROWS - 1),
        np.append(np.linspace(1, 2, FEWEST_ROWS - 1), np.full(90, np.nan)),
    ],
)
def test_few_rows_have_no_threshold(scores):
    assert tail_threshold(scores, 1) is None


@pytest.mark.parametrize(
    ("scores", "n_flagged"),
    [
        (np.ones(100), 0),
        (np.append(np.ones(95), np.arange(5) + 2.0), 1),
        (np.append(np.zeros(60), np.arange(40) + 1.0), 1),
        (np.append(np.zeros(60), np.ones(40)), 0),
        (np.append(np.full(60, 1e-320), np.full(40, 1e300)), 0),
    ],
)
def test_where_the_bulk_shows_no_spread_only_the_highest_scores_are_flagged(scores, n_flagged):
    assert np.count_nonzero(scores > tail_threshold(scores, 1)) == n_flagged


def test_extreme_settings_stay_finite():
    assert np.isfinite(tail_threshold(np.geomspace(1e-300, 1e300, 100), 5e-324))
    assert tail_threshold(np.linspace(1, 2, 100), 1e9) <= 1.5


def test_rows_without_a_score_do_not_count_and_files_give_the_same(monkeypatch):
    scores = bulk(5000)
    holes = np.full(9000, np.nan)
    holes[np.random.default_rng(1).permutation(9000)[:5000]] = scores
    assert tail_threshold(holes, 3) == tail_threshold(scores, 3)
    in_file = Folder().array(holes.shape, np.float64)
    in_file[:] = holes
    monkeypatch.setattr(row_reductions, "CHUNK_ROWS", 1000)
    assert tail_threshold(in_file, 3) == tail_threshold(scores, 3)


def clean_tables():
    rng = np.random.default_rng(0)
    for n, d in ((300, 4), (1000, 10), (5000, 20)):
        factors = rng.normal(size=(n, 3)) @ rng.normal(size=(3, d))
        yield from (
            rng.normal(size=(n, d)),
            rng.random((n, d)),
            factors + rng.normal(size=(n, d)),
            rng.exponential(size=(n, d)),
            rng.normal(size=(n, d)) + 6 * rng.integers(0, 3, size=(n, 1)),
        )


@pytest.mark.parametrize("estimator", [ODEFS, LeSiNN])
def test_tables_without_outliers_have_few_flags(estimator):
    flagged = [estimator(random_state=0).fit(X).is_outlier_.sum() for X in clean_tables()]
    assert np.median(flagged) <= 2
    assert max(flagged) <= 10


def test_more_are_flagged_if_more_may_be_wrong():
    X = np.random.default_rng(0).normal(size=(2000, 6))
    flags = [
        LeSiNN(max_false_flags=m, random_state=0).fit(X).is_outlier_.sum() for m in (0.1, 1, 10)
    ]
    assert flags == sorted(flags)
    assert flags[-1] >= 10 > flags[0]
    for wrong in (0, -1, float("inf"), "1", True):
        with pytest.raises(ValueError, match="max_false_flags"):
            LeSiNN(max_false_flags=wrong).fit(X)


def test_the_rule_that_was_applied():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    rules = {
        "tail": ODEFS(random_state=0).fit(X),
        "paper": ODEFS(contamination="paper", random_state=0).fit(X),
        "contamination": ODEFS(contamination=0.1, random_state=0).fit(X),
    }
    assert all(model.fit_info_["flag_rule"] == rule for rule, model in rules.items())
    scores = rules["paper"].outlier_scores_
    assert -rules["paper"].offset_ == pytest.approx(scores.mean() + 2 * scores.std())
    assert ODEFS(random_state=0).fit(X[:20]).fit_info_["flag_rule"] == "paper"
    assert ODEFS.paper().contamination == "paper"


def test_small_tables_are_ranked_and_not_judged_by_detect():
    X = np.random.default_rng(0).normal(size=(25, 3))
    X[3] = 30
    found = odefs.detect(X)
    assert found.convention.kind == "too_few_rows"
    assert found.order[0] == 3
    assert not found.is_outlier.any()
    assert odefs.detect(X, flag=1).is_outlier.sum() == 1
    assert ODEFS(random_state=0).fit(X).is_outlier_[3]
    asked = odefs.detect(X, model=ODEFS(contamination="paper", random_state=0))
    assert asked.convention.kind == "paper"
    answered = with_answers(found, [5], [False], table_of(X))
    assert answered.convention.kind == "too_few_rows"
    assert not answered.is_outlier.any()
    assert odefs.detect(np.vstack([X, X + 0.1])).convention.kind == "auto"


def test_detect_passes_the_number_on():
    X = np.random.default_rng(0).normal(size=(500, 3))
    found = odefs.detect(X, max_false_flags=5)
    assert (found.convention.expected, found.convention.n_rows) == (5, 500)
    assert found.n_flagged >= 5
    with pytest.raises(TableError, match="contradict"):
        odefs.detect(X, max_false_flags=5, flag=3)


@pytest.mark.parametrize("n", [100, 3000])
def test_scores_far_above_all_others_are_clear(n):
    scores = bulk(n)
    for k in (1, 2):
        found = clear_outliers(np.append(scores, [9 * scores.max()] * k), 2)
        assert (found.count, found.margin) == (k, pytest.approx(9))
    assert clear_outliers(np.append(scores, [9 * scores.max()] * 3), 2) is None


@pytest.mark.parametrize("shape", [1.0, 1.4, 1.8])
def test_a_score_three_times_the_next_is_clear_whatever_the_tail(shape):
    scores = bulk(1000, shape)
    found = clear_outliers(np.append(scores, 3.5 * scores.max()), 1)
    assert (found.count, found.margin) == (1, pytest.approx(3.5))
    assert clear_outliers(np.append(scores, 1.4 * scores.max()), 1) is None


def test_clear_scores_are_rare_without_outliers():
    kinds = [(100, 1.0), (3000, 1.0), (3000, 1.5)]
    tables = [bulk(n, shape, seed=k) for n, shape in kinds for k in range(60)]
    assert sum(clear_outliers(scores, 1) is not None for scores in tables) <= 2
    assert clear_outliers(np.ones(100), 1) is None
    assert clear_outliers(np.append(bulk(FEWEST_ROWS - 2), 99.0), 1) is None


def test_clear_scores_in_a_file_are_the_same():
    scores = np.append(bulk(1000), [np.nan, 50.0])
    in_file = Folder().array(scores.shape, np.float64)
    in_file[:] = scores
    assert clear_outliers(in_file, 1) == clear_outliers(scores, 1) is not None


def test_the_margin_of_an_endless_score_is_a_number():
    found = clear_outliers(np.append(bulk(99), np.inf), 2)
    assert found.count == 1
    assert np.isfinite(found.margin)


@pytest.mark.parametrize("far", [[], [56.9], [1e300, 1e300]])
def test_a_step_between_equal_rows_is_no_tail(far):
    """Groups of equal rows, the last of them hardly higher than the others."""
    scores = np.r_[np.repeat(np.linspace(0.38, 0.48, 14), 7), far]
    assert (scores > tail_threshold(scores, 1.0)).sum() == len(far)


@pytest.mark.parametrize("n_flagged", [1, 2])
def test_scores_near_the_largest_float_are_divided_between_them(n_flagged):
    """Their sum overflows."""
    scores = np.r_[np.ones(500), 0.6e308, 1.2e308, 1.7e308]
    assert (scores > tail_threshold(scores, n_flagged)).sum() == n_flagged


def test_one_huge_score_hides_no_others():
    rng = np.random.default_rng(0)
    scores = np.r_[rng.lognormal(sigma=0.1, size=1000), 3.0, 3.1, 1e6]
    assert (scores > tail_threshold(scores, 1.0)).sum() in (3, 4)


def with_rows_above(factors):
    """Ordinary scores, and rows at these multiples of the threshold."""
    ordinary = np.sort(bulk(3000, scale=0.1))[:-15]
    scores = ordinary
    for _ in range(50):  # The threshold depends a little on the rows above.
        threshold = tail_threshold(np.append(ordinary, np.full(len(factors), 9.0)), 1)
        scores = np.append(ordinary, threshold * np.asarray(factors))
    return scores


@pytest.mark.parametrize("below", [[], [1.01], [1.005, 1.01]])
def test_a_tie_is_not_flagged_whatever_lies_between(below):
    scores = with_rows_above([*below, *[1.03] * 60])
    assert np.count_nonzero(scores > tail_threshold(scores, 1)) == 0


@pytest.mark.parametrize("expected", [0.05, 0.3])
def test_single_rows_are_no_tie_with_a_fraction(expected):
    scores = bulk(40_000)
    scores[:40] *= np.linspace(2, 12, 40)
    threshold = tail_threshold(scores, expected)
    assert np.count_nonzero((scores > threshold) & (scores < 1.05 * threshold)) > 0


@pytest.mark.parametrize("n_equal", [60, 2900])
def test_a_threshold_lies_between_scores(n_equal):
    """Other processors and ONNX give a score other last digits."""
    scores = with_rows_above([1.03] * 60)
    scores[: n_equal - 60] = scores.max()
    threshold = tail_threshold(scores, 1)
    assert np.abs(scores / threshold - 1).min() > 1e-5


@pytest.mark.parametrize("n_highest", [3, 4, 5])
def test_a_quantile_that_rows_share_is_no_threshold(n_highest):
    scores = np.repeat([1.0, 2.0, 3.0], [20, 10 - n_highest, n_highest])
    threshold = tail_threshold(scores, 3)
    assert np.abs(scores / threshold - 1).min() > 1e-5


@pytest.mark.parametrize(("highest", "n_flagged"), [([12, 12.05], 2), ([12, 12.05, 14], 1)])
def test_rows_that_score_nearly_alike_are_not_divided(highest, n_flagged):
    # 8 is more than half of 12: the gap below the highest scores is no wide one.
    ordinary = np.minimum(bulk(1500, shape=1.8, scale=0.5), 8)
    threshold = tail_threshold(np.append(ordinary, highest), 1)
    assert np.count_nonzero(np.asarray(highest) > threshold) == n_flagged


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def two_groups(n=2000, share=0.1):
    """Scores of which a share lies at twice the others, as with a frequent and a rare category."""
    scores = bulk(n, scale=0.1)
    scores[: int(share * n)] *= 2
    return scores


@pytest.mark.parametrize("n_highest", [2, 5, 10])
def test_a_few_scores_above_a_wide_gap_are_flagged(n_highest):
    """Two groups move the quantiles apart, and the threshold of the model above all scores."""
    scores = np.append(two_groups(), np.linspace(12, 14, n_highest))
    assert np.count_nonzero(scores > tail_threshold(scores, 1)) == n_highest


@pytest.mark.parametrize(("n_highest", "lowest"), [(30, 12.0), (5, 4.0)])
def test_many_scores_and_those_above_a_narrow_gap_are_not(n_highest, lowest):
    scores = np.append(two_groups(), np.linspace(lowest, 1.2 * lowest, n_highest))
    assert np.count_nonzero(scores > tail_threshold(scores, 1)) <= 1


def test_one_outlier_among_noise_columns_is_the_only_flag(rng):
    """The score is then that of one column, which has a heavier tail than a mean of many."""
    flags = []
    for _ in range(3):
        X = rng.normal(size=(1000, 30))
        X[0, 4] += 8
        model = ODEFS(random_state=0).fit(X)
        assert model.noise_columns_.size >= 25
        assert model.is_outlier_[0]
        flags.append(model.is_outlier_.sum())
    assert np.mean(flags) <= 4


def test_a_rare_category_among_independent_numbers_is_no_crowd_of_outliers(rng):
    """All numbers were damped for the category before, and all its rows were flagged."""
    n = 2000
    columns = {f"x{k}": rng.normal(size=n) for k in range(8)}
    columns["kind"] = rng.choice(["a", "b"], n, p=[0.93, 0.07])
    found = odefs.detect(pl.DataFrame(columns))
    assert found.model.noise_columns_.size == 0
    assert found.n_flagged <= 4


def test_a_gap_in_a_small_table_is_chance():
    for n, n_flagged in ((150, 1), (400, 3)):
        scores = two_groups(n)
        scores[: n // 10] *= 3
        scores = np.append(scores, [40.0, 42.0, 44.0])
        assert np.count_nonzero(scores > tail_threshold(scores, 1)) == n_flagged
