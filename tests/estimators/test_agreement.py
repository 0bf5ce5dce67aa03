"""Agreement: its definition, equal on all engines, in files, tables and on the screen."""

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import odefs
from command import odefs as run
from command import read
from locations import GOLDEN
from odefs import ODEFS, FeatureSelection, LeSiNN
from odefs.engines.in_memory import InMemoryEngine
from odefs.engines.stream import RowBlocks
from odefs.ensemble.model import raw_scores
from odefs.persist.file_format import write_file
from odefs.persist.reading import read_file
from odefs.system.tempfiles import FileArray
from odefs.tables.table import table_of
from odefs.tables.writers.columns import result_batches

SETTINGS = {
    "default": {},
    "subsets alone": {"trust": 1.0},
    "both": {"trust": 0.4, "n_estimators": 5},
    "all columns": {"trust": 0.0, "selection": FeatureSelection(n_rounds=1)},
    "sampled normalisers": {"selection": FeatureSelection(normalization_rows=200), "trust": 0.5},
    "other candidates": {"selection": FeatureSelection(candidate_threshold=1.0), "trust": 0.7},
}

pytestmark = pytest.mark.filterwarnings("ignore::odefs.ODEFSWarning")


def written_out(model, X, rows):
    """Share of components above mean + 2 std of their scores of the normalization rows."""
    frozen = model._model
    scaled = InMemoryEngine(X).take(np.arange(len(X)), frozen.scaling)
    total = np.zeros(len(X))
    for component in frozen.scoring:
        scores = raw_scores(component, frozen.detector, scaled)
        known = scores[rows]
        total += component.weight * (scores > known.mean() + 2 * known.std())
    return total


def sampled(model, n):
    from odefs.ensemble.plan import sample_rows

    rows = sample_rows(n, model._parameters()["normalization_rows"], model._seeds().row_sample())
    return np.arange(n) if rows is None else rows


@pytest.mark.parametrize("name", SETTINGS)
def test_it_is_the_weighted_share_of_components_above_their_thresholds(name, noisy):
    model = ODEFS(random_state=0, **SETTINGS[name]).fit(noisy)
    expected = written_out(model, noisy, sampled(model, len(noisy)))
    np.testing.assert_allclose(model.agreement_, expected, atol=1e-8)
    assert model.agreement_.max() == 1.0, "the planted rows are beyond doubt"
    assert model.agreement_.min() == 0.0
    assert np.median(model.agreement_[:15]) > 0.5 > np.median(model.agreement_[15:])


@pytest.mark.parametrize("name", SETTINGS)
def test_new_rows_and_batches_of_any_size(name, noisy):
    model = ODEFS(random_state=0, **SETTINGS[name]).fit(noisy)
    assert np.array_equal(model.agreement(noisy), model.agreement_)
    single = [model.agreement(noisy[[row]])[0] for row in range(30)]
    assert single == model.agreement_[:30].tolist()
    assert model.agreement(noisy[:1] + 100) == [1.0]


