"""The PyTorch engine agrees with the local one, on the CPU and on a GPU if there is one."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import odefs
from odefs import ODEFS, FeatureSelection
from odefs.detectors import LeSiNNDetector
from odefs.ensemble.model import Component

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'odefs[gpu]'")

from odefs.engines.torch import device, engine, scorer, table, training, triton_launch  # noqa: E402
from odefs.engines.torch.scoring import lay_rows_out, raw_scores, send_references  # noqa: E402
from odefs.engines.torch.table import DeviceTable  # noqa: E402
from odefs.engines.torch.triton_launch import can_fuse, fused_scores, lay_out_fused  # noqa: E402

DEVICES = ["torch:cpu", *(["torch:cuda"] if torch.cuda.is_available() else [])]


def paper(**settings):
    """The paper's method in few steps: rounding grows with their number."""
    return ODEFS.paper(selection__tol=1e-4, **settings)


METHODS = {"default": ODEFS, "paper": paper}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def normal(dtype=np.float64):
    X = np.random.default_rng(0).normal(size=(700, 20)).astype(dtype)
    X[:25, 3:5] += 6
    return X


def binary():
    """Zeros and ones, most rows several times."""
    rng = np.random.default_rng(1)
    X = (rng.random((400, 40)) < rng.random(40) * 0.3).astype(np.uint8)
    return X[rng.integers(0, 400, size=1500)]


