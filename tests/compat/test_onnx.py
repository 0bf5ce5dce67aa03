"""Exported graphs give the library's scores, decisions and labels in onnxruntime."""

import json
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pandas
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import odefs
from odefs import ODEFS, FeatureSelection, LeSiNN, export_onnx
from odefs.baselines import CINFO, RandFS
from odefs.compat.onnx.export import OPSET
from odefs.detectors import IForestDetector, LeSiNNDetector

RTOL = 1e-5


def session(graph):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(graph, X):
    return session(graph).run(["score", "decision", "label"], {"X": X})


def assert_agrees(model, ready, X, rtol=RTOL):
    score, decision, label = ready.run(["score", "decision", "label"], {"X": X})
    expected = model.outlier_scores(X)
    np.testing.assert_allclose(score, expected, rtol=rtol, atol=0)
    np.testing.assert_allclose(
        decision, model.decision_function(X), rtol=0, atol=rtol * np.abs(expected).max()
    )
    # A row on the threshold itself may fall on either side.
    clear = np.abs(model.decision_function(X)) > rtol * expected
    np.testing.assert_array_equal(label[clear], model.predict(X)[clear])
    assert np.mean(clear) > 0.9 or np.ptp(expected) <= 1e-9 * expected.max()


def noise(rng):
    X = rng.normal(size=(300, 12)) * np.geomspace(1e-3, 1e3, 12) + 1e4
    X[:9, 3:5] += 8
    return X


def holes(rng):
    X = noise(rng)
    X[rng.random(X.shape) < 0.15] = np.nan
    X[5] = np.nan
    return X


TABLES = {
    "noise": noise,
    "holes": holes,
    "categories": lambda rng: (rng.random((300, 9)) < 0.3).astype(float),
    "tight clusters": lambda rng: (
        rng.normal(size=(2, 6))[rng.integers(0, 2, 300)] * 3 + 1e-9 * rng.normal(size=(300, 6))
    ),
    "huge": lambda rng: rng.normal(size=(300, 6)) * 1e30,
}
ESTIMATORS = {
    "ODEFS": ODEFS(n_estimators=3, random_state=0),
    "paper": ODEFS.paper(n_estimators=3, random_state=0),
    "weighted": ODEFS(
        selection=FeatureSelection(column_weights="learned"), n_estimators=3, random_state=0
    ),
    "contamination": ODEFS(contamination=0.1, n_estimators=3, random_state=0),
    "tails": ODEFS(detector="tails", scaling="damped", n_estimators=3, random_state=0),
    "tails weighted": ODEFS(
        detector="tails",
        scaling="damped",
        selection=FeatureSelection(column_weights="learned"),
        n_estimators=3,
        random_state=0,
    ),
    "auto": ODEFS(detector="auto", scaling="robust", n_estimators=3, random_state=0),
    "coupling": ODEFS(detector="coupling", n_estimators=3, random_state=0),
    "relations": ODEFS(detector="relations", n_estimators=3, random_state=0),
    "relations weighted": ODEFS(
        detector="relations",
        selection=FeatureSelection(column_weights="learned"),
        n_estimators=3,
        random_state=0,
    ),
    "iforest": ODEFS(detector=IForestDetector(n_trees=20), n_estimators=2, random_state=0),
    "LeSiNN": LeSiNN(random_state=0),
    "LeSiNN unscaled": LeSiNN(scaling="none", random_state=0),
    "CINFO": CINFO(random_state=0),
}


LARGE_GRAPHS = (
    "tails",
    "tails weighted",
    "iforest",
    "coupling",
    "relations",
    "relations weighted",
    "weighted",
    "LeSiNN unscaled",
)
"""Checked and started in many seconds each: among the slow tests."""


@pytest.mark.parametrize(
    ("name", "table"),
    [
        pytest.param(name, table, marks=[pytest.mark.slow] if name in LARGE_GRAPHS else [])
        for name in ESTIMATORS
        for table in TABLES
    ],
)
def test_graphs_agree_on_old_and_new_rows(name, table):
    rng = np.random.default_rng(0)
    X = TABLES[table](rng)
    model = ESTIMATORS[name].set_params(missing="ignore" if table == "holes" else "error")
    new = X[:200] + 0.3 * np.nanstd(X, axis=0) * rng.normal(size=(200, X.shape[1]))
    # In float32 the clusters' spread is that of its last digit, and rounding decides.
    for fitted in (np.float64,) if table == "tight clusters" else (np.float32, np.float64):
        model.fit(X.astype(fitted))
        for given in ("float32", "float64"):
            graph = export_onnx(model, input_dtype=given)
            onnx.checker.check_model(graph, full_check=True)
            ready = session(graph)
            for rows in (X, new):
                assert_agrees(model, ready, rows.astype(given))


