"""A review learns from answers, and its model, its explanations and its files agree with it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

import odefs
from odefs import ODEFS, LeSiNN, ModelFileError, Review, RowBlocks
from odefs.answers.cells import resemblance

N_OUTLIERS = 30


def two_clusters(seed=0, n_rows=2000):
    """Two small clusters at the same distance from the rest: only the first one is of interest."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    X[:N_OUTLIERS, :2] += 5
    X[N_OUTLIERS : 2 * N_OUTLIERS, 2:4] += 5
    return X


@pytest.fixture(scope="module")
def X():
    return two_clusters()


@pytest.fixture(scope="module")
def model(X):
    return ODEFS(random_state=0).fit(X)


def run(review, looks, is_outlier=lambda row: row < N_OUTLIERS):
    for _ in range(looks):
        row = int(review.next()[0])
        review.tell(row, is_outlier(row))
    return review


@pytest.fixture
def reviewed(model, X):
    return run(Review(model, X), 40)


def test_it_finds_what_the_ranking_does_not_tell_apart(model, X, reviewed):
    by_rank = np.argsort(-model.outlier_scores_, kind="stable")[:40]
    assert (by_rank < N_OUTLIERS).sum() < 25
    assert reviewed.found.size >= N_OUTLIERS - 3


def test_the_queue_has_no_answered_rows_and_ends(model, X):
    few = X[:30]
    review = Review(model, few)
    first = review.next(5)
    assert np.array_equal(first, np.argsort(-model.outlier_scores(few), kind="stable")[:5])
    review.tell(first, [True, False, None, False, True])
    assert not np.intersect1d(review.next(100), first).size
    assert review.next(100).size == 25
    review.tell(review.next(25), [False] * 25)
    assert review.next(3).size == 0
    assert review.found.tolist() == [first[0], first[4]]


def test_a_confirmed_row_rises_and_a_rejected_one_falls(model, X):
    review = Review(model, X)
    before = review.scores.copy()
    np.testing.assert_allclose(before, model.outlier_scores_)
    rows = review.next(2)
    ordinary = int(np.argsort(before)[1000])
    review.tell([ordinary, *rows], [True, False, None])
    after = review.scores
    assert after[ordinary] > before[ordinary]
    assert after[rows[0]] < before[rows[0]]
    assert (after > 0).all()


def test_undo_takes_back_one_answer_after_the_other(model, X):
    review = Review(model, X)
    seen = [review.scores.copy()]
    for row in review.next(4).tolist():
        review.tell(row, row < N_OUTLIERS)
        seen.append(review.scores.copy())
    for scores in seen[-2::-1]:
        review.undo()
        assert np.array_equal(review.scores, scores)
    assert review.undo() is None
    assert review.asked.size == 0


def test_the_order_of_answers_does_not_matter(model, X):
    one, other = Review(model, X), Review(model, X)
    rows = one.next(20)
    answers = (rows < N_OUTLIERS).tolist()
    one.tell(rows, answers)
    for row, answer in list(zip(rows.tolist(), answers, strict=True))[::-1]:
        other.tell(row, answer)
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-8)


def test_a_second_answer_replaces_the_first(model, X):
    review, other = Review(model, X), Review(model, X)
    row = int(review.next()[0])
    review.tell(row, True)
    review.tell(row, False)
    other.tell(row, False)
    assert np.array_equal(review.scores, other.scores)
    assert review.answers == (False,)


def test_its_model_scores_as_the_review_does(reviewed, X, tmp_path):
    learned = reviewed.model()
    np.testing.assert_allclose(learned.outlier_scores(X), reviewed.scores, rtol=1e-12)
    assert learned.outlier_scores(X[5:6])[0] == learned.outlier_scores(X)[5]
    blocks = RowBlocks.from_arrays([X[:700], X[700:]])
    assert np.array_equal(learned.outlier_scores(blocks), learned.outlier_scores(X))
    learned.save(tmp_path / "m.odefs")
    assert np.array_equal(
        odefs.load(tmp_path / "m.odefs").outlier_scores(X), learned.outlier_scores(X)
    )


