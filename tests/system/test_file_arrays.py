"""Arrays in temporary files: how long these live, and what other processes get."""

import copy
import gc
import pickle
import subprocess
import sys

import numpy as np
import pytest

from odefs.system.tempfiles import FileArray


def made(folder):
    path = folder / "numbers.bin"
    np.arange(10.0).tofile(path)
    return FileArray(path, np.float64)


@pytest.fixture
def array(tmp_path):
    return made(tmp_path)


def test_the_file_lives_as_long_as_any_view(tmp_path):
    array = made(tmp_path)
    part = array[3:]
    plain = np.asarray(part)[2:]
    del array, part
    gc.collect()
    assert len(list(tmp_path.iterdir())) == 1
    assert plain.tolist() == [5, 6, 7, 8, 9]
    del plain
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_is_in_the_file(array, tmp_path):
    array += 1
    array[0] = -5
    assert type(array) is FileArray
    assert np.fromfile(tmp_path / "numbers.bin").tolist() == [-5, *range(2, 11)]


def test_results_are_plain(array):
    assert isinstance(array.sum(), np.float64)
    assert isinstance(np.max(array), np.float64)
    assert isinstance(array[2], np.float64)
    for found in (
        array + 1,
        array > 3,
        array[array > 3],
        array[[1, 2]],
        np.sqrt(array),
        np.vstack([array, array]),
    ):
        assert type(found) is np.ndarray
    assert np.array_equal(copy.deepcopy(array), array)


def test_a_shape_takes_as_much_as_it_needs(tmp_path):
    (tmp_path / "a").write_bytes(bytes(64))
    assert FileArray(tmp_path / "a", np.float32, (2, 3)).shape == (2, 3)
    (tmp_path / "b").write_bytes(bytes(1))
    assert FileArray(tmp_path / "b", bool, (0,)).shape == (0,)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_it_is_pickled_by_value(array, protocol):
    found = pickle.loads(pickle.dumps(array, protocol))
    assert type(found) is np.ndarray
    assert np.array_equal(found, array)


PARALLEL = """
import numpy as np
from joblib import Parallel, delayed
from odefs import ODEFS
from odefs.engines.stream import RowBlocks

X = np.random.default_rng(0).normal(size=(300_000, 3))

def fitted(X):
    return ODEFS(random_state=0, n_estimators=2, n_jobs=1).fit(RowBlocks.from_arrays([X]))

model = fitted(X)
found = Parallel(n_jobs=2)([
    delayed(lambda X: fitted(X))(X),
    delayed(lambda model, X: model.outlier_scores(RowBlocks.from_arrays([X])))(model, X),
])
assert np.array_equal(found[0].outlier_scores_, model.outlier_scores_)
assert np.array_equal(found[1], model.outlier_scores_)
print("the same")
"""


@pytest.mark.slow
def test_scores_come_back_from_other_processes(tmp_path):
    script = tmp_path / "parallel.py"
    script.write_text(PARALLEL)
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "the same\n", done.stderr