@pytest.mark.parametrize("name", SETTINGS)
def test_streams_have_the_bits_of_the_fit_in_memory(name, noisy):
    here = ODEFS(random_state=0, **SETTINGS[name]).fit(noisy)
    there = ODEFS(random_state=0, **SETTINGS[name]).fit(
        RowBlocks.from_arrays([noisy[:123], noisy[123:]])
    )
    assert isinstance(there.agreement_, FileArray)
    assert np.array_equal(there.agreement_, here.agreement_)
    again = here.agreement(RowBlocks.from_arrays([noisy[:7], noisy[7:]]))
    assert isinstance(again, FileArray)
    assert np.array_equal(again, here.agreement_)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_torch_agrees(name, noisy):
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'odefs[gpu]'")
    repeated = np.concatenate([noisy, noisy[:400]])
    here = ODEFS(random_state=0, **SETTINGS[name]).fit(repeated)
    there = ODEFS(random_state=0, engine="torch:cpu", **SETTINGS[name]).fit(repeated)
    np.testing.assert_allclose(there.agreement_, here.agreement_, atol=1e-6)
    np.testing.assert_allclose(there.agreement(noisy), here.agreement(noisy), atol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dask_agrees(noisy):
    pytest.importorskip("distributed")
    import dask.array as da

    from odefs.engines.dask import local_client

    rows = da.from_array(noisy, chunks=(170, 30))
    with local_client(2):
        for settings in ({}, {"selection": FeatureSelection(normalization_rows=200), "trust": 0.5}):
            here = ODEFS(random_state=0, **settings).fit(noisy)
            there = ODEFS(random_state=0, **settings).fit(rows)
            np.testing.assert_allclose(there.agreement_, here.agreement_, atol=1e-6)
            np.testing.assert_allclose(here.agreement(rows), here.agreement_, atol=1e-6)


def test_rows_that_say_nothing_stand_out_nowhere(noisy):
    holes = noisy.copy()
    holes[20:25] = np.nan
    model = ODEFS(missing="ignore", random_state=0).fit(holes)
    assert not model.agreement_[20:25].any()
    assert not ODEFS(random_state=0).fit(np.ones((50, 3))).agreement_.any()


def test_model_files_keep_the_thresholds(noisy, tmp_path):
    model = ODEFS(trust=0.5, random_state=0).fit(noisy)
    model.save(tmp_path / "m.odefs")
    loaded = odefs.load(tmp_path / "m.odefs")
    assert np.array_equal(loaded.agreement(noisy), model.agreement_)
    with pytest.raises(AttributeError, match="has no agreement_"):
        _ = loaded.agreement_


def test_models_of_earlier_versions_say_what_they_lack():
    model = odefs.load(GOLDEN / "v1-lesinn.odefs")
    X = np.zeros((3, 5))
    assert np.isfinite(model.outlier_scores(X)).all()
    with pytest.raises(ValueError, match=r"kept no thresholds.*fit it again"):
        model.agreement(X)
    batch = pa.RecordBatch.from_pydict({f"c{k}": [0.0] for k in range(5)})
    assert next(odefs.score_batches(model, [batch])).schema.names == ["score", "outlier"]


def test_lesinn_has_none(noisy):
    assert not hasattr(LeSiNN(random_state=0).fit(noisy), "agreement_")
    frame = pl.DataFrame(noisy)
    found = odefs.detect(frame, model=LeSiNN(random_state=0))
    assert found.agreement is None
    assert "agreement" not in next(result_batches(table_of(frame), found, reasons="none"))


def test_arrow_batches(noisy):
    model = ODEFS(random_state=0).fit(noisy)
    batch = pa.RecordBatch.from_pydict({f"c{k}": noisy[:, k] for k in range(30)})
    out = next(odefs.score_batches(model, [batch]))
    assert np.array_equal(out.column("agreement").to_numpy(), model.agreement_)
    assert next(odefs.score_batches(model, [batch.slice(0, 0)])).schema == out.schema


def test_frames_and_reports(noisy):
    found = odefs.detect(pl.DataFrame(noisy))
    assert np.array_equal(found.agreement, found.model.agreement_)
    report = found.report()
    first = report.summary["top"][0]
    assert first["agreement"] == found.agreement[found.order[0]]
    flags = found.is_outlier
    assert report.summary["agreement"]["flagged"] == pytest.approx(found.agreement[flags].mean())
    assert report.summary["agreement"]["others"] == pytest.approx(found.agreement[~flags].mean())
    assert "Agreement" in report.html()
    assert "| agreement |" in report.markdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    X[:9, 2] += 9
    where = tmp_path_factory.mktemp("agreement")
    pl.DataFrame(X, schema=list("abcdef")).write_csv(where / "t.csv")
    return where


@pytest.mark.slow
def test_the_command_line(folder):
    done = run("detect", "t.csv", "-o", "s.csv", "--save", "m.odefs", "--no-report", cwd=folder)
    assert done.returncode == 0, done.stderr
    head = next(line for line in done.stdout.splitlines() if line.startswith("rank"))
    assert head.split() == ["rank", "row", "score", "agree", "why"]
    rows = read(folder / "s.csv")
    shares = np.array([float(row["agreement"]) for row in rows])
    found = odefs.detect(pl.read_csv(folder / "t.csv"))
    np.testing.assert_allclose(shares, found.agreement, atol=1e-9)
    done = run("score", "m.odefs", "t.csv", "-o", "again.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert [row["agreement"] for row in read(folder / "again.csv")] == [
        row["agreement"] for row in rows
    ]
    told = json.loads(run("score", "m.odefs", "t.csv", "--json", cwd=folder).stdout)
    assert told["top"][0]["agreement"] == 1.0
    assert told["agreement"]["flagged"] > told["agreement"]["others"]


@pytest.mark.slow
def test_the_command_line_on_a_file_that_does_not_fit(folder):
    pl.read_csv(folder / "t.csv").write_parquet(folder / "t.parquet")
    little = {"cwd": folder, "ODEFS_IN_PARTS": "1"}
    done = run("detect", "t.parquet", "-o", "large.csv", "--json", **little)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["agreement"]["flagged"] > 0.5
    found = odefs.detect(pl.read_csv(folder / "t.csv"))
    np.testing.assert_allclose(
        [float(row["agreement"]) for row in read(folder / "large.csv")], found.agreement, atol=1e-9
    )
    assert "agree" in run("detect", "t.parquet", **little).stdout


@pytest.mark.parametrize("wrong", [[1.0], ["a", "b", "c"], [[1.0], None, None], 7, {"a": 1}])
def test_crafted_thresholds_are_refused(wrong, noisy, tmp_path):
    ODEFS(
        detector="lesinn",
        n_estimators=2,
        trust=0.5,
        selection=FeatureSelection(n_rounds=1),
        random_state=0,
    ).fit(noisy).save(tmp_path / "m.odefs")
    header, arrays = read_file(tmp_path / "m.odefs")
    assert len(header["model"]["thresholds"]) == 3
    header["model"]["thresholds"] = wrong
    del header["arrays"]
    write_file(tmp_path / "m.odefs", header, arrays)
    with pytest.raises(odefs.ModelFileError, match="cannot be loaded"):
        odefs.load(tmp_path / "m.odefs")
