"""Known cases: their effect on a fit, invalid ones, and all engines, frames and the command."""

import json
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate

import odefs
from command import odefs as run
from command import read
from odefs import ODEFS
from odefs.engines.stream import RowBlocks
from odefs.ensemble import trainer
from odefs.ensemble.component import draw_outliers
from odefs.ensemble.trust import KNOWN_GAIN, measured_trust
from odefs.experiments.accuracy.run import MAX_KNOWN, auc_with_known, draw_known
from odefs.selection.candidates import FEWEST, find_candidates

pytestmark = pytest.mark.filterwarnings("ignore::odefs.ODEFSWarning")


@pytest.fixture(scope="module")
def hidden():
    """Outliers in two of 40 columns, hardly visible on all columns, and a louder unrelated kind."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1200, 40))
    X[:40, 5:7] += 2.6
    X[40:80, 20:30] *= 2.2
    return X


def drawn_rows(monkeypatch, *args, **kwargs):
    """The draws of all components of a fit."""
    draws = []
    plain = trainer.draw_component

    def spy(*arguments):
        draws.append(plain(*arguments))
        return draws[-1]

    with monkeypatch.context() as patch:
        patch.setattr(trainer, "draw_component", spy)
        model = ODEFS(random_state=0).set_params(**kwargs.pop("settings", {})).fit(*args, **kwargs)
    return draws, model


@pytest.mark.parametrize(
    "settings", [{}, {"selection__n_rounds": 1}, {"selection__n_rounds": 3, "n_estimators": 4}]
)
def test_every_component_learns_from_the_known_outliers_and_from_no_known_normal_row(
    settings, hidden, monkeypatch
):
    bad, good = np.arange(0, 12), np.arange(40, 80)
    draws, model = drawn_rows(
        monkeypatch,
        hidden,
        known_outliers=bad,
        known_normal=good,
        settings={"trust": 1.0, **settings},
    )
    assert draws
    for draw in draws:
        assert np.isin(bad, draw.outliers).all()
        assert np.unique(draw.outliers).size == draw.outliers.size
        assert not np.isin(draw.outliers, good).any()
    assert np.isin(bad, model.candidate_indices_).all()
    assert not np.isin(good, model.candidate_indices_).any()
    assert model.fit_info_["known"] == {"outliers": 12, "normal": 40}


def test_more_known_outliers_than_examples_are_drawn_among(hidden, monkeypatch):
    bad = np.arange(40)
    draws, _ = drawn_rows(
        monkeypatch,
        hidden,
        known_outliers=bad,
        settings={"trust": 1.0, "selection__n_outlier_examples": 8, "n_estimators": 6},
    )
    assert all(draw.outliers.size == 8 and np.isin(draw.outliers, bad).all() for draw in draws)
    assert np.unique(np.concatenate([draw.outliers for draw in draws])).size > 20


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 30), st.integers(0, 20), st.integers(0, 2**32 - 1), st.data())
def test_draws_hold_the_known_ones_first(n_candidates, n_known, seed, data):
    rng = np.random.default_rng(seed)
    known = np.sort(rng.choice(100, n_known, replace=False))
    candidates = np.union1d(rng.choice(100, n_candidates, replace=False), known)
    size = data.draw(st.integers(1, candidates.size))
    drawn = draw_outliers(candidates, known, size, rng)
    assert drawn.size == np.unique(drawn).size == size
    assert np.isin(drawn, candidates).all()
    assert np.isin(drawn, known).sum() == min(size, n_known)


def test_rows_that_are_never_candidates():
    scores = np.arange(100.0)
    never = np.arange(90, 100)
    found = find_candidates(scores, 1.0, never)
    assert not np.isin(found.rows, never).any()
    assert found.rows.tolist() == list(range(79, 90))
    found = find_candidates(scores, 50.0, never)
    assert found.rows.tolist() == list(range(90 - FEWEST, 90))
    assert find_candidates(scores, 1.0, np.arange(95)).rows.tolist() == list(range(95, 100))


def test_known_cases_raise_the_rank_of_their_kind(hidden):
    rest, y = np.arange(12, 1200), np.r_[np.ones(28), np.zeros(1160)]

    def mean_place(model):
        ranks = model.outlier_scores_[rest].argsort().argsort() / rest.size
        return ranks[y == 1].mean()

    without = mean_place(ODEFS(random_state=0).fit(hidden))
    told = ODEFS(random_state=0).fit(
        hidden, known_outliers=np.arange(12), known_normal=np.arange(60, 72)
    )
    assert mean_place(told) > without + 0.02
    assert "known outliers" in told.fit_info_["trust"]["message"]
    assert told.feature_importances_.argsort()[-2:].tolist() in ([5, 6], [6, 5])
    assert {5, 6} <= set(told._model.answers.direction.columns.tolist())


def test_wrong_cases_do_little_harm(hidden):
    """Rows at random have no direction, and do not raise the trust."""
    found = 0
    for seed in range(5):
        rows = np.random.default_rng(seed).choice(np.arange(40, 1200), 10, replace=False)
        told = ODEFS(random_state=0).fit(hidden, known_outliers=rows)
        found += told._model.answers.direction is not None or told.trust_ > 0
    assert found <= 1


def test_known_outliers_may_raise_trust_and_never_lower_it():
    low, high = KNOWN_GAIN
    for contrast, stability in ((1.0, 0.5), (1.7, 0.9), (3.0, 1.0)):
        plain = measured_trust(contrast, stability, 1.0).share
        shares = [measured_trust(contrast, stability, 1.0, gain).share for gain in (low, 0.0, high)]
        assert shares == sorted(shares)
        assert shares[0] == plain
        assert shares[-1] == 1.0


def test_a_mask_is_as_good_as_numbers_and_nothing_known_changes_nothing(hidden):
    bad, good = np.arange(5), np.arange(50, 60)
    a = ODEFS(random_state=0).fit(hidden, known_outliers=bad, known_normal=good)
    masks = np.isin(np.arange(1200), bad), np.isin(np.arange(1200), good)
    b = ODEFS(random_state=0).fit(hidden, None, *(mask.tolist() for mask in masks))
    assert np.array_equal(a.outlier_scores_, b.outlier_scores_)
    plain = ODEFS(random_state=0).fit(hidden).outlier_scores_
    assert not np.array_equal(a.outlier_scores_, plain)
    for empty in ([], np.zeros(1200, dtype=bool)):
        again = ODEFS(random_state=0).fit(
            hidden, y=np.ones(1200), known_outliers=empty, known_normal=empty
        )
        assert np.array_equal(again.outlier_scores_, plain)
    flags = ODEFS(random_state=0).fit_predict(hidden, known_outliers=bad, known_normal=good)
    assert np.array_equal(flags == -1, a.is_outlier_)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (
            {"known_outliers": [500]},
            "known_outliers holds 500, but the 500 rows are numbered 0 to 499",
        ),
        ({"known_normal": [3, -1]}, "known_normal holds -1"),
        (
            {"known_outliers": [1, 2, 3], "known_normal": [2, 3]},
            "row 2 and 1 more is in known_outliers and in known_normal",
        ),
        ({"known_outliers": [0.5]}, "known_outliers holds 0.5, a float"),
        ({"known_outliers": ["a"]}, "known_outliers holds 'a', but the rows have no labels"),
        ({"known_normal": "abc"}, "known_normal holds 'abc', but the rows have no labels"),
        ({"known_normal": {1, 2}}, "known_normal is of type set"),
        ({"known_outliers": np.ones((500, 1), dtype=bool)}, "known_outliers has 2 dimensions"),
        ({"known_outliers": [[1], [2, 3]]}, "known_outliers has more than one dimension"),
        (
            {"known_outliers": [True, False]},
            "known_outliers is a boolean mask of length 2, but the table has 500 rows",
        ),
        ({"known_outliers": np.arange(500) % 2}, "pass y == 1, or"),
        ({"known_normal": np.where(np.arange(500) < 9, -1, 1)}, "pass y == -1, or"),
        ({"known_normal": np.ones(500, dtype=bool)}, "known_normal holds all rows"),
    ],
)
def test_what_is_refused_in_a_sentence(known, message, noisy):
    for rows in (noisy, RowBlocks.from_arrays([noisy])):
        with pytest.raises((ValueError, TypeError), match=message):
            ODEFS(random_state=0).fit(rows, **known)


@pytest.mark.parametrize(
    "settings",
    [{}, {"selection__normalization_rows": 300}, {"trust": 0.5, "selection__n_rounds": 1}],
)
def test_engines_agree(settings, hidden):
    known = {"known_outliers": np.arange(7), "known_normal": np.arange(50, 60)}
    here, there = (ODEFS(random_state=0).set_params(**settings) for _ in range(2))
    here.fit(hidden, **known)
    there.fit(RowBlocks.from_arrays([hidden[:500], hidden[500:]]), **known)
    assert np.array_equal(there.outlier_scores_, here.outlier_scores_)
    assert there.trust_ == here.trust_


@pytest.mark.slow
def test_torch_agrees(hidden):
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'odefs[gpu]'")
    known = {"known_outliers": np.arange(7), "known_normal": np.arange(50, 60)}
    here = ODEFS(random_state=0).fit(hidden, **known)
    there = ODEFS(random_state=0, engine="torch:cpu").fit(hidden, **known)
    np.testing.assert_allclose(there.outlier_scores_, here.outlier_scores_, rtol=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_dask_agrees(hidden):
    pytest.importorskip("distributed")
    import dask.array as da

    from odefs.engines.dask import local_client

    known = {"known_outliers": np.arange(7), "known_normal": np.arange(50, 60)}
    here = ODEFS(random_state=0).fit(hidden, **known)
    with local_client(2):
        there = ODEFS(random_state=0).fit(da.from_array(hidden, chunks=(500, 40)), **known)
    np.testing.assert_allclose(there.outlier_scores_, here.outlier_scores_, rtol=1e-6)


def test_the_paper_takes_them_too_and_files_keep_the_count(hidden, tmp_path):
    model = ODEFS.paper(random_state=0).fit(hidden, known_outliers=np.arange(6))
    assert model.trust_ == 1.0
    assert model.fit_info_["trust"]["known_gain"] is None
    model.save(tmp_path / "m.odefs")
    loaded = odefs.load(tmp_path / "m.odefs")
    assert loaded.fit_info_["known"] == {"outliers": 6, "normal": 0}
    assert np.array_equal(loaded.outlier_scores(hidden), model.outlier_scores_)


class Noting(ODEFS):
    """Notes the rows that it is told of."""

    told: ClassVar[list] = []

    def fit(self, X, y=None, known_outliers=None, known_normal=None):
        self.told.append(X[known_outliers, 0].tolist())
        return super().fit(X, y, known_outliers, known_normal)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("way", ["search", "cross-validation"])
def test_truth_values_follow_their_rows_into_folds(routing, way):
    X = np.random.default_rng(0).normal(size=(90, 3))
    X[:, 0] = np.arange(90)
    y = np.where(np.arange(90) % 9 == 0, -1, 1)
    known = np.isin(np.arange(90), [9, 45])
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    Noting.told.clear()
    with config_context(enable_metadata_routing=routing):
        model = Noting(n_estimators=2, random_state=0)
        if routing:
            model.set_fit_request(known_outliers=True)
        if way == "search":
            search = GridSearchCV(
                model,
                {"trust": [1.0]},
                scoring="roc_auc",
                cv=folds,
                refit=False,
                error_score="raise",
            )
            search.fit(X, y, known_outliers=known)
        else:
            params = {"known_outliers": known}
            cross_validate(
                model, X, y, params=params, scoring="roc_auc", cv=folds, error_score="raise"
            )
    expected = [[float(row) for row in (9, 45) if row in train] for train, _ in folds.split(X, y)]
    assert Noting.told == expected


def test_callbacks_see_the_same_fit(hidden):
    callback = pytest.importorskip("sklearn.callback")
    model = ODEFS(random_state=0).set_callbacks(callback.ProgressBar())
    model.fit(hidden, known_outliers=np.arange(6))
    assert model.fit_info_["known"]["outliers"] == 6


def test_the_measure(hidden):
    y = np.r_[np.ones(40, dtype=int), np.zeros(1160, dtype=int)]
    few, many = draw_known(y, 5, 0), draw_known(y, MAX_KNOWN, 0)
    assert [part.size for part in few] == [3, 2]
    assert [part.size for part in many] == [10, 10]
    assert all(np.isin(a, b).all() for a, b in zip(few, many, strict=True))
    assert y[few[0]].all()
    assert not y[few[1]].any()
    values = [auc_with_known(hidden, y, n, 0) for n in (0, 5, 20)]
    assert values[2] > values[0] + 0.02


def test_frames_by_position(hidden):
    import pandas as pd

    frame = pd.DataFrame(hidden, index=np.arange(1200)[::-1] + 7)
    found = odefs.detect(frame, known_outliers=list(range(6)), known_normal=[100])
    assert found.model.fit_info_["known"] == {"outliers": 6, "normal": 1}
    assert np.isin(np.arange(6), found.model.candidate_indices_).all()
    with pytest.raises(ValueError, match="known_outliers holds 5000"):
        odefs.detect(frame, known_outliers=[5000])


def table(X, known):
    columns = {f"c{k}": X[:, k] for k in range(8)}
    return pl.DataFrame(
        columns
        | {"verdict": known, "truth": np.r_[np.ones(40, dtype=int), np.zeros(1160, dtype=int)]}
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        (1, 0, None),
        ("yes", "no", ""),
        ("TRUE", "false", None),
        (1.0, 0.0, None),
        (True, False, None),
    ],
)
def test_the_command_line(words, hidden, tmp_path):
    cells = [words[0]] * 6 + [words[2]] * 94 + [words[1]] * 5 + [words[2]] * 1095
    frame = table(hidden, cells)
    frame.write_csv(tmp_path / "t.csv")
    done = run(
        "detect",
        "t.csv",
        "--known",
        "verdict",
        "--label",
        "truth",
        "--json",
        "-o",
        "s.csv",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (note,) = [note for note in told["notes"] if note["kind"] == "known_cases"]
    assert (note["column"], note["count"], note["n_normal"]) == ("verdict", 6, 5)
    assert "verdict" not in told["columns_used"]
    bare = frame.drop("verdict", "truth")
    found = odefs.detect(bare, known_outliers=range(6), known_normal=range(100, 105))
    np.testing.assert_allclose(
        [float(row["score"]) for row in read(tmp_path / "s.csv")], found.scores, rtol=1e-9
    )
    rest = np.r_[6:100, 105:1200]
    from sklearn.metrics import roc_auc_score

    expected = roc_auc_score((rest < 40).astype(int), found.scores[rest])
    assert told["labels"]["auc"] == pytest.approx(expected), "measured on the rows that nobody knew"


def test_the_command_line_on_a_file_that_does_not_fit(hidden, tmp_path):
    frame = table(hidden, [1] * 6 + [None] * 94 + [0] * 5 + [None] * 1095).drop("truth")
    frame.write_parquet(tmp_path / "t.parquet")
    done = run(
        "detect", "t.parquet", "--known", "verdict", "-o", "s.csv", cwd=tmp_path, ODEFS_IN_PARTS="1"
    )
    assert done.returncode == 0, done.stderr
    assert "verdict: 6 known outliers, 5 known to be ordinary" in done.stdout
    found = odefs.detect(
        frame.drop("verdict"), known_outliers=range(6), known_normal=range(100, 105)
    )
    np.testing.assert_allclose(
        [float(row["score"]) for row in read(tmp_path / "s.csv")], found.scores, rtol=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("value", ["maybe", "2", "-1", "0.5"])
def test_other_values_are_named(value, large, hidden, tmp_path):
    cells = ["1", "0", *[None] * 5, value, *[None] * 1192]
    table(hidden, cells).write_csv(tmp_path / "t.csv")
    memory = {"ODEFS_IN_PARTS": "1"} if large else {}
    done = run("detect", "t.csv", "--known", "verdict", cwd=tmp_path, **memory)
    assert done.returncode == 1
    assert all(fact in done.stderr for fact in ("'verdict'", f"'{value}'", "row 8"))
    assert "Traceback" not in done.stderr


def test_wrong_usage(hidden, tmp_path):
    table(hidden, [None] * 1200).write_csv(tmp_path / "t.csv")
    assert (
        "there is no column 'nobody'"
        in run("detect", "t.csv", "--known", "nobody", cwd=tmp_path).stderr
    )
    for option in ("--label", "--id"):
        assert (
            run("detect", "t.csv", "--known", "truth", option, "truth", cwd=tmp_path).returncode
            == 2
        )
    done = run("detect", "t.csv", "--known", "verdict", "--no-report", cwd=tmp_path)
    assert "verdict: no known cases" in done.stdout
