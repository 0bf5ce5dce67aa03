"""Model files: saved models load bit for bit; damaged, foreign or crafted files are rejected."""

import copy
import json
import os
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass, fields, make_dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import odefs
from locations import GOLDEN
from odefs import ODEFS, FeatureSelection, LeSiNN, ModelFileError, TableEncoder
from odefs.baselines import CINFO, DisFS, RandFS, RegFS
from odefs.detectors import Detector, IForestDetector, LeSiNNDetector, TailsDetector
from odefs.models.base import OF_TRAINING_ROWS
from odefs.models.files import read_model, save_model
from odefs.persist.file_format import PREAMBLE, replace_file
from odefs.tables.encoder.encode import ColumnSpec

FEW = {"n_estimators": 3, "random_state": 0}


def estimators():
    return {
        "default": ODEFS(random_state=0),
        "paper": ODEFS.paper(**FEW),
        "weighted": ODEFS(selection=FeatureSelection(column_weights="learned"), **FEW),
        "shared": ODEFS(
            selection=FeatureSelection(reference_rows="shared", metric="sqeuclidean"),
            scaling="none",
            **FEW,
        ),
        "settings": ODEFS(detector=LeSiNNDetector(10, 4), contamination=0.1, **FEW),
        "iforest": ODEFS(detector=IForestDetector(n_trees=10, subset_size=32), **FEW),
        "tails": ODEFS(detector="tails", **FEW),
        "coupling": ODEFS(detector="coupling", **FEW),
        "relations": ODEFS(detector="relations", **FEW),
        "robust": ODEFS(scaling="robust", **FEW),
        "auto": ODEFS(detector="auto", **FEW),
        "tails-weighted": ODEFS(
            detector=TailsDetector(100), selection=FeatureSelection(column_weights="learned"), **FEW
        ),
        "bare": LeSiNN(random_state=0),
        "randfs": RandFS(random_state=0),
        "regfs": RegFS(random_state=0, groups=[[0, 1]]),
        "disfs": DisFS(random_state=0),
        "cinfo": CINFO(random_state=0),
    }


def saved(model, tmp_path, name="model.odefs"):
    model.save(tmp_path / name)
    return odefs.load(tmp_path / name)


def assert_same(model, loaded, X):
    for method in ("score_samples", "decision_function", "predict", "outlier_scores"):
        np.testing.assert_array_equal(getattr(model, method)(X), getattr(loaded, method)(X))
    ours, theirs = model.explain(X), loaded.explain(X)
    for name in ("values", "baseline", "feature_names"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    top = model.explain(X, top=2), loaded.explain(X, top=2)
    np.testing.assert_array_equal(top[0].values, top[1].values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", estimators())
def test_everything_but_the_training_rows_comes_back_bit_for_bit(name, dtype, noisy, tmp_path):
    X = noisy.astype(dtype)
    model = estimators()[name].fit(X)
    loaded = saved(model, tmp_path)
    assert_same(model, loaded, X)
    assert_same(model, loaded, X[:3].astype(np.float64) + 0.1)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    # Whoever adds an attribute decides here whether files hold it.
    assert vars(model).keys() - vars(loaded).keys() <= set(OF_TRAINING_ROWS)
    for attribute, value in vars(model).items():
        if attribute.endswith("_") and attribute in vars(loaded) and attribute != "fit_info_":
            np.testing.assert_equal(getattr(loaded, attribute), value)
    np.testing.assert_equal(loaded.fit_info_, model.fit_info_)
    clone(loaded).set_params(contamination=0.2).fit(X)
    loaded.save(tmp_path / "again.odefs")
    assert (tmp_path / "again.odefs").read_bytes() == (tmp_path / "model.odefs").read_bytes()


@pytest.mark.parametrize("detector", ["lesinn", "iforest", "tails", "coupling", "relations"])
def test_missing_cells(detector, noisy, tmp_path):
    X = noisy.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    X[7] = np.nan
    model = ODEFS(detector=detector, missing="ignore", n_estimators=2, random_state=0).fit(X)
    assert_same(model, saved(model, tmp_path), X)


def test_binary_columns_and_feature_names(tmp_path):
    table = np.random.default_rng(0).random((300, 6)) < 0.3
    frame = pd.DataFrame(table, columns=["a", "ü", "tab\t\N{BUG}", "", "[x]", "f"]).astype(np.int8)
    model = ODEFS(**FEW).fit(frame)
    loaded = saved(model, tmp_path)
    assert_same(model, loaded, frame)
    assert list(loaded.feature_names_in_) == list(frame.columns)
    assert loaded.feature_names_in_.dtype == object
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "b"}))


