"""The Dask engine against the fit in memory, on real worker processes, of which some are killed."""

import gc
import os
import signal
import time

import numpy as np
import pandas as pd
import pytest

from odefs import ODEFS, FeatureSelection, LeSiNN, TableEncoder

pytest.importorskip("distributed")
dask_engine = pytest.importorskip("odefs.engines.dask")
partitions = pytest.importorskip("odefs.engines.dask.partitions")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def client():
    with dask_engine.local_client(2) as client:
        yield client


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12))
    X[:70, :3] += 5
    return X


def assert_agree(there, here):
    np.testing.assert_allclose(there.outlier_scores_, here.outlier_scores_, rtol=1e-6)
    assert np.array_equal(there.is_outlier_, here.is_outlier_)
    assert there.offset_ == pytest.approx(here.offset_, rel=1e-6)
    np.testing.assert_allclose(there._baseline, here._baseline, rtol=1e-6)


@pytest.mark.parametrize("chunk", [70, 1000, 3000])
def test_arrays_of_any_chunks(client, chunk, X):
    import dask.array as da

    here = ODEFS(random_state=0, selection=FeatureSelection(normalization_rows=700)).fit(X)
    there = ODEFS(random_state=0, selection=FeatureSelection(normalization_rows=700)).fit(
        da.from_array(X, chunks=(chunk, 5))
    )
    assert_agree(there, here)
    assert np.array_equal(there.candidate_indices_, here.candidate_indices_)
    scores = here.outlier_scores(da.from_array(X, chunks=(chunk, 12)))
    assert np.array_equal(scores, here.outlier_scores_)


def test_data_frames_and_missing_values(client, X):
    import dask.dataframe as dd
    import pandas as pd

    X = X.astype(np.float32)
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(12)])
    settings = {"random_state": 0, "missing": "ignore"}
    there = ODEFS(**settings).fit(dd.from_pandas(frame, npartitions=5))
    assert_agree(there, ODEFS(**settings).fit(X))
    assert list(there.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="contains NaN"):
        ODEFS().fit(dd.from_pandas(frame, npartitions=5))


def test_parquet_paths_and_lesinn(client, X, tmp_path):
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({f"c{k}": X[:, k] for k in range(12)})
    for part in range(3):
        pq.write_table(
            table.slice(part * 1000, 1000), tmp_path / f"{part}.parquet", row_group_size=300
        )
    assert_agree(
        ODEFS(random_state=0, engine="dask").fit(str(tmp_path)), ODEFS(random_state=0).fit(X)
    )
    assert_agree(
        LeSiNN(random_state=0).fit(da.from_array(X, chunks=(800, 12))),
        LeSiNN(random_state=0).fit(X),
    )


