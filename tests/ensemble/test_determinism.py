"""One seed, one result: whatever the threads, the batch, the place in it."""

import threading

import numpy as np
import pytest

from odefs import ODEFS, LeSiNN
from odefs.detectors import IForestDetector
from odefs.system import threads


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 25))
    X[:60, :3] += 5
    return X


MODELS = {
    "ODEFS": lambda **k: ODEFS(random_state=3, **k),
    "paper": lambda **k: ODEFS.paper(random_state=3, **k),
    "iforest": lambda **k: ODEFS(
        detector=IForestDetector(n_trees=20), n_estimators=2, random_state=3, **k
    ),
    "tails": lambda **k: ODEFS(detector="tails", random_state=3, **k),
    "relations": lambda **k: ODEFS(detector="relations", random_state=3, **k),
    "auto": lambda **k: ODEFS(detector="auto", scaling="robust", random_state=3, **k),
    "LeSiNN": lambda **k: LeSiNN(random_state=3, **k),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_do_not_depend_on_threads(name, dtype, X):
    X = X.astype(dtype)
    one, many = MODELS[name](n_jobs=1).fit(X), MODELS[name](n_jobs=5).fit(X)
    assert np.array_equal(one.outlier_scores_, many.outlier_scores_)
    assert one.offset_ == many.offset_
    assert np.array_equal(one.explain(X[:50]).values, many.explain(X[:50]).values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_alone_has_the_bits_it_has_in_the_crowd(dtype, X):
    X = X.astype(dtype)
    model = LeSiNN(random_state=0).fit(X)
    assert [model.outlier_scores(row[None])[0] for row in X[:100]] == model.outlier_scores_[
        :100
    ].tolist()


@pytest.mark.parametrize("name", MODELS)
def test_a_score_does_not_depend_on_the_batch(name, X):
    model = MODELS[name]().fit(X)
    together = model.outlier_scores(X)
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_allclose(model.outlier_scores(X[order]), together[order], rtol=1e-6)
    for size in (1, 7, 1000):
        starts = range(0, min(len(X), 20 * size), size)
        parts = np.concatenate([model.outlier_scores(X[s : s + size]) for s in starts])
        np.testing.assert_allclose(parts, together[: len(parts)], rtol=1e-6)


def test_seeds_matter_and_repeat(X):
    a, b, c = (ODEFS(random_state=seed).fit(X).outlier_scores_ for seed in (0, 0, 1))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_a_component_does_not_depend_on_how_many_there_are(X):
    few, many = (ODEFS(n_estimators=n, random_state=0).fit(X) for n in (2, 5))
    assert np.array_equal(few.feature_weights_, many.feature_weights_[:2])


def test_blas_is_pinned_while_anyone_works_and_freed_after():
    def blas_threads():
        return {
            pool["num_threads"]
            for pool in threads.ThreadpoolController().info()
            if pool["user_api"] == "blas"
        }

    before = blas_threads()
    entered, leave = threading.Event(), threading.Event()

    def work():
        with threads.one_blas_thread():
            entered.set()
            leave.wait(10)

    other = threading.Thread(target=work)
    with threads.one_blas_thread():
        other.start()
        assert entered.wait(10)
        assert blas_threads() == {1}
    assert blas_threads() == {1}, "the other thread still works"
    leave.set()
    other.join()
    assert blas_threads() == before


def test_thread_counts(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 8)
    monkeypatch.setattr(threads, "cpu_quota", lambda: None)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)
    assert [threads.available_threads(n) for n in (None, 3, -1, -2)] == [8, 3, 8, 7]
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert threads.available_threads(None) == 2
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "4")
    assert [threads.available_threads(n) for n in (None, 5, -1)] == [4, 5, 4]
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT")
    monkeypatch.setattr(threads, "cpu_quota", lambda: 3)
    assert [threads.available_threads(n) for n in (None, 5, -1)] == [3, 5, 3]


def test_cores_are_those_that_joblib_counts_before_container_limits():
    import joblib

    assert 1 <= joblib.cpu_count() <= threads.usable_cores()
    assert threads.available_threads() <= threads.usable_cores()


def test_concurrent_fits_agree(X):
    results = [None, None]

    def fit(i):
        results[i] = ODEFS(random_state=0, n_jobs=2).fit(X).outlier_scores_

    workers = [threading.Thread(target=fit, args=(i,)) for i in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert np.array_equal(*results)