@pytest.mark.slow
@pytest.mark.parametrize("detector", ["lesinn", "iforest", "tails", "coupling", "relations"])
@pytest.mark.parametrize("scaling", ["robust", "rootstd", "none"])
def test_whatever_can_be_fitted_can_be_saved(detector, scaling, tmp_path):
    rng = np.random.default_rng(0)
    tables = [
        np.array([[0.0], [1.0]]),
        np.ones((50, 3)),
        np.where(rng.random((100, 3)) < 0.5, -1.7e308, 1.7e308),
        rng.normal(size=(100, 3)) * 1e-322,
        rng.integers(-(2**62), 2**62, (100, 3)),
        sparse.random(100, 40, density=0.1, format="csr", random_state=0),
    ]
    for X in tables:
        model = ODEFS(detector=detector, scaling=scaling, n_estimators=2, random_state=0).fit(X)
        loaded = saved(model, tmp_path)
        np.testing.assert_array_equal(model.outlier_scores(X), loaded.outlier_scores(X))
        np.testing.assert_array_equal(model.explain(X).values, loaded.explain(X).values)


def test_equal_models_give_equal_bytes(noisy, tmp_path):
    for name in ("a", "b"):
        ODEFS(**FEW).fit(noisy).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_model_written_elsewhere_scores_the_same_here(noisy, tmp_path):
    script = (
        "import numpy, odefs, sys; X = numpy.load('X.npy'); model = "
        "odefs.ODEFS(random_state=0).fit(X);"
        "model.save('m.odefs'); numpy.save('scores.npy', model.outlier_scores(X))"
    )
    np.save(tmp_path / "X.npy", noisy)
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], cwd=tmp_path, check=True)
    loaded = odefs.load(str(tmp_path / "m.odefs"))
    np.testing.assert_array_equal(loaded.outlier_scores(noisy), np.load(tmp_path / "scores.npy"))


def test_the_file_does_not_grow_with_the_rows(tmp_path):
    rng = np.random.default_rng(0)
    sizes = []
    for n_rows in (1000, 4000):
        LeSiNN(random_state=0).fit(rng.normal(size=(n_rows, 4))).save(tmp_path / "m.odefs")
        sizes.append((tmp_path / "m.odefs").stat().st_size)
    assert abs(sizes[0] - sizes[1]) < 100


