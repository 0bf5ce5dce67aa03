"""Scores of pilot rows that are known are kept, and change no bit of any score."""

from dataclasses import dataclass

import numpy as np
import pytest

from odefs import ODEFS, FeatureSelection
from odefs.detectors import Detector, LeSiNNDetector
from odefs.engines.in_memory import InMemoryEngine
from odefs.ensemble.component import unweighted_component
from odefs.ensemble.engine import KnownRawScores
from odefs.ensemble.model import raw_scores
from odefs.ensemble.pilot import PilotSample
from odefs.scaling import fit_scaling

DETECTOR = LeSiNNDetector(n_subsets=7)


@pytest.fixture
def table():
    """An engine with its scaling, and two components."""
    rng = np.random.default_rng(0)
    engine = InMemoryEngine(rng.normal(size=(2500, 6)), n_jobs=2)
    scaling = fit_scaling(engine.ranges(), "minmax")
    components = []
    for _ in range(2):
        references = engine.take(DETECTOR.sample(engine.n_rows, rng), scaling)
        components.append(unweighted_component(DETECTOR, references, np.arange(6), rng))
    return engine, scaling, components


@pytest.mark.parametrize("n_known", [1, 300, 2499, 2500])
def test_known_rows_are_left_out(table, n_known):
    engine, scaling, components = table
    rows = np.sort(np.random.default_rng(1).choice(engine.n_rows, n_known, replace=False))
    expected = engine.raw_scores(scaling, DETECTOR, components)
    known = raw_scores(components[1], DETECTOR, engine.take(rows, scaling))
    found = KnownRawScores(rows, lambda one: known if one is components[1] else None)
    scores = engine.complete_scores(scaling, DETECTOR, components, found)
    np.testing.assert_array_equal(scores, expected)


def test_kept_scores_are_not_computed_again(table, monkeypatch):
    engine, scaling, components = table
    numbers = np.arange(0, engine.n_rows, 2)
    X = engine.take(numbers, scaling)
    few = np.arange(0, numbers.size, 5)
    expected = PilotSample(engine, DETECTOR, numbers, X, few).few_scores(components)
    pilot = PilotSample(engine, DETECTOR, numbers, X, few)
    assert pilot.known_scores().raw(components[0]) is None
    pilot.scores(components, keep=True)
    monkeypatch.setattr("odefs.ensemble.pilot.raw_scores", None)
    np.testing.assert_array_equal(pilot.few_scores(components), expected)
    np.testing.assert_array_equal(
        pilot.known_scores().raw(components[1]), raw_scores(components[1], DETECTOR, X)
    )


@dataclass(frozen=True)
class Squares(Detector):
    """Squares of the values. Its state is one object for all components, or another for each."""

    name = "squares"
    shared: bool = True

    def prepare(self, rows, rng, w=None):
        return None if self.shared else np.zeros(1)

    def linearise(self, X, state, w=None):
        return X.astype(float) ** 2


@pytest.mark.parametrize("trust", ["auto", 0.5])
def test_a_state_that_all_components_share_changes_no_result(trust):
    X = np.random.default_rng(0).normal(size=(800, 40))
    X[:15, [3, 7]] += 6
    selection = FeatureSelection(column_weights="equal")
    shared, own = (
        ODEFS(detector=Squares(shared), trust=trust, selection=selection, random_state=0).fit(X)
        for shared in (True, False)
    )
    for what in ("trust", "stopping"):
        assert shared.fit_info_[what] == own.fit_info_[what]
    np.testing.assert_array_equal(shared.outlier_scores_, own.outlier_scores_)