def test_a_file_that_was_replaced_is_read_again(client, X, tmp_path):
    """Workers may keep rows of the old one while anything refers to them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(X):
        pq.write_table(pa.table({f"c{k}": X[:, k] for k in range(12)}), tmp_path / "t.parquet")

    broken = X.copy()
    broken[5, 5] = np.nan
    write(broken)
    with pytest.raises(ValueError, match="contains NaN") as kept:
        ODEFS(random_state=0, engine="dask").fit(str(tmp_path))
    write(X)
    assert_agree(
        ODEFS(random_state=0, engine="dask").fit(str(tmp_path)), ODEFS(random_state=0).fit(X)
    )
    assert kept.tb is not None
    del kept
    gc.collect()


def test_empty_partitions(client, X):
    import dask.array as da

    rows = da.concatenate([da.from_array(X[:1000]), da.from_array(X[:0]), da.from_array(X[1000:])])
    assert_agree(ODEFS(random_state=0).fit(rows), ODEFS(random_state=0).fit(X))


def test_rows_stay_with_the_workers(client, X, monkeypatch):
    """Of the table, no more comes back than the rows that were drawn."""
    import dask.array as da

    moved = []
    results = dask_engine.DaskEngine._results

    def counted(self, *arguments, **named):
        for result in results(self, *arguments, **named):
            if isinstance(result, tuple) and isinstance(result[1], dict):
                moved.extend(len(rows) for rows in result[1].values())
            yield result

    monkeypatch.setattr(dask_engine.DaskEngine, "_results", counted)
    rows = np.tile(X, (20, 1)) + np.random.default_rng(0).normal(scale=1e-3, size=(60_000, 12))
    ODEFS(random_state=0, n_estimators=3).fit(da.from_array(rows, chunks=(10_000, 12)))
    # References of 24 members, trial and baseline rows, and rounds of eight and three components of
    # 64 + 384 + 400.
    assert sum(moved) <= 24 * 400 + 8192 + 512 + (8 + 3) * 848


def read_once_more(block, counter):
    with open(counter, "a") as file:
        file.write("x")
    return block


@pytest.mark.parametrize(("kept_share", "at_least", "at_most"), [(1 / 3, 5, 5), (0, 15, 99)])
def test_partitions_are_kept_where_there_is_room_and_let_go_after_the_fit(
    client, X, tmp_path, monkeypatch, kept_share, at_least, at_most
):
    import dask.array as da

    monkeypatch.setattr(partitions, "KEPT_SHARE", kept_share)
    counter = tmp_path / "reads"
    rows = da.from_array(X, chunks=(600, 12)).map_blocks(
        read_once_more, str(counter), dtype=X.dtype, meta=np.empty((0, 0))
    )
    model = ODEFS(random_state=0).fit(rows)
    assert at_least <= len(counter.read_text()) <= at_most
    deadline = time.monotonic() + 30
    while any(keys for keys in client.has_what().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(keys for keys in client.has_what().values()), model


def fewer_later(block, counter, n_times):
    """The block, which lacks its last row from some reading on."""
    with open(counter, "a") as file:
        file.write("x")
    return block[:-1] if os.path.getsize(counter) > n_times else block


@pytest.mark.parametrize("n_times", [1, 2])
def test_every_pass_has_the_rows_of_the_first(client, X, tmp_path, monkeypatch, n_times):
    import dask.array as da

    monkeypatch.setattr(partitions, "KEPT_SHARE", 0)
    rows = da.from_array(X, chunks=(3000, 12)).map_blocks(
        fewer_later, str(tmp_path / "reads"), n_times, dtype=X.dtype, meta=np.empty((0, 0))
    )
    with pytest.raises(
        ValueError, match="a partition has 2999 rows in a later pass and had 3000 in the first"
    ):
        LeSiNN(random_state=0).fit(rows)


def test_no_partition_is_not_all_of_them(client, X):
    import dask.array as da

    engine = dask_engine.DaskEngine(da.from_array(X, chunks=(1000, 12)))
    engine.ranges()
    engine.prefetch("none", np.empty(0, dtype=np.int64))
    engine.run_prefetch()
    assert engine._held["none"].rows.shape == (0, 12)


def test_starting_workers_leaves_this_process_its_threads(monkeypatch):
    """distributed sets OMP_NUM_THREADS=1 before it starts or restarts a worker."""
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)

    def threads():
        return {name: value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}

    before = threads()
    with dask_engine.local_client(1) as client:
        assert threads() == before
        assert client.submit(os.getenv, "OMP_NUM_THREADS").result() == "1"
        os.environ["OMP_NUM_THREADS"] = "1"
    assert threads() == before


def test_without_a_client(monkeypatch, X):
    import distributed

    def nobody():
        raise ValueError("No global client found")

    monkeypatch.setattr(distributed, "get_client", nobody)
    monkeypatch.delenv("ODEFS_DASK_WORKERS", raising=False)
    with pytest.raises(ValueError, match="needs a running client"):
        ODEFS(engine="dask").fit("nowhere")


def test_what_is_refused(client, X):
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame(X, columns=[f"c{k}" for k in range(12)]), npartitions=2)
    for rows in (X, frame["c1"], da.from_array(X[:, 0])):
        with pytest.raises(TypeError, match="requires a 2-D Dask array"):
            ODEFS(engine="dask").fit(rows)
    for rows in (frame[[]], da.from_array(X[:, :0])):
        with pytest.raises(ValueError, match="the table has 0 columns: at least one is needed"):
            ODEFS().fit(rows)
    with pytest.raises(ValueError, match="hold complex128, not numbers"):
        ODEFS().fit(da.from_array(X.astype(complex)))


def test_every_parquet_file_counts_for_the_type(client, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    X = np.column_stack([1.7e9 + 60 * rng.random(600), rng.random(600)])
    none = pa.array([], pa.null())
    pq.write_table(pa.table({"a": none, "b": none}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path / "1.parquet")
    assert_agree(
        ODEFS(random_state=0, engine="dask").fit(str(tmp_path)), ODEFS(random_state=0).fit(X)
    )
    pq.write_table(pa.table({"a": ["x"], "b": [1.0]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet: column 'a' holds string, not numbers"):
        ODEFS(engine="dask").fit(str(tmp_path))


def slowly(block):
    time.sleep(0.15)
    return block


@pytest.mark.slow
@pytest.mark.parametrize("kept_share", [0, 1 / 3], ids=["read in every pass", "kept"])
def test_a_worker_killed_during_any_sweep_costs_no_result(X, monkeypatch, kept_share):
    """In every pass of the fit, once it has begun, one of the worker processes gets SIGKILL."""
    import dask.array as da

    monkeypatch.setattr(partitions, "KEPT_SHARE", kept_share)
    # A given trust has every kind of pass: the full space is swept first.
    settings = {
        "random_state": 0,
        "selection": FeatureSelection(normalization_rows=700),
        "trust": 0.5,
    }
    here = ODEFS(**settings).fit(X)
    killed = []
    results = dask_engine.DaskEngine._results

    def hit(self, task, *arguments, **named):
        coming = results(self, task, *arguments, **named)
        first = next(coming)
        # The nannies know their processes; asking the workers would fail for one that is
        # restarting.
        while not (
            pids := [nanny.pid for nanny in self.client.cluster.workers.values() if nanny.pid]
        ):
            time.sleep(0.05)
        os.kill(pids[0], signal.SIGKILL)
        killed.append(task.__name__)
        yield first
        yield from coming

    with dask_engine.local_client(2):
        monkeypatch.setattr(dask_engine.DaskEngine, "_results", hit)
        rows = da.from_array(X, chunks=(300, 12)).map_blocks(slowly, dtype=X.dtype)
        there = ODEFS(**settings).fit(rows)
    assert_agree(there, here)
    assert set(killed) == {"measure", "with_rows", "raw_scores", "sample_scores", "judged"}


def test_values_compared_within_groups(client):
    """The encoder is sent to the workers, and every partition is encoded there."""
    import dask.dataframe as dd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "shop": rng.choice(["Lyon", "Nice"], 1200),
            "sales": rng.normal(20, 2, 1200),
            "pay": rng.choice(["card", "cash"], 1200),
        }
    )
    frame.loc[frame["shop"] == "Nice", "sales"] *= 10
    frame.loc[7, ["shop", "sales"]] = ["Nice", 20.0]
    encoder = TableEncoder(by="shop").fit(frame)
    encoded = encoder.transform(frame)
    there = dd.from_pandas(frame, npartitions=3).map_partitions(encoder.transform, meta=encoded[:0])
    model = ODEFS(scaling="none", noise_columns="keep", random_state=0)
    scores = np.asarray(model.fit(there).outlier_scores_)
    np.testing.assert_allclose(scores, model.fit(encoded).outlier_scores_, rtol=1e-6)
    assert scores.argmax() == 7