def test_attributes_of_the_training_rows_say_where_they_are(noisy, tmp_path):
    loaded = saved(ODEFS(**FEW).fit(noisy), tmp_path)
    for name in OF_TRAINING_ROWS:
        assert not hasattr(loaded, name)
        with pytest.raises(
            AttributeError, match=rf"from a file or a review has no {name}.*outlier_scores\(X\)"
        ):
            getattr(loaded, name)
    with pytest.raises(AttributeError, match="'ODEFS' object has no attribute 'nonsense'"):
        _ = loaded.nonsense
    for twin in (copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        assert_same(loaded, twin, noisy)
    assert loaded.fit(noisy).outlier_scores_.shape == (500,)
    with pytest.raises(AttributeError, match="has no attribute 'candidate_indices_'"):
        _ = saved(LeSiNN().fit(noisy), tmp_path).fit(noisy).candidate_indices_


def test_weights_of_all_columns_come_back(noisy, tmp_path):
    model = ODEFS(**FEW).fit(noisy)
    model.feature_weights_[0, :3] = -0.0, 1e-310, 1.5
    assert saved(model, tmp_path).feature_weights_.tobytes() == model.feature_weights_.tobytes()


def test_what_cannot_be_saved_says_so(noisy, tmp_path):
    class Mine(ODEFS):
        pass

    path = tmp_path / "m.odefs"
    with pytest.raises(NotFittedError):
        ODEFS().save(path)
    with pytest.raises(TypeError, match="Mine cannot be saved"):
        Mine(**FEW).fit(noisy).save(path)
    wrapper = SimpleNamespace(estimator_=ODEFS(**FEW).fit(noisy))
    with pytest.raises(TypeError, match=r"SimpleNamespace cannot be saved.*Save its estimator_"):
        save_model(wrapper, path)
    with pytest.raises(ValueError, match="breadth_first"):
        RandFS(combination="breadth_first").fit(noisy).save(path)
    with pytest.raises(ValueError, match="trust=7"):
        ODEFS(**FEW).fit(noisy).set_params(trust=7).save(path)
    model = ODEFS(**FEW).fit(noisy)
    model.fit_info_["thing"] = object()
    with pytest.raises(TypeError, match=r"fit_info_\['thing'\] is of type object"):
        model.save(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("generator", [np.random.RandomState(0), np.random], ids=["own", "global"])
def test_a_generator_is_not_stored(generator, noisy, tmp_path):
    model = ODEFS(n_estimators=2, random_state=generator).fit(noisy)
    assert saved(model, tmp_path).random_state is None


# Beside the model


def test_callers_store_their_own_beside_the_model(noisy, tmp_path):
    model = LeSiNN(random_state=0).fit(noisy)
    extra = {"columns": ["a", None, 1.5, {"deep": [True, -3]}], "text": "ü\n", "big": 2**70}
    arrays = {
        "codes": np.arange(6, dtype=np.uint16).reshape(2, 3).T,
        "none": np.empty((0, 3)),
        "one": np.float32(2),
    }
    save_model(model, tmp_path / "m", extra=extra, extra_arrays=arrays)
    back = read_model(tmp_path / "m")
    assert back.extra == extra
    assert back.header["kind"] == "LeSiNN"
    assert back.header["versions"]["numpy"] == np.__version__
    assert back.extra_arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        found = back.extra_arrays[name]
        assert found.dtype == np.asarray(array).dtype
        assert found.flags.f_contiguous == np.asarray(array).flags.f_contiguous
        np.testing.assert_array_equal(found, array)
        assert found.ctypes.data % 64 == 0
    assert_same(model, back.estimator, noisy)
    assert read_model(GOLDEN / "v1-bare.odefs").extra is None


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ([], "extra is of type list"),
        ({"a": (1, 2)}, r"extra\['a'\] is of type tuple"),
        ({"a": [np.float64(1)]}, r"extra\['a'\]\[0\] is of type float64"),
        ({"a": float("nan")}, r"extra\['a'\] is nan"),
        ({1: 2}, "key 1"),
    ],
)
def test_what_stands_beside_must_be_plain(extra, sentence, noisy, tmp_path):
    with pytest.raises((TypeError, ValueError), match=sentence):
        save_model(LeSiNN().fit(noisy), tmp_path / "m", extra=extra)
    with pytest.raises(TypeError, match="extra/names is an array of object"):
        save_model(
            LeSiNN().fit(noisy),
            tmp_path / "m",
            extra_arrays={"names": np.array(["a"], dtype=object)},
        )
    assert list(tmp_path.iterdir()) == []


# Custom detectors


@dataclass(frozen=True, eq=False)
class Middle:
    centre: np.ndarray
    power: float
    scale: np.float32
    nothing: None = None


@dataclass(frozen=True)
class FromMiddle(Detector):
    factor: float = 1.0
    name: ClassVar[str] = "from_middle"

    def prepare(self, rows, rng, w=None) -> Middle:
        return Middle(np.median(rows, axis=0), 2.0, np.float32(self.factor))

    def linearise(self, X, state, w=None):
        return (np.abs(X - state.centre) ** state.power * state.scale).astype(float)