def test_its_model_ranks_new_rows_better(reviewed, model):
    new = two_clusters(seed=1)
    y = np.arange(len(new)) < N_OUTLIERS
    before = roc_auc_score(y, model.outlier_scores(new))
    assert roc_auc_score(y, reviewed.model().outlier_scores(new)) > before


def test_a_model_that_was_reviewed_can_be_reviewed_again(reviewed, X):
    again = Review(reviewed.model(), X)
    assert np.allclose(again.scores, reviewed.scores)
    row = int(again.next()[0])
    again.tell(row, True)
    assert np.allclose(again.model().outlier_scores(X), again.scores)


def test_explanations_add_up(reviewed, X):
    learned = reviewed.model()
    for explained in (learned.explain(X[:200]), reviewed._model.explain(X[:200])):
        total = 0 if explained.answers is None else explained.answers.total
        scores = (learned if explained.answers is not None else reviewed._model).outlier_scores(
            X[:200]
        )
        np.testing.assert_allclose(explained.values.sum(axis=1) + total, scores, rtol=1e-9)


def test_explanations_name_the_rows_that_were_answered(reviewed, X):
    explained = reviewed.model().explain(X[: 2 * N_OUTLIERS])
    found, rejected = explained.resembles([3, N_OUTLIERS + 3])
    assert found[0].is_outlier
    assert found[0].row < N_OUTLIERS
    assert found[0].amount > 0
    assert not rejected[0].is_outlier
    assert rejected[0].amount < 0
    assert N_OUTLIERS <= rejected[0].row < 2 * N_OUTLIERS
    assert reviewed._model.explain(X[:2]).resembles() == [[], []]
    top = reviewed.model().explain(X[: 2 * N_OUTLIERS], top=2)
    assert top.resembles([3]) == [found]


def test_it_goes_on_after_saving(reviewed, X, tmp_path):
    reviewed.tell(reviewed.next()[0], None)
    reviewed.save(tmp_path / "review.odefs")
    resumed = odefs.load(tmp_path / "review.odefs")
    assert isinstance(resumed, Review)
    assert resumed.answers == reviewed.answers
    assert np.array_equal(resumed.asked, reviewed.asked)
    assert np.array_equal(resumed.scores, reviewed.scores)
    for review in (reviewed, resumed):
        run(review, 10)
    assert np.array_equal(resumed.asked, reviewed.asked)
    assert np.array_equal(resumed.model().outlier_scores(X), reviewed.model().outlier_scores(X))


def test_damaged_files_are_refused(reviewed, tmp_path):
    path = tmp_path / "review.odefs"
    reviewed.save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with pytest.raises(ModelFileError):
        odefs.load(path)


@pytest.fixture
def known(X):
    """A model that was fitted with known cases, and the rows that it knows."""
    return ODEFS(random_state=0).fit(X, known_outliers=np.arange(10))


def test_explanations_of_known_cases_add_up(known, X):
    assert known._model.answers.direction is not None
    explained = known.explain(X[:300])
    np.testing.assert_allclose(
        explained.values.sum(axis=1) + explained.answers.total,
        known.outlier_scores(X[:300]),
        rtol=1e-9,
    )
    np.testing.assert_array_equal(explained.answers.direction, explained.answers.total)
    assert explained.resembles(0) == [[]], "known outliers alone say nothing of their cells"


def test_known_cases_raise_their_kind_and_lower_no_row(known, model, X):
    before, after = model.outlier_scores(X), known.outlier_scores(X)
    assert (after[10:N_OUTLIERS] > before[10:N_OUTLIERS]).all()
    ordinary = np.median(after[2 * N_OUTLIERS :] / before[2 * N_OUTLIERS :])
    assert ordinary == pytest.approx(1, abs=0.05)
    assert known.is_outlier_[N_OUTLIERS : 2 * N_OUTLIERS].mean() > 0.8