def mixed():
    """Two-valued columns, whole numbers, a column far from the origin and one with a huge value."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 12))
    X[:, :4] = rng.random((600, 4)) < 0.1
    X[:, 4:6] = rng.integers(0, 5, size=(600, 2))
    X[:, 6] += 1e6
    X[5, 7] = 1e9
    return X[rng.integers(0, 300, size=600)]


TABLES = {
    "float64": normal,
    "float32": lambda: normal(np.float32),
    "binary": binary,
    "binary-float": lambda: binary().astype(np.float64),
    "mixed": mixed,
    "integers": lambda: np.random.default_rng(3).integers(0, 300, size=(500, 9)),
    "uint16": lambda: np.random.default_rng(3).integers(0, 300, size=(500, 9)).astype(np.uint16),
    "fortran": lambda: np.asfortranarray(normal()),
    "few-rows": lambda: normal()[:12],
    "one-column": lambda: normal()[:, :1],
    "wide": lambda: np.random.default_rng(4).normal(size=(60, 300)),
}


def both(X, engine, method="default", **settings):
    fits = [
        METHODS[method](engine=name, random_state=0).set_params(**settings).fit(X)
        for name in ("local", engine)
    ]
    return fits[0], fits[1]


def assert_agree(ours, theirs, X):
    np.testing.assert_allclose(ours.outlier_scores_, theirs.outlier_scores_, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(ours.is_outlier_, theirs.is_outlier_)
    np.testing.assert_array_equal(ours.candidate_indices_, theirs.candidate_indices_)
    np.testing.assert_allclose(ours.feature_weights_, theirs.feature_weights_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours._baseline, theirs._baseline, rtol=1e-5, atol=1e-9)
    assert ours.fit_info_["stopping"]["reason"] == theirs.fit_info_["stopping"]["reason"]
    assert ours.fit_info_["fallbacks"] == theirs.fit_info_["fallbacks"]
    fresh = X[:100]
    np.testing.assert_allclose(
        ours.outlier_scores(fresh), theirs.outlier_scores(fresh), rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("on", DEVICES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("table", TABLES)
def test_agrees_with_the_local_engine(table, method, on):
    X = TABLES[table]()
    assert_agree(*both(X, on, method), X)


@pytest.mark.parametrize("on", DEVICES)
@pytest.mark.parametrize("self_paced", [True, False, "classic"])
def test_converges_like_the_local_engine(self_paced, on):
    fits = [
        ODEFS.paper(engine=name, selection__self_paced=self_paced, random_state=0).fit(normal())
        for name in ("local", on)
    ]
    local, torched = (fit.fit_info_ for fit in fits)
    assert all(local["converged"])
    assert all(torched["converged"])
    for trace in torched["objective_traces"]:
        assert (np.diff(trace) <= 1e-12).all()
    # A component may end in another minimum; on average they are equally good.
    ours, theirs = (
        np.mean([trace[-1] for trace in info["objective_traces"]]) for info in (local, torched)
    )
    assert ours == pytest.approx(theirs, rel=0.03)
    assert np.corrcoef(fits[0].outlier_scores_, fits[1].outlier_scores_)[0, 1] > 0.95


@pytest.mark.parametrize("on", DEVICES)
@pytest.mark.parametrize("self_paced", [True, False, "classic"])
@pytest.mark.parametrize("loss", ["sigmoid", "logistic", "hinge"])
def test_every_loss_and_pacing_learns_the_same(loss, self_paced, on):
    X = normal()
    local, torched = both(
        X, on, selection__loss=loss, selection__self_paced=self_paced, n_estimators=5
    )
    assert_agree(local, torched, X)
    assert local.fit_info_["solver_steps"] == torched.fit_info_["solver_steps"]
    for ours, theirs in zip(
        local.fit_info_["objective_traces"], torched.fit_info_["objective_traces"], strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7)
    np.testing.assert_allclose(local.fit_info_["ages"], torched.fit_info_["ages"], rtol=1e-7)
    np.testing.assert_allclose(local.feature_importances_, torched.feature_importances_, atol=1e-7)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_long_solves_end_at_the_same_objective(loss):
    """Rounding grows in flat directions: weights may differ there, the objective does not."""
    local, torched = both(
        normal(),
        "torch:cpu",
        "paper",
        selection__loss=loss,
        selection__self_paced=False,
        n_estimators=3,
    )
    np.testing.assert_allclose(local.component_loss_, torched.component_loss_, rtol=5e-3)


@pytest.mark.parametrize(
    "settings",
    [
        {"selection__column_weights": "learned"},
        {"selection__reference_rows": "shared"},
        {"selection__metric": "sqeuclidean"},
        {"scaling": "none"},
        {"selection__normalization_rows": 300},
        {"selection__solver": "lbfgs"},
        {"n_subsets": 7, "subset_size": 3},
        {"trust": 1.0},
        {"selection__tol": 1e6},
    ],
    ids=str,
)
def test_every_setting_means_the_same(settings):
    for X in (normal(), binary()):
        assert_agree(*both(X, "torch:cpu", n_estimators=4, **settings), X)


def test_a_seed_gives_one_result():
    first, second = (ODEFS(engine="torch:cpu", random_state=3).fit(mixed()) for _ in range(2))
    np.testing.assert_array_equal(first.outlier_scores_, second.outlier_scores_)
    np.testing.assert_array_equal(first.feature_weights_, second.feature_weights_)


def test_the_parts_it_is_done_in_change_nothing(monkeypatch):
    X = mixed()
    whole = ODEFS(engine="torch:cpu", n_estimators=6, random_state=0).fit(X)
    monkeypatch.setattr(device, "CPU_BYTES", 2**18)
    parts = ODEFS(engine="torch:cpu", n_estimators=6, random_state=0).fit(X)
    assert_agree(whole, parts, X)


@pytest.mark.parametrize("far", [1e8, 1e10])
def test_rows_are_told_apart_beside_far_ones(far):
    """Codes for missing cells: squares of ordinary distances are below their rounding errors."""
    X = normal()
    X[:9] = far * (1 + 1e-3 * X[:9])
    here, there = both(X, "torch:cpu", contamination=0.05)
    np.testing.assert_allclose(there.outlier_scores_, here.outlier_scores_, rtol=1e-6)
    np.testing.assert_array_equal(there.is_outlier_, here.is_outlier_)
    assert there.outlier_scores_.min() > 0


def test_two_valued_columns_beside_a_far_one():
    """Rounding beside the extreme value is larger than a step of the other columns."""
    X = (np.random.default_rng(0).random((500, 8)) < 0.3).astype(np.float64)
    X[:, 7] *= 999_999_999
    here, there = both(X, "torch:cpu", contamination=0.05, scaling="none")
    np.testing.assert_allclose(there.outlier_scores_, here.outlier_scores_, rtol=1e-6)
    np.testing.assert_array_equal(there.is_outlier_, here.is_outlier_)


def test_one_row_that_is_not_of_zeros_and_ones_changes_no_other(monkeypatch):
    X = np.unique(binary(), axis=0).astype(np.float64)
    model = ODEFS(engine="torch:cpu", n_estimators=6, random_state=0, scaling="none").fit(X)
    alone = model.outlier_scores(X)
    X[17, 3] = 0.5
    together = model.outlier_scores(X)
    others = np.arange(len(X)) != 17
    assert alone[17] != together[17]
    np.testing.assert_array_equal(together[others], alone[others])
    monkeypatch.setattr(device, "CPU_BYTES", 2**18)
    np.testing.assert_allclose(model.outlier_scores(X), together, rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64])
def test_equal_rows_are_kept_once(dtype):
    X = binary().astype(dtype)
    table = engine.TorchEngine(X, device="cpu").table
    assert table.n_rows == np.unique(X, axis=0).shape[0]
    np.testing.assert_array_equal(table.spread(table._resident.t()).T, X)
    assert table.counts(None).sum() == X.shape[0]


@pytest.mark.parametrize("dtype", [np.float32, np.int8, bool])
def test_rows_of_another_type_than_in_training(dtype):
    local, torched = both(normal(), "torch:cpu", n_estimators=3)
    rows = normal()[:100].astype(dtype)
    np.testing.assert_allclose(
        torched.outlier_scores(rows), local.outlier_scores(rows), rtol=1e-5, atol=1e-7
    )


def test_weights_learned_until_they_converge_score_rows_of_float32():
    """Such a model is one of float64, whatever the type of the training rows."""
    X = normal(np.float32)
    model = ODEFS.paper(engine="torch:cpu", n_estimators=2, random_state=0).fit(X)
    np.testing.assert_allclose(model.outlier_scores(X), model.outlier_scores_, rtol=1e-9)


def test_tables_that_cannot_be_written_to_are_taken():
    X = normal()
    X.flags.writeable = False
    before = X.copy()
    ODEFS(engine="torch:cpu", random_state=0).fit(X)
    np.testing.assert_array_equal(X, before)


def test_a_table_that_stays_in_memory_gives_the_same(monkeypatch):
    X = binary()
    whole = ODEFS(engine="torch:cpu", n_estimators=4, random_state=0).fit(X)
    monkeypatch.setattr(DeviceTable, "_upload", lambda self: None)
    sent = ODEFS(engine="torch:cpu", n_estimators=4, random_state=0).fit(X)
    assert_agree(whole, sent, X)


def test_out_of_memory_halves_the_part_and_goes_on(monkeypatch):
    X = normal()
    whole = ODEFS(
        engine="torch:cpu",
        n_estimators=5,
        trust=0.5,
        selection=FeatureSelection(n_rounds=1),
        random_state=0,
    ).fit(X)
    rows, components = [], []
    score, learn = scorer.Scorer.score, training.learn_batch

    def scarce_score(self, X):
        rows.append(X.shape[0])
        if X.shape[0] > 200:
            raise torch.cuda.OutOfMemoryError("no room")
        return score(self, X)

    def scarce_learn(examples, n_outliers, plan):
        components.append(examples.x.shape[0])
        if examples.x.shape[0] > 2:
            raise torch.cuda.OutOfMemoryError("no room")
        return learn(examples, n_outliers, plan)

    monkeypatch.setattr(scorer.Scorer, "score", scarce_score)
    monkeypatch.setattr(training, "learn_batch", scarce_learn)
    halved = ODEFS(
        engine="torch:cpu",
        n_estimators=5,
        trust=0.5,
        selection=FeatureSelection(n_rounds=1),
        random_state=0,
    ).fit(X)
    assert rows[:3] == [700, 350, 175]
    assert components == [5, 2, 2, 1]
    assert_agree(whole, halved, X)


@pytest.mark.parametrize(
    ("module", "name", "too_large"),
    [
        (table, "group_rows", lambda rows: True),
        (engine, "_thresholds", lambda scores, *_: scores.shape[0] > 2),
        (engine, "total_shares", lambda rows, *_: True),
        (engine, "Scorer", lambda detector, components, *_: len(components) > 2),
    ],
)
def test_out_of_memory_elsewhere_changes_no_result(module, name, too_large, monkeypatch):
    rng = np.random.default_rng(0)
    X = (rng.random((300, 20)) < 0.3).astype(np.uint8)[rng.integers(0, 300, 1500)]
    settings = {
        "detector": "lesinn",  # With companions, the processors compute the shares.
        "engine": "torch:cpu",
        "n_estimators": 5,
        "selection": FeatureSelection(n_rounds=1),
        "random_state": 0,
    }
    whole, real, refused = ODEFS(**settings).fit(X), getattr(module, name), []

    def scarce(*arguments):
        if too_large(*arguments):
            refused.append(name)
            raise torch.cuda.OutOfMemoryError("no room")
        return real(*arguments)

    monkeypatch.setattr(module, name, scarce)
    assert_agree(whole, ODEFS(**settings).fit(X), X)
    assert refused


def test_the_processor_runs_out_of_memory_too(monkeypatch):
    """PyTorch says it in words there; other errors are none of that."""
    X, real = normal(), scorer.Scorer.score
    settings = {
        "engine": "torch:cpu",
        "n_estimators": 2,
        "selection": FeatureSelection(n_rounds=1),
        "random_state": 0,
    }
    whole = ODEFS(**settings).fit(X)
    monkeypatch.setattr(
        scorer.Scorer,
        "score",
        lambda self, X: real(self, X) if X.shape[0] <= 200 else torch.empty(2**55),
    )
    assert_agree(whole, ODEFS(**settings).fit(X), X)
    monkeypatch.setattr(scorer.Scorer, "score", lambda self, X: torch.zeros(2) + torch.zeros(3))
    with pytest.raises(RuntimeError, match="size of tensor"):
        ODEFS(**settings).fit(X)


def test_numbers_of_the_other_byte_order():
    X = (100 * normal()).astype(np.int16)
    settings = {"engine": "torch:cpu", "n_estimators": 2, "random_state": 0}
    here, there = (ODEFS(**settings).fit(table) for table in (X, X.astype(">i2")))
    assert np.array_equal(here.outlier_scores_, there.outlier_scores_)


def test_out_of_memory_for_a_single_row_is_an_error(monkeypatch):
    def never(self, X):
        raise torch.cuda.OutOfMemoryError("no room")

    monkeypatch.setattr(scorer.Scorer, "score", never)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        ODEFS(engine="torch:cpu").fit(normal())


def _components(rng, n_columns, widths, detector):
    for width in widths:
        columns = np.sort(rng.choice(n_columns, size=width, replace=False))
        rows = (rng.random((detector.n_subsets * detector.subset_size, width)) < 0.2).astype(
            np.float32
        )
        yield Component(columns, None, detector.prepare(rows, rng), 1.0, 1.0, 0.0)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_the_fused_kernel_is_laid_out_for_the_same_scores(metric):
    """What the kernel computes, in plain operations; on a GPU the kernel itself as well."""
    rng = np.random.default_rng(0)
    detector = LeSiNNDetector(n_subsets=50, subset_size=8, metric=metric)
    components = list(_components(rng, 70, [1, 31, 33, 64, 70], detector))
    X = torch.from_numpy((rng.random((300, 70)) < 0.2).astype(np.float32))
    lines = lay_rows_out(X, exact=True)
    expected = [
        raw_scores(lines, send_references(c, 70, X.device, True), detector) for c in components
    ]
    seen = []
    for group in lay_out_fused(components, range(5), 71, X.device):
        for i, place in enumerate(group.places.tolist()):
            x = lines[group.columns[i].long()]
            squares = group.products[i].float() @ x + group.norms[i].unsqueeze(2) + x.sum(dim=0)
            nearest = squares.amin(dim=0)[: group.n_subsets]
            scores = (nearest.sqrt() if metric == "euclidean" else nearest).sum(
                dim=0
            ) / group.n_subsets
            torch.testing.assert_close(scores, expected[place].float(), rtol=1e-6, atol=0)
            seen.append(place)
    assert sorted(seen) == [0, 1, 2, 3, 4]
    if torch.cuda.is_available() and can_fuse(torch.device("cuda"), 50):
        on_device = lay_rows_out(X.cuda(), exact=True)
        for group in lay_out_fused(components, range(5), 71, on_device.device):
            for place, scores in zip(
                group.places.tolist(),
                fused_scores(on_device, group, metric == "euclidean"),
                strict=True,
            ):
                torch.testing.assert_close(scores.cpu(), expected[place], rtol=1e-6, atol=0)


@pytest.mark.parametrize("broken", ["wrong", "error", "right"])
def test_a_fused_kernel_that_is_not_right_is_not_used(monkeypatch, broken):
    """A stand-in for the kernel, since processors cannot run it."""
    X = binary()
    plain = ODEFS.paper(engine="torch:cpu", n_estimators=4, random_state=0).fit(X)
    launches = []

    def stand_in(lines, references, root):
        launches.append(lines.shape[1])
        if broken == "error":
            raise RuntimeError("no such instruction")
        x = lines[references.columns.long()]
        squares = (
            torch.einsum("cmlk,ckn->cmln", references.products.float(), x)
            + references.norms[..., None]
        )
        nearest = squares.amin(dim=1)[:, : references.n_subsets] + x.sum(dim=1, keepdim=True)
        scores = nearest.sum(dim=1).double() / references.n_subsets
        return scores if broken == "right" else scores + 1

    monkeypatch.setattr(triton_launch, "_proven", {})
    monkeypatch.setattr(triton_launch, "fused_scores", stand_in)
    monkeypatch.setattr(scorer, "fused_scores", stand_in)
    monkeypatch.setattr(scorer, "can_fuse", lambda device, n_subsets: True)
    model = ODEFS.paper(engine="torch:cpu", n_estimators=4, random_state=0).fit(X)
    np.testing.assert_allclose(model.outlier_scores_, plain.outlier_scores_, rtol=1e-12)
    if broken != "right":
        assert len(launches) == len(triton_launch._proven)
    assert set(triton_launch._proven.values()) == {broken == "right"}


@pytest.mark.parametrize(
    ("X", "settings", "words"),
    [
        (normal(), {"detector": "tails"}, "detector 'tails'"),
        (sparse.csr_matrix(binary()), {}, "sparse"),
        (np.where(normal() > 2.5, np.nan, normal()), {"missing": "ignore"}, "missing cells"),
    ],
    ids=["detector", "sparse", "missing"],
)
def test_what_it_does_not_do_runs_on_the_local_engine_and_says_so(X, settings, words):
    with pytest.warns(odefs.ODEFSWarning, match=words):
        torched = ODEFS(engine="torch:cpu", n_estimators=2, random_state=0, **settings).fit(X)
    assert torched.fit_info_["fallbacks"][0].kind == "off_device"
    local = ODEFS(n_estimators=2, random_state=0, **settings).fit(X)
    np.testing.assert_array_equal(local.outlier_scores_, torched.outlier_scores_)


def test_references_with_missing_cells_score_complete_rows_on_the_processor():
    X = np.where(np.random.default_rng(5).random((700, 20)) < 0.1, np.nan, normal())
    models = [
        ODEFS(engine=on, missing="ignore", random_state=0).fit(X) for on in ("local", "torch:cpu")
    ]
    scores = [model.outlier_scores(normal()) for model in models]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("name", ["gpu", "torch-cuda", None, 3])
def test_other_engines_are_refused(name):
    with pytest.raises(
        ValueError, match="is not one of 'auto', 'local', 'stream', 'dask', 'torch'"
    ):
        ODEFS(engine=name).fit(normal())


@pytest.mark.parametrize("name", ["torch:nowhere", "torch:meta", "torch:cuda:97"])
def test_devices_that_are_not_there_are_refused(name):
    with pytest.raises(ValueError, match=name):
        ODEFS(engine=name).fit(normal())


def test_explanations_add_up_to_the_scores():
    X = normal()
    model = ODEFS(engine="torch:cpu", random_state=0).fit(X)
    np.testing.assert_allclose(
        model.explain(X[:50]).values.sum(axis=1), model.outlier_scores(X[:50]), rtol=1e-6
    )


@pytest.mark.slow
def test_a_model_fitted_on_a_device_scores_where_there_is_no_torch(tmp_path):
    X = normal()
    model = ODEFS(engine="torch:cpu", n_estimators=3, random_state=0).fit(X)
    model.save(tmp_path / "model")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "scores.npy", model.outlier_scores_)
    script = f"""
import sys, warnings

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name=name)

sys.meta_path.insert(0, Absent())
import numpy as np, odefs
X = np.load(r"{tmp_path / "X.npy"}")
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    scores = odefs.load(r"{tmp_path / "model"}").outlier_scores(X)
assert [w.category for w in said] == [odefs.ODEFSWarning], said
assert "engine='local'" in str(said[0].message)
np.testing.assert_allclose(scores, np.load(r"{tmp_path / "scores.npy"}"), rtol=1e-6)
try:
    odefs.ODEFS(engine="torch").fit(X)
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == (
        "engine='torch' needs PyTorch, which is not installed: pip install 'odefs[gpu]', or use "
        "engine='local'."
    )


def test_the_engine_is_the_one_that_was_asked_for():
    model = ODEFS(engine="torch:cpu", random_state=0)
    built = model._engine_for_fit(normal(), LeSiNNDetector())
    assert isinstance(built, engine.TorchEngine)
    assert built.device == torch.device("cpu")