class Unannotated(FromMiddle):
    def prepare(self, rows, rng, w=None):
        return super().prepare(rows, rng, w)


class Pair(Detector):
    name = "pair"

    def prepare(self, rows, rng, w=None):
        return np.median(rows, axis=0), (1.5, "x")

    def linearise(self, X, state, w=None):
        return (np.abs(X - state[0]) * state[1][0]).astype(float)


class Times(Pair):
    name = "times"

    def __init__(self, factor):
        self.factor = factor
        self._calls = 0

    def linearise(self, X, state, w=None):
        self._calls += 1
        return super().linearise(X, state, w) * self.factor


class MyLeSiNN(LeSiNNDetector):
    pass


@pytest.mark.parametrize("detector", [FromMiddle(), Unannotated(), Pair(), MyLeSiNN(10, 4)])
def test_a_custom_detector_is_handed_over(detector, noisy, tmp_path):
    model = ODEFS(detector=detector, **FEW).fit(noisy)
    path = tmp_path / "m"
    model.save(path)
    with pytest.raises(ModelFileError, match=rf"'{detector.name}' is not built in.*detector="):
        odefs.load(path)
    loaded = odefs.load(path, detector=detector)
    assert_same(model, loaded, noisy)
    assert loaded.detector is detector
    assert_same(model, clone(loaded).fit(noisy), noisy)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    if isinstance(detector, FromMiddle) and not isinstance(detector, Unannotated):
        state = loaded._model.components[0].state
        assert isinstance(state, Middle)
        assert [type(getattr(state, field.name)) for field in fields(state)] == [
            np.ndarray,
            float,
            np.float32,
            type(None),
        ]


def test_the_wrong_detector_is_refused(noisy, tmp_path):
    path = tmp_path / "m"
    ODEFS(detector=FromMiddle(), **FEW).fit(noisy).save(path)
    with pytest.raises(ModelFileError, match=r"'from_middle'.*'pair'"):
        odefs.load(path, detector=Pair())
    with pytest.raises(ModelFileError, match=r"settings \{'factor': 1.0\}.*\{'factor': 2.0\}"):
        odefs.load(path, detector=FromMiddle(2.0))
    # Of a class that is no dataclass: what the constructor takes and the object holds.
    ODEFS(detector=Times(1.5), **FEW).fit(noisy).save(path)
    assert odefs.load(path, detector=Times(1.5)).detector.factor == 1.5
    with pytest.raises(ModelFileError, match=r"settings \{'factor': 1.5\}.*\{'factor': 3.0\}"):
        odefs.load(path, detector=Times(3.0))
    with pytest.raises(ModelFileError, match="built-in 'lesinn'"):
        odefs.load(GOLDEN / "v1-lesinn.odefs", detector=FromMiddle())
    with pytest.raises(TypeError, match=r"not an odefs\.detectors\.Detector"):
        odefs.load(path, detector="from_middle")


def test_a_state_that_is_no_dataclass_of_arrays_is_refused(noisy, tmp_path):
    class Lists(Pair):
        def prepare(self, rows, rng, w=None):
            return np.median(rows, axis=0), [1.5]

    with pytest.raises(TypeError, match="value of type list"):
        ODEFS(detector=Lists(), **FEW).fit(noisy).save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


# Writing


def test_a_failed_save_leaves_nothing_behind(noisy, tmp_path, monkeypatch):
    model = LeSiNN(random_state=0).fit(noisy)
    model.save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()

    def fail(*args):
        raise OSError(28, "No space left on device")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail)
            with pytest.raises(OSError, match="No space left"):
                LeSiNN(random_state=1).fit(noisy).save(tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert (tmp_path / "m").read_bytes() == before
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "no" / "such" / "folder")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        model.save(tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "m"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of the file size are POSIX")
def test_a_disk_that_is_full_half_way(tmp_path):
    script = (
        "import numpy, odefs, resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "model = odefs.LeSiNN().fit(numpy.random.rand(900, 30)); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40960, 40960))\n"
        "try: model.save('m.odefs')\nexcept OSError as error: print(error.strerror)"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", script],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "File too large"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes are POSIX")