def test_a_model_with_answers_reviews_another_table(known, reviewed):
    other = 2 * np.random.default_rng(5).normal(size=(50, 8))
    for model in (known, reviewed.model()):
        review = Review(model, other)
        np.testing.assert_allclose(review.scores, model.outlier_scores(other), rtol=1e-12)
        review.tell(review.next()[0], None)
        np.testing.assert_allclose(review.scores, model.outlier_scores(other), rtol=1e-12)


def test_rows_that_the_model_knows_are_not_asked_again(reviewed, X):
    again = Review(reviewed.model(), X)
    told = [row for row, answer in zip(reviewed.asked, reviewed.answers, strict=True)]
    assert not np.intersect1d(again.next(500), told).size
    again.tell(told[0], not reviewed.answers[0])
    numbers = again.model()._model.answers.numbers
    assert (numbers == told[0]).sum() == 1


def test_its_model_has_no_scores_of_training_rows(reviewed):
    with pytest.raises(AttributeError, match="outlier_scores"):
        _ = reviewed.model().outlier_scores_
    assert reviewed._model.outlier_scores_.size


def test_undo_restores_an_answer_that_was_changed(model, X):
    review = Review(model, X)
    rows = review.next(2).tolist()
    review.tell(rows, [True, False])
    before = review.scores
    review.tell(rows[0], False)
    assert review.undo() == rows[0]
    assert review.answers == (True, False)
    assert np.array_equal(review.scores, before)


def test_undo_restores_every_earlier_answer(model, X):
    review = Review(model, X)
    told = [(5, True), (7, False), (5, False), (7, None), (5, None), (7, True), (7, False)]
    seen = []
    for row, answer in told:
        seen.append((review.asked.tolist(), review.answers))
        review.tell(row, answer)
    for (row, _), before in zip(told[::-1], seen[::-1], strict=True):
        assert review.undo() == row
        assert (review.asked.tolist(), review.answers) == before
    assert review.undo() is None


def test_unused_columns_do_not_decide_with_missing_cells(X):
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    review = Review(ODEFS(missing="ignore", random_state=0).fit(holes), holes)
    group = review._learner.draws.groups[-1]
    draw = group.rows.reshape(group.size, group.n_draws, -1)[:, 0]
    used = (draw != 0).any(axis=0)
    assert 0 < used.sum() < used.size
    rows = np.where(used, holes[:100], np.nan)
    with_all, with_used = (group.of_block(part.astype(float))[0] for part in (holes[:100], rows))
    seen = ~np.isnan(rows).all(axis=1)
    assert np.array_equal(with_all[seen], with_used[seen])


def test_threads_of_blas_do_not_matter(model, X):
    from threadpoolctl import threadpool_limits

    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(run(Review(model, X), 60).scores)
    assert np.array_equal(*found)


@pytest.mark.parametrize(
    "estimator", [LeSiNN(random_state=0), ODEFS(detector="iforest", random_state=0)]
)
def test_every_estimator_can_be_reviewed(estimator, X):
    review = run(Review(estimator.fit(X[:600]), X[:600]), 30)
    assert review.found.size > 15


def test_missing_cells_and_sparse_rows(X):
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    review = run(Review(ODEFS(missing="ignore", random_state=0).fit(holes), holes), 40)
    assert review.found.size > N_OUTLIERS / 2
    np.testing.assert_allclose(review.model().outlier_scores(holes), review.scores)
    rows = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    dense, thin = (
        run(Review(ODEFS(random_state=0).fit(rows), given), 15) for given in (rows.toarray(), rows)
    )
    assert np.array_equal(dense.asked, thin.asked)


def test_tables_have_reviews():
    import polars as pl

    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"kind": rng.choice(list("abc"), 300), "x": rng.normal(size=300)})
    found = odefs.detect(frame)
    review = found.review()
    assert review.next()[0] == found.order[0]
    review.tell(review.next(3), [True, False, None])
    assert review.model().outlier_scores(found.X).shape == (300,)


def test_resemblance_is_the_share_of_equal_cells():
    cells = np.array([[0, 1, 0], [2, 2, 3]], dtype=np.uint8)
    assert resemblance(cells, cells[:, 0]).tolist() == [1.0, 0.5, 0.5]


