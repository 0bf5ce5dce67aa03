"""The kept corpus and some mutated files: used or rejected, within time and memory.

``make fuzz`` tries many more.
"""

import pytest

import fuzz.supervise as supervise
from fuzz.mutate import mutant, run, summary
from fuzz.supervise import Supervisor
from fuzz.targets import judge, seeds
from odefs.exceptions import ModelFileError, TableError

KINDS = ("models", "csv")


@pytest.mark.parametrize("kind", KINDS)
def test_every_file_of_the_corpus_is_used_or_refused(kind):
    with Supervisor(kind) as supervisor:
        outcomes = {name: supervisor.outcome(content) for name, content in seeds(kind).items()}
    assert {name: outcome.said for name, outcome in outcomes.items() if outcome.is_finding} == {}
    verdicts = {outcome.verdict for outcome in outcomes.values()}
    assert verdicts == {"accepted", "refused"}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_files"), [("models", 400), ("csv", 250)])
def test_mutated_files_are_used_or_refused(kind, n_files):
    tally = run(kind, n_files, seed=1)
    assert [(number, outcome.said) for number, _, outcome in tally.findings] == []
    assert tally.counts["accepted"] > 0.1 * n_files
    assert tally.counts["refused"] > 0.1 * n_files
    assert f"{n_files}" in summary(kind, tally)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_files_again(kind):
    files = list(seeds(kind).values())
    first = [mutant(kind, 3, number, files) for number in range(40)]
    assert [mutant(kind, 3, number, files) for number in range(40)] == first
    assert len(set(first)) > 30
    assert mutant(kind, 4, 0, files) != first[0]


@pytest.mark.slow
def test_crashes_hangs_memory_and_foreign_errors_are_seen(monkeypatch):
    monkeypatch.setattr(supervise, "MEMORY", 500_000_000)
    monkeypatch.setattr(supervise, "PATIENCE", 8.0)
    orders = ("work", "refuse", "fail", "die", "grow", "hang", "work")
    with Supervisor("orders") as supervisor:
        outcomes = [supervisor.outcome(order.encode()) for order in orders]
    assert [outcome.verdict for outcome in outcomes] == [
        *("accepted", "refused", "error", "crash", "memory", "hang", "accepted"),
    ]
    assert "KeyError" in outcomes[2].said


def raising(error):
    def use(path):
        raise error

    return use


@pytest.mark.parametrize("error", [TableError("no."), ModelFileError("no.")])
def test_the_projects_own_sentences_are_refusals(error, tmp_path):
    assert judge(raising(error), tmp_path) == "no."


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no."),
        TypeError("no."),
        MemoryError(),
        TableError(""),
        TableError("two\nlines"),
        TableError("x" * 3000),
    ],
)
def test_nothing_else_is(error, tmp_path):
    with pytest.raises(type(error)):
        judge(raising(error), tmp_path)