def test_links_and_modes(noisy, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "m")
    LeSiNN().fit(noisy).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    # It holds rows of the training data.
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o600
    replace_file(tmp_path / ("n" * 250), [b"x"])
    assert (tmp_path / ("n" * 250)).read_bytes() == b"x"


# Refusals


def golden_bytes(name="lesinn"):
    return (GOLDEN / f"v1-{name}.odefs").read_bytes()


def refusal(path):
    with pytest.raises(ModelFileError) as caught:
        odefs.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path} cannot be loaded: ")
    assert "\n" not in message
    assert message.endswith(".")
    return message


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "it is empty"),
        (b"a,b\n1,2\n" * 50, "not an odefs model file"),
        (pickle.dumps({"a": 1}), "not an odefs model file"),
        (b"PK\x03\x04" + bytes(100), "not an odefs model file"),
        (golden_bytes()[:5], "cut off"),
        (golden_bytes()[:64], "cut off"),
        (golden_bytes()[:-1], "cut off: it should hold"),
        (golden_bytes() + b"x", "damaged: it should hold"),
        (golden_bytes().replace(b"\r\n", b"\n", 1), "not an odefs model file"),
        (golden_bytes()[:8] + b"\x02" + golden_bytes()[9:], "format version 2.*update odefs"),
        (golden_bytes()[:8] + b"\x00" + golden_bytes()[9:], "damaged"),
        (golden_bytes()[:16] + b"\xff" * 8 + golden_bytes()[24:], "header is longer than the file"),
        (golden_bytes()[:-9] + b"\x01" + golden_bytes()[-8:], "checksum"),
    ],
)
def test_files_that_are_no_model(content, sentence, tmp_path):
    (tmp_path / "m.odefs").write_bytes(content)
    assert re.search(sentence, refusal(tmp_path / "m.odefs"))


