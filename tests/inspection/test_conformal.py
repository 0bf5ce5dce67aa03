"""P-values against clean rows: valid whatever the model, and few false discoveries."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import false_discovery_control

import odefs
from command import odefs as run
from odefs.datasets.transactions import transactions_path
from odefs.inspection.conformal import Reference


def test_p_values_count_reference_rows_that_score_as_high():
    reference = Reference.of(np.array([3.0, 1.0, np.nan, 2.0, 2.0]))
    found = reference.p_values(np.array([9.0, 3.0, 2.0, 1.5, 0.5, np.nan]))
    assert np.array_equal(found, [0.2, 0.4, 0.8, 0.8, 1.0, np.nan], equal_nan=True)


@pytest.mark.parametrize("level", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_is_that_of_benjamini_and_hochberg(level, seed):
    rng = np.random.default_rng(seed)
    reference = Reference.of(rng.normal(size=2000).round(1))
    scores = np.append(rng.normal(size=300), rng.normal(4, 1, size=30)).round(1)
    adjusted = false_discovery_control(reference.p_values(scores))
    flagged = scores > reference.threshold(scores, level)
    assert np.array_equal(flagged, adjusted <= level + 1e-12)
    assert 0 < flagged.sum() < 330


def test_nothing_or_all_may_be_flagged():
    reference = Reference.of(np.arange(99.0))
    assert reference.threshold(np.arange(50.0)) == np.inf
    assert (np.full(5, 200.0) > reference.threshold(np.full(5, 200.0))).all()
    with pytest.raises(ValueError, match="level"):
        reference.threshold(np.ones(3), 1.0)
    with pytest.raises(ValueError, match="no reference row"):
        Reference.of(np.full(3, np.nan))


@pytest.mark.parametrize("kind", ["normal", "exponential", "mixed"])
def test_false_alarms_on_new_clean_rows_are_as_frequent_as_the_level(kind):
    """The share at level a varies with both samples: variance a (1 - a) (1 / n + 1 / m)."""
    rng = np.random.default_rng(0)
    X = {
        "normal": rng.normal(size=(3000, 5)),
        "exponential": rng.exponential(size=(3000, 5)),
        "mixed": np.column_stack([rng.normal(size=(3000, 3)), rng.integers(0, 4, (3000, 2))]),
    }[kind]
    model = odefs.ODEFS(random_state=0).fit(X[:1000])
    p = odefs.calibrate(model, X[1000:2000]).p_values(X[2000:])
    for level in (0.01, 0.05, 0.2):
        error = np.sqrt(level * (1 - level) * 2 / 1000)
        assert abs((p <= level).mean() - level) <= 4 * error


def test_pipelines_and_flags():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 4))
    model = odefs.LeSiNN(random_state=0).fit(X[:300])
    new = X[600:].copy()
    new[:20] += 9
    calibration = odefs.calibrate(model, X[300:600])
    flagged = calibration.predict(new) == -1
    assert flagged[:20].all()
    assert flagged[20:].sum() <= 8
    with pytest.raises(TypeError, match="score_samples"):
        odefs.calibrate(object(), X)


@pytest.mark.parametrize("in_parts", [False, True])
def test_score_with_a_reference(tmp_path, in_parts):
    frame = pl.read_csv(transactions_path())
    truth = transactions_path().with_name("transactions_truth.csv")
    odd = frame["transaction"].is_in(pl.read_csv(truth)["transaction"].implode())
    clean = frame.filter(~odd)
    clean[:400].write_csv(tmp_path / "train.csv")
    clean[400:].write_csv(tmp_path / "clean.csv")
    frame.filter(odd).write_csv(tmp_path / "new.csv")
    env = {"ODEFS_IN_PARTS": "1"} if in_parts else {}
    saved = run("detect", "train.csv", "--save", "m.odefs", "--no-report", cwd=tmp_path, **env)
    assert saved.returncode == 0
    scored = run(
        *("score", "m.odefs", "new.csv", "--reference", "clean.csv", "-o", "s.csv", "--no-report"),
        cwd=tmp_path,
        **env,
    )
    assert scored.returncode == 0, scored.stderr
    found = pl.read_csv(tmp_path / "s.csv")
    assert found["p_value"].min() == pytest.approx(1 / (clean.height - 400 + 1))
    assert found.filter(pl.col("outlier") == "yes").height >= 20
    assert (found["percentile"] > 90).sum() >= 20
    for wrong in (
        ["--flag", "3", "--reference", "clean.csv"],
        ["--level", "0.2"],
        ["--reference", "clean.csv", "--max-flagged", "2x"],
        ["--reference", "clean.csv", "-o", "clean.csv", "--force"],
    ):
        refused = run("score", "m.odefs", "new.csv", *wrong, cwd=tmp_path)
        assert refused.returncode == 2


def test_a_calibration_is_shown_in_a_line():
    rows = np.random.default_rng(0).normal(size=(500, 3))
    calibration = odefs.calibrate(odefs.LeSiNN(random_state=0).fit(rows), rows[:120])
    for shown in (repr(calibration), repr(calibration.reference)):
        assert "120" in shown
        assert len(shown) < 80
    assert "LeSiNN" in repr(calibration)
