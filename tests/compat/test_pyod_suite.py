"""The script that runs PyOD's tests with the adapters: what it exchanges, and what it reports."""

import pytest
from tests.pyod_sdist import fetch_tests
from tests.pyod_suite import ADAPTERS, REASONS, run_suite

pytestmark = pytest.mark.slow

TESTS = """
import numpy as np
from pyod.models.knn import KNN

X = np.random.default_rng(0).normal(size=(60, 2))
is_own = KNN.__module__ == "pyod.models.knn"

class TestKnn:
    def test_exchanged(self):
        assert KNN().fit(X).decision_function(X).shape == (60,)

    def test_that_fails(self):
        assert is_own

    def test_that_always_fails(self):
        assert KNN().fit(X).labels_.sum() == 59

class TestKnnMean:
    def test_parameter(self):
        KNN(method="mean")

    def test_another_reason(self):
        if not is_own:
            raise KeyError("method")
"""


def test_failures_are_told_apart(tmp_path):
    (tmp_path / "test_knn.py").write_text(TESTS)
    outcomes = run_suite(tmp_path)
    assert {outcome.adapter for outcome in outcomes} == set(ADAPTERS)
    failed = {outcome.test for outcome in outcomes if outcome.failure is not None}
    assert failed == {
        "TestKnn.test_that_fails",
        "TestKnn.test_that_always_fails",
        "TestKnnMean.test_parameter",
        "TestKnnMean.test_another_reason",
    }
    assert {outcome.test for outcome in outcomes if outcome.is_unexplained} == {
        "TestKnn.test_that_fails",
        "TestKnnMean.test_another_reason",
    }


def test_a_folder_without_tests_is_refused(tmp_path):
    with pytest.raises(SystemExit, match=r"test_knn\.py"):
        run_suite(tmp_path)


def test_every_failure_of_its_tests_has_a_reason(tmp_path):
    outcomes = run_suite(fetch_tests(tmp_path), is_old=True)
    assert [outcome for outcome in outcomes if outcome.is_unexplained] == []
    passed = [outcome for outcome in outcomes if outcome.failure is None]
    assert {outcome.adapter for outcome in passed} == set(ADAPTERS)
    assert len(passed) > len(outcomes) / 2
    # Reasons that nothing fails for would hide a later failure of the adapters.
    assert {outcome.reason for outcome in outcomes} >= set(list(REASONS)[:2])
