"""Compiled kernel against NumPy and the plain formula, on every instruction set available."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command import messages, odefs
from locations import ROOT
from odefs import ODEFS, LeSiNN
from odefs.detectors import LeSiNNDetector
from odefs.kernels import compiled, shared_library
from odefs.kernels.compiled import mean_nearest, mean_squares, pack_references

LEVELS = shared_library.levels_here()
KERNELS = ("numpy", *LEVELS)
TOLERANCE = {np.float64: 1e-9, np.float32: 1e-5}


def score(name, detector, X, state, w=None, columns=None):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ODEFS_KERNEL", name)
        return (
            detector.score(X, state, w)
            if columns is None
            else detector.score_columns(X, columns, state, w)
        )


def formula(X, references, n_subsets, w):
    """``naive.lesinn`` for the root of distances, quick enough for 300 columns."""
    out = []
    for x in X.astype(float):
        parts = (x - references.astype(float)) ** 2 * w
        covered = (~np.isnan(parts) * w).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = np.nansum(parts, axis=1) * (w.sum() / covered)
        nearest = np.where(covered > 0, squares, np.inf).reshape(-1, n_subsets).min(axis=0)
        known = np.isfinite(nearest)
        out.append(np.sqrt(nearest[known]).mean() if known.any() else np.nan)
    return np.array(out)


def make(kind, shape, rng):
    if kind == "ties":
        return rng.integers(0, 3, shape).astype(float)
    if kind == "duplicates":
        return rng.normal(size=(3, shape[1]))[rng.integers(0, 3, shape[0])]
    if kind == "extreme":
        return rng.normal(size=shape) * 10.0 ** rng.integers(-6, 7, shape[1])
    return rng.normal(size=shape)


@settings(max_examples=100, deadline=None)
@given(
    kind=st.sampled_from(["normal", "ties", "duplicates", "extreme"]),
    n_rows=st.integers(1, 300),
    n_columns=st.integers(1, 70),
    n_subsets=st.integers(1, 9),
    size=st.integers(1, 9),
    weighted=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_training_sees_the_same_squares(kind, n_rows, n_columns, n_subsets, size, weighted, seed):
    """Every kernel takes the first of the nearest members.

    Squares of differences are exact, while products lose digits in large columns.
    """
    rng = np.random.default_rng(seed)
    rows = make(kind, (n_rows + n_subsets * size, n_columns), rng)
    X, references = rows[:n_rows], rows[n_rows:]
    w = (
        np.where(rng.random(n_columns) < 0.3, 0.0, rng.random(n_columns))
        if weighted
        else np.ones(n_columns)
    )
    detector = LeSiNNDetector(n_subsets, size)
    state = detector.prepare(references, rng)
    found = {}
    for name in KERNELS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ODEFS_KERNEL", name)
            found[name] = detector.linearise(X, state, w if weighted else None)
    tolerance = 1e-12 * np.square(np.abs(rows).max(axis=0))
    distances = np.stack([np.square(X - reference) @ w for reference in references], axis=1)
    nearest = distances.reshape(n_rows, size, n_subsets).min(axis=1).mean(axis=1)
    for name in KERNELS:
        assert (np.abs(found[name] - found["numpy"]) <= tolerance + 1e-9 * found["numpy"]).all(), (
            name
        )
        scale = 1e-9 * nearest + 1e-10 * (np.square(np.abs(rows).max(axis=0)) @ w)
        assert (np.abs(found[name] @ w - nearest) <= scale).all(), name


@pytest.mark.parametrize("level", LEVELS)
def test_training_squares_refuse_arrays_that_do_not_fit(level):
    x, r, norms = np.zeros((3, 2)), np.zeros((4, 2)), np.zeros((2, 2))
    squares, slack, out = np.zeros((3, 4)), np.zeros(3), np.zeros((3, 2))
    for wrong in ((squares[:, :3], slack, out), (squares, slack[:2], out), (squares, slack, out.T)):
        with pytest.raises(ValueError, match="consistent shapes"):
            mean_squares(level, wrong[0], norms, wrong[1], x, r, wrong[2])


def test_it_is_built_where_there_is_a_compiler():
    assert LEVELS or not any(map(shutil.which, ("cc", "gcc", "clang")))


@settings(max_examples=150, deadline=None)
@given(
    n=st.integers(1, 40),
    d=st.one_of(st.integers(1, 40), st.integers(1, 300)),
    size=st.integers(1, 9),
    n_subsets=st.integers(1, 50),
    kind=st.sampled_from(["normal", "ties", "duplicates", "extreme"]),
    missing=st.sampled_from([(0.0, 0.0), (0.2, 0.0), (0.0, 0.3), (0.9, 0.5)]),
    weighted=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**32 - 1),
)
def test_kernels_agree(n, d, size, n_subsets, kind, missing, weighted, dtype, seed):
    rng = np.random.default_rng(seed)
    both = make(kind, (n + size * n_subsets, d), rng).astype(dtype)
    X, rows = both[:n].copy(), both[n:].copy()
    X[rng.random(X.shape) < missing[0]] = np.nan
    rows[rng.random(rows.shape) < missing[1]] = np.nan
    # Weights of at least 0.1: smaller ones on extreme columns would need more digits than float32
    # has.
    w = rng.uniform(0.1, 1, size=d) if weighted else None
    detector = LeSiNNDetector(n_subsets=n_subsets, subset_size=size)
    state = detector.prepare(rows, rng)
    expected = formula(X, rows, n_subsets, np.ones(d) if w is None else w)
    size_of_values = float(np.nanmax(np.abs(both), initial=1.0))
    for name in LEVELS:
        scores = score(name, detector, X, state, w)
        # Duplicates under weights are apart by the rounding of their products, or not at all.
        np.testing.assert_allclose(
            scores,
            expected,
            rtol=TOLERANCE[dtype],
            atol=np.finfo(dtype).eps * size_of_values,
            err_msg=name,
        )
    np.testing.assert_allclose(
        score("numpy", detector, X, state, w),
        expected,
        rtol=1e-4 if dtype == np.float32 else 1e-6,
        atol=1e-6,
    )


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["normal", "binary"])
def test_expanded_squares_that_cancel_are_computed_directly(name, dtype, kind):
    """Rows on and near references, among rows far from all: expansions must be exact for these."""
    rng = np.random.default_rng(5)
    rows = (
        rng.normal(size=(80, 20))
        if kind == "normal"
        else (rng.random((80, 20)) < 0.5).astype(float)
    )
    rows = rows.astype(dtype)
    detector = LeSiNNDetector(n_subsets=10, subset_size=8)
    state = detector.prepare(rows, rng)
    assert state.packed(None, False).product is not None
    X = np.concatenate(
        [rows, rows * dtype(1 + 1e-3), rows + dtype(1e-4), rng.normal(size=(50, 20)).astype(dtype)]
    )
    X = X[rng.permutation(len(X))]
    expected = formula(X, rows, 10, np.ones(20))
    np.testing.assert_allclose(score(name, detector, X, state), expected, rtol=TOLERANCE[dtype])
    squares = LeSiNNDetector(n_subsets=1, subset_size=80).prepare(rows, rng)
    assert (score(name, LeSiNNDetector(n_subsets=1, subset_size=80), rows, squares) == 0).all()


def test_squares_are_expanded_only_where_few_cancel():
    rng = np.random.default_rng(6)
    spread, clustered = rng.normal(size=(80, 20)), rng.normal(size=(3, 20))[rng.integers(0, 3, 80)]
    assert compiled.pack_references(spread, 10).product is not None
    assert compiled.pack_references(clustered, 10).product is None


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_a_row_has_the_same_bits_wherever_it_stands(name, dtype, holes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 23)).astype(dtype)
    X[rng.random(X.shape) < holes] = np.nan
    detector = LeSiNNDetector(n_subsets=13, subset_size=7)
    references = X[detector.sample(200, rng)]
    for rows in (references, np.nan_to_num(references)):
        state = detector.prepare(rows, rng)
        for w in (None, rng.random(23)):
            together = score(name, detector, X, state, w)
            for start, stop in [
                (0, 1),
                (3, 5),
                (7, 24),
                (31, 64),
                (40, 105),
                (150, 200),
                (199, 200),
            ]:
                assert np.array_equal(
                    score(name, detector, X[start:stop], state, w), together[start:stop]
                )


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_are_picked_from_any_layout(name, dtype):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 31)).astype(dtype)
    columns = rng.permutation(31)[:12]
    detector = LeSiNNDetector(n_subsets=5, subset_size=8)
    for hole in (False, True):
        if hole:
            X[::7, columns[3]] = np.nan
        rows = np.nan_to_num(X[detector.sample(90, rng)][:, columns])
        state = detector.prepare(rows, rng)
        expected = score(name, detector, np.ascontiguousarray(X[:, columns]), state)
        wide = np.zeros((180, 62), dtype=dtype)
        wide[::2, ::2] = X
        packed = np.zeros(90, dtype=[("odd", "u1"), ("row", dtype, 31)])
        packed["row"] = X
        for block in (
            X,
            np.asfortranarray(X),
            wide[::2, ::2],
            X[::-1][::-1],
            packed["row"],
            X.astype(np.float64),
        ):
            assert np.array_equal(score(name, detector, block, state, None, columns), expected)


@pytest.mark.parametrize("name", KERNELS)
def test_a_reference_is_at_distance_zero_from_itself(name):
    rng = np.random.default_rng(3)
    X = (1e4 + rng.random((8, 6))).astype(np.float32)
    detector = LeSiNNDetector(n_subsets=1, subset_size=8)
    state = detector.prepare(X, rng)
    assert (score(name, detector, X, state) == 0).all()


@pytest.mark.parametrize("name", KERNELS)
def test_models_agree_whatever_the_kernel(name, monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 30))
    X[:30, :3] += 5
    for make_model in (
        lambda: ODEFS(n_estimators=4, random_state=0),
        lambda: LeSiNN(random_state=0),
    ):
        monkeypatch.setenv("ODEFS_KERNEL", "numpy")
        expected = make_model().fit(X)
        monkeypatch.setenv("ODEFS_KERNEL", name)
        one, two = (make_model().set_params(n_jobs=n).fit(X) for n in (1, 2))
        np.testing.assert_allclose(one.outlier_scores_, expected.outlier_scores_, rtol=1e-6)
        assert np.array_equal(one.is_outlier_, expected.is_outlier_)
        assert np.array_equal(one.outlier_scores_, two.outlier_scores_)
        assert np.array_equal(one.outlier_scores(X[:1]), one.outlier_scores(X)[:1])


def test_columns_outside_the_block_are_refused():
    detector = LeSiNNDetector(n_subsets=2, subset_size=2)
    state = detector.prepare(np.zeros((4, 3)), np.random.default_rng(0))
    for name in KERNELS:
        with pytest.raises(IndexError):
            score(name, detector, np.zeros((5, 4)), state, None, np.array([0, 1, 4]))
    for name in LEVELS:
        with pytest.raises(ValueError, match=r"4 columns.*3"):
            score(name, detector, np.zeros((5, 4)), state)


@pytest.mark.skipif(not LEVELS, reason="the kernel was not built")
@pytest.mark.parametrize("name", sorted(set(shared_library.LEVELS) - set(LEVELS)))
def test_instruction_sets_of_other_processors_are_refused(name):
    rows = np.zeros((4, 3))
    with pytest.raises(ValueError, match=name):
        mean_nearest(rows, pack_references(rows, 2), level=name, root=True)
    norms, slack, out = np.zeros((2, 2)), np.zeros(4), np.zeros((4, 3))
    with pytest.raises(ValueError, match=name):
        mean_squares(name, np.zeros((4, 4)), norms, slack, rows, rows, out)


def test_the_choice_can_be_forced_and_is_shown(monkeypatch):
    from odefs.versions import collect_versions

    monkeypatch.setenv("ODEFS_KERNEL", "numpy")
    assert shared_library.level_for(10) is None
    assert collect_versions()["kernel"].startswith("numpy")
    for name in LEVELS:
        monkeypatch.setenv("ODEFS_KERNEL", name)
        assert shared_library.level_for(10_000) == name
        assert name in collect_versions()["kernel"]
    monkeypatch.setenv("ODEFS_KERNEL", "fortran")
    assert "fortran" in collect_versions()["kernel"], "bug reports name what was asked for"
    monkeypatch.delenv("ODEFS_KERNEL")
    by_default = collect_versions()["kernel"]
    monkeypatch.setenv("ODEFS_KERNEL", "auto")
    assert collect_versions()["kernel"] == by_default
    monkeypatch.delenv("ODEFS_KERNEL")
    here = shared_library.levels_here()
    assert shared_library.level_for(10_000) is None
    assert shared_library.level_for(10) == (here[-1] if here else None)


UNAVAILABLE = ("fortran", *(name for name in shared_library.LEVELS if name not in LEVELS))


@pytest.mark.parametrize("name", UNAVAILABLE)
def test_a_kernel_that_cannot_run_here_is_refused_before_the_work(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ODEFS_KERNEL", name)
    with pytest.raises(ValueError, match=f"ODEFS_KERNEL='{name}'.*use one of auto, numpy"):
        shared_library.level_for(10)
    done = odefs("detect", "missing.csv", cwd=tmp_path)
    assert done.returncode == 2
    (sentence,) = messages(done)
    assert f"ODEFS_KERNEL='{name}'" in sentence
    assert ".csv" not in sentence


def test_the_tests_are_not_run_under_a_kernel_that_cannot_run_here(tmp_path):
    line = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        str(Path(__file__).with_name("test_stable_products.py")),
    ]
    done = subprocess.run(
        line,
        cwd=ROOT,
        env={**os.environ, "ODEFS_KERNEL": "fortran"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "ODEFS_KERNEL='fortran'" in done.stdout + done.stderr
    assert "passed" not in done.stdout
