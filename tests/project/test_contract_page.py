"""Page of scikit-learn's checks: it agrees with the records, and the runner finds failures."""

import pytest
from benchmarks.contract import SUBJECTS, Subject, run_checks, run_missing
from benchmarks.contract_page import REQUIREMENTS, write_page
from benchmarks.records import read_records
from sklearn.base import BaseEstimator

from locations import ROOT
from odefs import LeSiNN

RECORDS = read_records(ROOT / "results" / "contract.jsonl")


def test_the_committed_page_is_what_the_committed_records_say(tmp_path):
    assert (
        write_page(RECORDS, tmp_path).read_text()
        == (ROOT / "docs" / "explanation" / "contract.md").read_text()
    )


def test_the_records_hold_every_estimator_and_ours_fail_nothing():
    held = {(record["library"], record["estimator"]) for record in RECORDS}
    assert held == {(subject.library, subject.shown) for subject in SUBJECTS}
    for record in RECORDS:
        failed = {name for name, status, _ in record["checks"] if status == "failed"}
        assert failed <= set(REQUIREMENTS), "a failed check without words on the page"
        if record["library"] == "odefs" and not record["estimator"].startswith("compat.pyod"):
            assert not failed, record["estimator"]
            assert sum(status == "passed" for _, status, _ in record["checks"]) > 40


class Careless(BaseEstimator):
    """Does something in its constructor, and fits whatever it is given."""

    def __init__(self):
        self.made = True

    def fit(self, X, y=None):
        return self


def test_the_runner_finds_faults():
    found = {name: (status, said) for name, status, said in run_checks(Careless())}
    assert found["check_no_attributes_set_in_init"][0] == "failed"
    assert "made" in found["check_no_attributes_set_in_init"][1]
    assert found["check_estimators_nan_inf"][0] == "failed"
    assert found["check_estimator_cloneable"][0] == "passed"


def test_what_the_checks_cannot_begin_with_is_one_failure():
    (line,) = run_checks(object())
    assert line[:2] == ["check_estimator", "failed"]


def test_what_is_known_is_not_run_again_and_what_is_missing_is_told(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "benchmarks.contract.run_checks", lambda estimator: asked.append(estimator) or []
    )
    subjects = [
        Subject("odefs", "LeSiNN()", "odefs", "LeSiNN"),
        Subject("nonesuch", "Forest()", "nonesuch", "Forest"),
    ]
    for _ in range(2):
        (left,) = run_missing(subjects, tmp_path / "records.jsonl")
        assert "nonesuch" in left
    assert [type(one) for one in asked] == [LeSiNN]


@pytest.mark.parametrize(
    "subject", [s for s in SUBJECTS if s.library == "odefs"], ids=lambda s: s.shown
)
def test_estimators_are_made_as_they_are_shown(subject):
    made = subject.make()
    assert type(made).__name__ in subject.shown