def test_paths_that_are_no_files(tmp_path):
    assert "not a regular file" in refusal(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert "not a regular file" in refusal(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        odefs.load(tmp_path / "none")


def test_loading_executes_and_imports_nothing(tmp_path):
    script = f"""
import sys, odefs
path = {str(GOLDEN / "v1-iforest.odefs")!r}
odefs.load(path)
seen = []
sys.addaudithook(lambda event, args: seen.append((event, args)))
odefs.load(path)
bad = ("import", "exec", "compile", "marshal.loads", "pickle.find_class", "os.system")
bad += ("subprocess.Popen", "ctypes.dlopen")
opened = [args[0] for event, args in seen if event == "open"]
print([event for event, args in seen if event in bad], opened == [path])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "[] True"


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
@pytest.mark.parametrize("accounted", [False, True], ids=["bytes of no array", "one huge array"])
def test_a_file_that_is_said_to_be_longer_than_memory_is_refused(tmp_path, accounted):
    """Files with holes have any length and take no room."""
    content = bytearray(golden_bytes("bare"))
    length = PREAMBLE.unpack(content[: PREAMBLE.size])[3]
    header = bytes(content[PREAMBLE.size : PREAMBLE.size + length])
    size = 2**42
    if accounted:
        header = b'{"arrays":[{"dtype":"uint8","name":"a","shape":[%d]}]}' % (size - 192)
    start = PREAMBLE.pack(
        *PREAMBLE.unpack(content[: PREAMBLE.size])[:3], len(header), size, b"0" * 32
    )
    path = tmp_path / "holes.odefs"
    path.write_bytes(start + header)
    os.truncate(path, size)
    script = f"""
import resource, odefs
resource.setrlimit(resource.RLIMIT_AS, (8_000_000_000,) * 2)
try:
    odefs.load({str(path)!r})
except odefs.ModelFileError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert ("too large for the memory" if accounted else "its header describes") in done.stdout


def test_a_model_is_not_saved_under_parameters_that_it_was_not_fitted_with(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    for change, said in (
        ({"detector": "tails"}, "'tails'.*'lesinn'"),
        ({"n_subsets": 7}, "n_subsets': 7"),
    ):
        model = ODEFS(**FEW).fit(X).set_params(**change)
        with pytest.raises(ModelFileError, match=f"cannot be saved.*{said}.*fit it again"):
            model.save(tmp_path / "m.odefs")
        assert not (tmp_path / "m.odefs").exists()
        model.fit(X).save(tmp_path / "m.odefs")
        assert odefs.load(tmp_path / "m.odefs").get_params() == model.get_params()
        (tmp_path / "m.odefs").unlink()
    with pytest.raises(ModelFileError, match="fit it again"):
        LeSiNN(random_state=0).fit(X).set_params(subset_size=3).save(tmp_path / "m.odefs")


# Golden files


@pytest.mark.parametrize(
    "path",
    sorted(set(GOLDEN.glob("*.odefs")) - set(GOLDEN.glob("*-table.odefs"))),
    ids=lambda path: path.stem,
)
def test_files_of_every_format_version_stay_readable(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    X = np.array(expected["rows"], dtype=np.float64)
    model = odefs.load(path)
    np.testing.assert_allclose(model.outlier_scores(X), expected["outlier_scores"], rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), expected["predict"])
    np.testing.assert_allclose(
        model.explain(X).values, expected["contributions"], rtol=1e-9, atol=1e-12
    )
    assert model.offset_ == expected["offset"]
    assert PREAMBLE.unpack(path.read_bytes()[: PREAMBLE.size])[1] == int(path.stem[1])


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*-table.odefs")), ids=lambda path: path.stem)
def test_table_models_of_every_format_version_stay_readable(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    frame = pd.DataFrame(expected["cells"])
    pipeline = odefs.load(path)
    encoded = pipeline[0].transform(frame)
    # Tables are scored in float32, whose last digits depend on the processor.
    np.testing.assert_allclose(encoded, expected["encoded"], rtol=1e-6)
    np.testing.assert_allclose(
        pipeline[-1].outlier_scores(encoded), expected["outlier_scores"], rtol=1e-5
    )
    np.testing.assert_array_equal(pipeline.predict(frame), expected["predict"])
    np.testing.assert_allclose(
        odefs.explain(pipeline, frame).values, expected["contributions"], rtol=1e-4, atol=1e-6
    )
    assert pipeline[-1].offset_ == expected["offset"]


def test_the_golden_table_has_columns_of_every_kind():
    specs = odefs.load(GOLDEN / "v1-table.odefs")[0].specs_
    assert {spec.kind for spec in specs} == {"number", "boolean", "time", "category"}
    assert {spec.style for spec in specs} == {"", "numbers with decimal comma", "day-first dates"}
    for part in ("grouped", "by_hour", "marks_missing", "levels", "missing_share"):
        assert any(getattr(spec, part) for spec in specs), part


def test_table_models_stay_readable_when_columns_get_a_new_part(monkeypatch):
    """Of a part that an earlier writer did not know the default is taken."""
    spec = make_dataclass("Spec", [("new_part", int, 7)], bases=(ColumnSpec,), frozen=True)
    monkeypatch.setattr("odefs.tables.encoder.state.ColumnSpec", spec)
    specs = odefs.load(GOLDEN / "v1-table.odefs")[0].specs_
    assert {spec.new_part for spec in specs} == {7}


def test_columns_with_unknown_parts_or_without_known_ones_are_refused():
    state = odefs.load(GOLDEN / "v1-table.odefs")[0].state()
    more, less = (json.loads(json.dumps(state)) for _ in range(2))
    more["specs"][0]["newer"] = 1
    del less["specs"][0]["fill"]
    for changed in (more, less):
        with pytest.raises(ModelFileError, match="column of its encoder"):
            TableEncoder.from_state(changed)


def test_there_is_a_golden_file_of_each_detector_and_version():
    names = {path.stem for path in GOLDEN.glob("*.odefs")}
    assert names >= {
        "v1-lesinn",
        "v1-iforest",
        "v1-tails",
        "v1-bare",
        "v1-lesinn-weighted-missing",
        "v1-baseline",
        "v1-table",
        "v1-sampled-table",
    }