def test_complete_rows_of_a_model_that_allows_holes(noisy):
    model = ODEFS(missing="ignore", n_estimators=3, random_state=0).fit(noisy)
    assert_agrees(model, session(export_onnx(model)), noisy)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arrhythmia", "mnist", "bank", "musk", "probe"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: ODEFS(random_state=0),
        lambda: ODEFS.paper(n_estimators=8, random_state=0),
        lambda: LeSiNN(random_state=0),
        lambda: ODEFS(detector="tails", scaling="damped", n_estimators=3, random_state=0),
    ],
    ids=["ODEFS", "paper", "LeSiNN", "tails"],
)
def test_graphs_agree_on_the_papers_data(name, make, dataset):
    X, _ = dataset(name)
    for dtype in (np.float32, np.float64):
        rows = X.astype(dtype)
        model = make().fit(rows)
        graph = export_onnx(model, input_dtype=np.dtype(dtype).name)
        assert_agrees(model, session(graph), rows[:4000])


def test_a_batch_may_have_any_number_of_rows(noisy):
    model = ODEFS(n_estimators=3, random_state=0).fit(noisy)
    ready = session(export_onnx(model))
    whole, *_ = ready.run(["score"], {"X": noisy})
    single = [ready.run(["score"], {"X": noisy[[row]]})[0] for row in range(20)]
    np.testing.assert_allclose(np.concatenate(single), whole[:20], rtol=1e-12)
    assert ready.run(["score"], {"X": noisy[:0]})[0].shape == (0,)


def test_rows_that_the_library_refuses_have_no_score(noisy):
    new = noisy[:4].copy()
    new[1, 0], new[2, 20] = np.nan, np.inf
    model = ODEFS(n_estimators=3, random_state=0).fit(noisy)
    score, _, label = run(export_onnx(model), new)
    assert np.isnan(score[[1, 2]]).all()
    assert (label[[1, 2]] == -1).all(), "what cannot be judged does not pass as ordinary"
    np.testing.assert_allclose(score[[0, 3]], model.outlier_scores(new[[0, 3]]), rtol=1e-12)
    tolerant = ODEFS(n_estimators=3, missing="ignore", random_state=0).fit(noisy)
    score, *_ = run(export_onnx(tolerant), new)
    np.testing.assert_array_equal(np.isnan(score), [False, False, True, False])


def test_what_the_graph_says_about_itself(noisy, tmp_path):
    names = [f"column {k}" for k in range(30)]
    model = LeSiNN(random_state=0).fit(pandas.DataFrame(noisy, columns=names))
    returned = export_onnx(model, tmp_path / "model.onnx")
    graph = onnx.load(tmp_path / "model.onnx")
    assert graph == returned
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]
    assert [(entry.domain, entry.version) for entry in graph.opset_import] == [("", OPSET)]
    assert graph.producer_version == odefs.__version__
    properties = {entry.key: entry.value for entry in graph.metadata_props}
    assert json.loads(properties["feature_names"]) == names
    used = {name for node in graph.graph.node for name in node.input}
    inner = str([node.attribute for node in graph.graph.node if node.op_type in ("If", "Scan")])
    assert all(
        entry.name in used or f'"{entry.name}"' in inner for entry in graph.graph.initializer
    )


def test_equal_models_give_equal_bytes_also_after_loading(noisy, tmp_path):
    model = ODEFS(n_estimators=3, random_state=0).fit(noisy)
    model.save(tmp_path / "model.odefs")
    again = odefs.load(tmp_path / "model.odefs")
    assert export_onnx(model).SerializeToString() == export_onnx(again).SerializeToString()


def test_what_cannot_be_exported_is_said(noisy):
    class Mine(LeSiNNDetector):
        pass

    with pytest.raises(TypeError, match=r"'lesinn', 'tails'.*'iforest'.*Mine"):
        export_onnx(ODEFS(detector=Mine(), n_estimators=2, random_state=0).fit(noisy))
    with pytest.raises(TypeError, match="not Pipeline"):
        export_onnx(make_pipeline(StandardScaler(), LeSiNN()).fit(noisy))
    with pytest.raises(TypeError, match="all training rows"):
        export_onnx(RandFS(combination="breadth_first", random_state=0).fit(noisy))
    with pytest.raises(ValueError, match="input_dtype='int8'"):
        export_onnx(LeSiNN(random_state=0).fit(noisy), input_dtype="int8")
    with pytest.raises(NotFittedError):
        export_onnx(LeSiNN())


def test_without_the_extra_the_install_command_is_said():
    script = (
        "import sys; sys.modules['onnx'] = None\n"
        "import numpy, odefs\n"
        "model = odefs.LeSiNN().fit(numpy.random.rand(50, 3))\n"
        "try: odefs.export_onnx(model)\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert shown == "export_onnx needs onnx, which is not installed: pip install 'odefs[onnx]'.\n"


def test_rows_times_references_times_columns_never_exist():
    """2,000 x 400 x 500 numbers would be 3.2 GB; one component needs 14.4 MB."""
    pytest.importorskip("resource")
    script = """
import resource
import numpy as np, onnxruntime
from odefs import ODEFS, export_onnx
X = np.random.default_rng(0).normal(size=(2000, 500))
model = ODEFS(n_estimators=2, random_state=0).fit(X)
ready = onnxruntime.InferenceSession(export_onnx(model).SerializeToString())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ready.run(None, {"X": X})
ready.run(None, {"X": np.repeat(X[:20], 100, axis=0) * [[1, 0] * 250]})
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    kilobytes = int(shown) / (1024 if sys.platform == "darwin" else 1)
    assert kilobytes < 400_000