@pytest.mark.parametrize("n_draws", [255, 256, 65_535, 65_536, 70_000])
def test_resemblance_has_any_number_of_draws(n_draws):
    """A crafted file may have more than any review draws."""
    cells = np.zeros((n_draws, 2), dtype=np.uint8)
    cells[0, 1] = 1
    assert resemblance(cells, cells[:, 0]).tolist() == [1.0, (n_draws - 1) / n_draws]


@pytest.mark.parametrize(
    ("rows", "answers", "said"),
    [
        ([1, 2], [True], "1 answers for 2 rows"),
        ([1], ["maybe"], "'maybe' is not True, False or None"),
        (4, 1, "1 is not True, False or None"),
        ([1, 1], [True, False], "named twice"),
        ([5000], [True], "5000"),
    ],
)
def test_wrong_answers_are_refused(model, X, rows, answers, said):
    review = Review(model, X)
    with pytest.raises((ValueError, IndexError), match=said):
        review.tell(rows, answers)
    assert review.asked.size == 0


def test_crafted_reviews_are_refused(reviewed, known, X, tmp_path):
    """A review whose draws are not those of its model's answers."""
    review = Review(known, X)
    review._learner.draws = reviewed._learner.draws
    review.save(tmp_path / "review.odefs")
    with pytest.raises(ModelFileError, match="draws"):
        odefs.load(tmp_path / "review.odefs")


def test_only_rows_in_memory_are_reviewed(model, X):
    with pytest.raises(TypeError, match="RowBlocks"):
        Review(model, RowBlocks.from_arrays([X]))
    for n in (0, 2.5):
        with pytest.raises(ValueError, match="whole number"):
            Review(model, X[:20]).next(n)


def test_other_models_are_refused(X):
    with pytest.raises(TypeError, match="a fitted estimator of odefs"):
        Review(object(), X)
    with pytest.raises(NotFittedError):
        Review(ODEFS(), X)


def test_onnx_says_that_answers_are_left_out(reviewed):
    pytest.importorskip("onnx")
    with pytest.warns(odefs.ODEFSWarning, match="learned from answers"):
        odefs.export_onnx(reviewed.model())


def test_rows_go_by_the_names_that_the_detection_takes():
    import polars as pl

    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"key": [f"k{k}" for k in range(300)], "x": rng.normal(size=300)})
    named = odefs.detect(frame, id="key").review()
    named.tell("k7", True)
    named.tell(["k9", "k8"], [False, None])
    assert named.asked.tolist() == [7, 9, 8]
    assert named.similar("k7") == named.similar(7)
    with pytest.raises(ValueError, match="'k300'"):
        named.tell("k300", True)
    sorted_frame = pd.DataFrame({"x": rng.normal(size=300)}, index=np.arange(1000, 1300))
    found = odefs.detect(sorted_frame)
    by_label = found.review()
    by_label.tell(found.top(2).index, [True, False])
    assert by_label.asked.tolist() == found.order[:2].tolist()
    texts = pd.DataFrame(two_clusters(n_rows=100)).set_axis([f"r{k}" for k in range(100)])
    review = Review(LeSiNN(random_state=0).fit(texts), texts)
    review.tell("r4", True)
    assert review.found.tolist() == [4]
    with pytest.raises(ValueError, match="no labels"):
        odefs.detect(frame.drop("key")).review().tell("k7", True)


def test_a_loaded_review_has_no_names(tmp_path):
    """They would be ids in a file that otherwise holds few rows of the table."""
    X = two_clusters(n_rows=100)
    labels = [f"r{k}" for k in range(100)]
    found = odefs.detect(pd.DataFrame(X).set_axis(labels))
    review = found.review()
    review.tell("r4", True)
    review.save(tmp_path / "r.odefs")
    loaded = odefs.load(tmp_path / "r.odefs")
    with pytest.raises(ValueError, match="no labels"):
        loaded.tell("r5", True)
    loaded.tell(5, False)
    assert loaded.asked.tolist() == [4, 5]
    assert found.with_answers(loaded).n_rows == 100
