"""The script that runs PyOD's tests with the adapters: what it exchanges, and what it reports."""

import os
from pathlib import Path

import pytest
from tests.pyod_suite import ADAPTERS, run_suite

pytestmark = pytest.mark.slow

FOLDER = os.environ.get("ODEFS_PYOD_TESTS")
"""``pyod/test`` of a checkout of PyOD: its packages do not contain its tests."""

OWN = """
import numpy as np
from pyod.models.knn import KNN

X = np.random.default_rng(0).normal(size=(60, 2))

class TestKnn:
    def test_exchanged(self):
        assert KNN.__module__ == "odefs.compat.pyod"
        assert KNN().fit(X).decision_function(X).shape == (60,)

    def test_that_fails(self):
        assert KNN().fit(X).labels_.sum() == 59

class TestKnnMean:
    def test_parameter(self):
        KNN(method="mean")

    def test_another_reason(self):
        raise KeyError("method")

class TestKnnMedian:
    def test_that_passes(self):
        KNN()
"""


def test_failures_are_told_apart(tmp_path):
    (tmp_path / "test_knn.py").write_text(OWN)
    outcomes = run_suite(tmp_path)
    assert {outcome.adapter for outcome in outcomes} == set(ADAPTERS)
    failed = {outcome.test for outcome in outcomes if outcome.failure is not None}
    assert failed == {
        "TestKnn.test_that_fails",
        "TestKnnMean.test_parameter",
        "TestKnnMean.test_another_reason",
    }
    assert {outcome.test for outcome in outcomes if outcome.is_surprise} == {
        "TestKnn.test_that_fails",
        "TestKnnMean.test_another_reason",
        "TestKnnMedian.test_that_passes",
    }


def test_a_folder_without_tests_is_refused(tmp_path):
    with pytest.raises(SystemExit, match=r"test_knn\.py"):
        run_suite(tmp_path)


@pytest.mark.skipif(FOLDER is None, reason="ODEFS_PYOD_TESTS names no checkout of PyOD's tests")
def test_only_what_is_listed_fails():
    assert [outcome for outcome in run_suite(Path(FOLDER)) if outcome.is_surprise] == []
