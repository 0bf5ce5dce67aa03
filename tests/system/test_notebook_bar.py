"""The progress bar of a notebook cell: what it shows of the stages of a fit."""

import itertools

import numpy as np
import pytest

from odefs import ODEFS, _notebook_bar
from odefs._notebook_bar import NotebookBar, bar
from odefs._progress import listening


class Output:
    """The output of a cell that is redrawn."""

    def __init__(self):
        self.shown = []

    def update(self, bundle, raw):
        self.shown.append(bundle)


@pytest.fixture
def show(monkeypatch):
    """Feed reports to a bar, and return what it has shown."""
    monkeypatch.setattr(_notebook_bar, "INTERVAL", 0.0)

    def shown(reports):
        made = NotebookBar()
        made.handle = output = Output()
        for report in reports:
            made(*report)
        return output.shown

    return shown


def test_the_bar_of_a_stage_does_not_go_back(show):
    reports = [("learn", 0, 0), ("learn", 1, 2), ("learn", 2, 2), ("learn", 1, 8), ("learn", 8, 8)]
    without_length = bar("learn", 0, 0)
    assert show([*reports, ("score", 1, 4)]) == [
        without_length,
        bar("learn", 1, 2),
        bar("learn", 2, 2),
        without_length,
        without_length,
        bar("score", 1, 4),
    ]


def test_passes_that_are_not_drawn_count_too(show, monkeypatch):
    monkeypatch.setattr(_notebook_bar, "INTERVAL", np.inf)
    assert show([("learn", 4, 8), ("learn", 1, 8)]) == [bar("learn", 4, 8)]
    made = NotebookBar()
    made.handle = output = Output()
    made("learn", 1, 2)
    made("learn", 1, 8)
    monkeypatch.setattr(_notebook_bar, "INTERVAL", 0.0)
    made("learn", 6, 8)
    assert output.shown == [bar("learn", 1, 2), bar("learn", 0, 0)]


def test_no_stage_of_a_fit_goes_back(show):
    reports = []
    with listening(lambda *report: reports.append(report)):
        ODEFS(random_state=0).fit(np.random.default_rng(0).normal(size=(3000, 12)))
    parts = [(stage, done / total) for stage, done, total in reports if total]
    pairs = itertools.pairwise(parts)
    assert any(one[0] == other[0] and other < one for one, other in pairs), "several passes"
    texts = [bundle["text/plain"] for bundle in show(reports)]
    shares = {}
    for text in texts:
        stage, _, percent = text.rpartition(": ")
        if stage:
            assert float(percent.rstrip("%")) >= shares.get(stage, 0.0)
            shares[stage] = float(percent.rstrip("%"))
    assert shares
