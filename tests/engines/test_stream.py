"""Rows in blocks: the same result as in memory for any blocks, with bounded memory."""

import gc
import tempfile
import tracemalloc

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from odefs import ODEFS, FeatureSelection, LeSiNN
from odefs.detectors import IForestDetector
from odefs.engines import out_of_core, stream
from odefs.engines.row_blocks import rechunk
from odefs.engines.stream import RowBlocks
from odefs.kernels import row_reductions
from odefs.system.tempfiles import FileArray


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12))
    X[:70, :3] += 5
    return X


def cut(X, size):
    return RowBlocks.from_arrays([X[start : start + size] for start in range(0, len(X), size)])


def assert_same(there, here):
    assert np.array_equal(there.outlier_scores_, here.outlier_scores_)
    assert np.array_equal(there.is_outlier_, here.is_outlier_)
    assert there.offset_ == here.offset_
    assert np.array_equal(there._baseline, here._baseline)


MODELS = {
    "ODEFS": lambda **k: ODEFS(random_state=3, **k),
    "row sample": lambda **k: ODEFS(
        random_state=3, selection=FeatureSelection(normalization_rows=700), contamination=0.04, **k
    ),
    "paper": lambda **k: ODEFS.paper(random_state=3, **k),
    "shared references": lambda **k: ODEFS(
        random_state=3, selection=FeatureSelection(reference_rows="shared"), n_estimators=14, **k
    ),
    "iforest": lambda **k: ODEFS(
        detector=IForestDetector(n_trees=20), n_estimators=2, random_state=3, **k
    ),
    "tails": lambda **k: ODEFS(detector="tails", random_state=3, **k),
    "relations": lambda **k: ODEFS(detector="relations", random_state=3, **k),
    "auto": lambda **k: ODEFS(detector="auto", scaling="robust", random_state=3, **k),
    "no scaling": lambda **k: ODEFS(scaling="none", random_state=3, **k),
    "LeSiNN": lambda **k: LeSiNN(random_state=3, **k),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_on_blocks_is_the_fit_in_memory(name, X):
    model = MODELS[name]().fit(X)
    there = MODELS[name]().fit(cut(X, 777))
    assert_same(there, model)
    if name != "LeSiNN":
        assert np.array_equal(there.candidate_indices_, model.candidate_indices_)
        assert np.array_equal(there.feature_weights_, model.feature_weights_)


@pytest.mark.parametrize("size", [1, 16, 1000, 1024, 5000])
def test_bits_do_not_depend_on_the_blocks(size, X):
    X = X[:1500]
    model = ODEFS(random_state=0, selection=FeatureSelection(normalization_rows=500)).fit(X)
    there = ODEFS(random_state=0, selection=FeatureSelection(normalization_rows=500)).fit(
        cut(X, size)
    )
    assert_same(there, model)
    assert np.array_equal(
        np.concatenate(list(model.outlier_score_blocks(cut(X, size)))), model.outlier_scores_
    )
    assert np.array_equal(model.outlier_scores(cut(X, size)), model.outlier_scores_)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int16", "bool"])
def test_types_of_numbers(dtype, X):
    X = (X > 1.5) if dtype == "bool" else (X * 10).astype(dtype)
    assert_same(ODEFS(random_state=0).fit(cut(X, 800)), ODEFS(random_state=0).fit(X))


def test_missing_values(X):
    X = X.copy()
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    X[5] = np.nan
    model = ODEFS(random_state=0, missing="ignore").fit(X)
    assert_same(ODEFS(random_state=0, missing="ignore").fit(cut(X, 700)), model)
    with pytest.raises(ValueError, match="contains NaN"):
        ODEFS(random_state=0).fit(cut(X, 700))
    strict = ODEFS(random_state=0).fit(np.nan_to_num(X))
    with pytest.raises(ValueError, match="contains NaN"):
        list(strict.outlier_score_blocks(cut(X, 700)))
    X[7, 2] = np.inf
    with pytest.raises(ValueError, match="contains infinity"):
        ODEFS(random_state=0, missing="ignore").fit(cut(X, 700))


def test_repeated_rows_and_many_short_slabs(X, monkeypatch):
    """Equal rows are scored once in memory and every time here, in slabs of 1,024 rows."""
    monkeypatch.setattr(stream, "SLAB_BYTES", 1)
    monkeypatch.setattr(out_of_core, "IN_MEMORY", 0)
    X = np.repeat(np.round(X[:800]), 4, axis=0)
    assert_same(ODEFS(random_state=0).fit(cut(X, 90)), ODEFS(random_state=0).fit(X))


def test_files_of_rows_go_when_they_are_no_longer_needed(monkeypatch, tmp_path):
    """What is left beside the model has a number or two for each row."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(out_of_core, "IN_MEMORY", 0)
    rng = np.random.default_rng(0)
    model = ODEFS(random_state=0).fit(cut(rng.normal(size=(1000, 200)), 300))
    assert 1000 * 9 <= sum(path.stat().st_size for path in tmp_path.glob("odefs-*/*")) <= 1000 * 17
    del model
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_blas_is_free_between_blocks(X):
    blas = threadpool_limits(limits=2, user_api="blas")
    with blas:
        before = [library["num_threads"] for library in threadpool_info()]
        walk = ODEFS(random_state=0, n_estimators=2).fit(X).outlier_score_blocks(cut(X, 500))
        next(walk)
        assert [library["num_threads"] for library in threadpool_info()] == before


def test_batches_of_wide_files_have_fewer_rows(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X = np.zeros((3000, 5000), dtype=np.float32)
    pq.write_table(
        pa.table({f"x{k}": column for k, column in enumerate(X.T)}), tmp_path / "t.parquet"
    )
    heights = [len(block) for block in RowBlocks.from_parquet(tmp_path / "t.parquet")]
    assert sum(heights) == 3000
    assert max(heights) <= 2**23 // 5000


def test_components_are_read_in_portions_where_their_rows_are_too_many(X, monkeypatch):
    monkeypatch.setattr(out_of_core, "TRAINING_BYTES", 2000 * 12 * 8)
    for settings in ({}, {"n_estimators": 7}):
        here, there = (ODEFS(random_state=0, **settings).fit(rows) for rows in (X, cut(X, 700)))
        assert_same(there, here)


def test_short_stretches_change_only_last_digits(X, monkeypatch):
    model = ODEFS(random_state=0, contamination=0.03).fit(X)
    monkeypatch.setattr(row_reductions, "CHUNK_ROWS", 100)
    here, there = (ODEFS(random_state=0, contamination=0.03).fit(rows) for rows in (X, cut(X, 700)))
    np.testing.assert_allclose(there.outlier_scores_, model.outlier_scores_, rtol=1e-12)
    assert np.array_equal(there.is_outlier_, model.is_outlier_)
    assert_same(there, here)
    few = ODEFS(random_state=0, selection=FeatureSelection(candidate_threshold=50.0)).fit(
        cut(X, 700)
    )
    assert np.array_equal(
        few.candidate_indices_,
        ODEFS(random_state=0, selection=FeatureSelection(candidate_threshold=50.0))
        .fit(X)
        .candidate_indices_,
    )


def test_order_statistics_of_numbers_in_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(row_reductions, "CHUNK_ROWS", 64)
    rng = np.random.default_rng(0)
    (tmp_path / "numbers").write_bytes(bytes(8 * 1001))
    numbers = FileArray(tmp_path / "numbers", np.float64)
    numbers[:] = rng.normal(size=1001) * 10.0 ** rng.integers(-300, 300, 1001)
    numbers[:40] = [0.0, -0.0, 1.0, 1.0] * 10
    for k in (0, 1, 7, 500, 999, 1000):
        assert row_reductions.order_statistic(numbers, k) == np.sort(numbers)[k]
    for q in (0.0, 1.0, 3.3, 50.0, 100.0):
        assert row_reductions.negated_percentile(numbers, q) == np.percentile(
            -np.asarray(numbers), q
        )


@pytest.mark.parametrize(("trust", "expected"), [(0.5, 6), ("auto", 4)])
def test_passes(X, trust, expected):
    """Ranges, moments, components, scores.

    A given trust first scores on all columns; a second round of learning reads its rows.
    """
    passes = []

    def read():
        passes.append(1)
        return iter([X[:1000], X[1000:]])

    blocks = RowBlocks(read, 12, X.dtype)
    model = ODEFS(
        random_state=0, selection=FeatureSelection(normalization_rows=700), trust=trust
    ).fit(blocks)
    assert len(passes) == expected
    list(model.outlier_score_blocks(blocks))
    assert len(passes) == expected + 1


@pytest.mark.slow
def test_nothing_of_the_length_of_the_table_is_in_memory(monkeypatch, tmp_path):
    """A table of 64 MB is read with a few MB in memory; scores are in temporary files."""
    n, d = 400_000, 20
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(8192, d))

    def read():
        for start in range(0, n, 8192):
            block = np.roll(noise, start % 97, axis=1)[: n - start] + start * 1e-9
            block[:3, 1] += 9
            yield block

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(stream, "SLAB_BYTES", 2**21)
    ODEFS(random_state=0, n_estimators=2, n_jobs=1).fit(noise)
    tracemalloc.start()
    model = ODEFS(
        random_state=0,
        n_estimators=2,
        selection=FeatureSelection(normalization_rows=2000),
        n_jobs=1,
    ).fit(RowBlocks(read, d, noise.dtype))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Two slabs, and what a thread and training take. The table has 64 MB.
    assert peak < 2 * stream.SLAB_BYTES + 16 * 2**20
    assert isinstance(model.outlier_scores_, FileArray)
    assert isinstance(model.is_outlier_, FileArray)
    assert len(list(tmp_path.glob("odefs-*/*.bin"))) >= 2
    del model
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_parquet_files_and_datasets(X, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    names = [f"c{k}" for k in range(12)]
    table = pa.table({name: X[:, k] for k, name in enumerate(names)})
    for part in range(3):
        pq.write_table(
            table.slice(part * 1000, 1000), tmp_path / f"{part}.parquet", row_group_size=300
        )
    model = ODEFS(random_state=0).fit(X)
    sources = [
        RowBlocks.from_parquet(tmp_path, batch_rows=110),
        RowBlocks.from_parquet([tmp_path / f"{part}.parquet" for part in range(3)]),
        RowBlocks.from_dataset(ds.dataset(tmp_path), batch_rows=450),
    ]
    for blocks in sources:
        there = ODEFS(random_state=0).fit(blocks)
        assert_same(there, model)
        assert list(there.feature_names_in_) == names
    assert_same(ODEFS(random_state=0, engine="stream").fit(str(tmp_path)), model)
    some = ODEFS(random_state=0).fit(RowBlocks.from_parquet(tmp_path, columns=["c3", "c0", "c1"]))
    assert_same(some, ODEFS(random_state=0).fit(X[:, [3, 0, 1]]))


def test_parquet_with_nulls_and_mixed_types(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    whole, truth, real = (
        rng.integers(0, 9, 500),
        rng.random(500) < 0.3,
        rng.normal(size=500).astype(np.float32),
    )
    gone = rng.random(500) < 0.1
    columns = {
        "whole": pa.array(whole, pa.int16(), mask=gone),
        "truth": pa.array(truth, pa.bool_(), mask=gone),
        "real": pa.array(real, mask=gone),
        "text": ["a"] * 500,
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="'text' holds string, not numbers"):
        RowBlocks.from_parquet(tmp_path / "t.parquet")
    X = np.column_stack([whole, truth, real]).astype(np.float32)
    X[gone] = np.nan
    blocks = RowBlocks.from_parquet(tmp_path / "t.parquet", columns=["whole", "truth", "real"])
    assert blocks.dtype == np.float32
    kept = {"missing": "ignore", "random_state": 0}
    assert_same(ODEFS(**kept).fit(blocks), ODEFS(**kept).fit(X))


def far_numbers(n=600):
    """Cells that float32 does not hold: seconds of a minute in the year 2023."""
    rng = np.random.default_rng(0)
    return np.column_stack([1.7e9 + 60 * rng.random(n), rng.random(n)])


@pytest.mark.parametrize("first", ["null", "int16", "bool", "float"])
def test_every_parquet_file_counts_for_the_type(first, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    X = far_numbers()
    column = {
        "null": pa.array([], pa.null()),
        "int16": pa.array([0, 1, 1], pa.int16()),
        "bool": pa.array([False, True, True]),
        "float": pa.array([0.0, 1.0, 1.0], pa.float32()),
    }[first]
    pq.write_table(pa.table({"a": column, "b": column}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path / "1.parquet")
    blocks = RowBlocks.from_parquet(tmp_path)
    rows = np.concatenate([np.repeat([[0.0], [1.0], [1.0]], 2, axis=1)[: len(column)], X])
    assert np.array_equal(np.concatenate(list(blocks)), rows)
    assert_same(LeSiNN(random_state=0).fit(blocks), LeSiNN(random_state=0).fit(rows))
    pq.write_table(pa.table({"a": ["x"], "b": [1.0]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet: column 'a' holds string, not numbers"):
        RowBlocks.from_parquet(tmp_path)
    assert RowBlocks.from_parquet(tmp_path, columns=["b"]).n_columns == 1


def test_two_parquet_columns_of_one_name(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table([pa.array([1.0, 2.0])] * 2, names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="two columns are called 'a'"):
        RowBlocks.from_parquet(tmp_path / "t.parquet")


def test_every_block_counts_for_the_type():
    X = far_numbers()
    whole = np.arange(200, dtype=np.int16).reshape(100, 2)
    both = np.concatenate([whole, X])
    assert_same(
        LeSiNN(random_state=0).fit(RowBlocks.from_arrays([whole, X])),
        LeSiNN(random_state=0).fit(both),
    )
    # Of a function the first block alone can be asked beforehand.
    blocks = RowBlocks.from_arrays(lambda: iter([whole, X]))
    with pytest.raises(ValueError, match=r"holds float64, .* is int16, which would cut digits"):
        LeSiNN(random_state=0).fit(blocks)
    with pytest.raises(ValueError, match=r"holds float64, .* is int16, which would cut digits"):
        LeSiNN(random_state=0).fit(both).outlier_scores(blocks)
    wide = RowBlocks(lambda: iter([whole, X]), 2, np.dtype(np.float64))
    assert_same(LeSiNN(random_state=0).fit(wide), LeSiNN(random_state=0).fit(both))


@pytest.mark.parametrize("kind", ["complex128", "U8", "datetime64[s]", "object"])
def test_what_are_no_numbers_is_refused(kind, X):
    strange = X.astype(kind)
    for arrays in (strange, [strange], lambda: iter([strange]), [X, strange]):
        with pytest.raises(ValueError, match="blocks are 2-D arrays of numbers"):
            RowBlocks.from_arrays(arrays)
    with pytest.raises(ValueError, match="blocks are 2-D arrays of numbers"):
        LeSiNN().fit(RowBlocks(lambda: iter([strange]), 12, X.dtype))
    with pytest.raises(ValueError, match=r"the rows hold .*, not numbers"):
        RowBlocks(lambda: iter([strange]), 12, strange.dtype)


def test_shapes_and_names_that_do_not_fit_are_refused(X):
    for arrays in (X[:, 0], [X[:, 0]], X[None]):
        with pytest.raises(ValueError, match="blocks are 2-D arrays of numbers"):
            RowBlocks.from_arrays(arrays)
    for arrays in (X[:, :0], [X[:, :0]]):
        with pytest.raises(ValueError, match="the table has 0 columns: at least one is needed"):
            RowBlocks.from_arrays(arrays)
    with pytest.raises(ValueError, match="5 names for 12 columns"):
        RowBlocks.from_arrays(X, names=list("abcde"))
    with pytest.raises(ValueError, match="no blocks of rows"):
        RowBlocks.from_arrays([])


@pytest.mark.parametrize(
    ("model", "later"),
    [
        (LeSiNN(random_state=0), 2),
        (LeSiNN(random_state=0), 3),
        (ODEFS(random_state=0, selection=FeatureSelection(normalization_rows=700)), 3),
        (ODEFS(random_state=0, selection=FeatureSelection(normalization_rows=700)), 4),
        (ODEFS(random_state=0, selection=FeatureSelection(normalization_rows=700), trust=0.5), 6),
    ],
)
def test_every_pass_has_the_rows_of_the_first(model, later, X):
    """Rows missing from a later pass would be scored 0 and learned from stale memory."""
    parts = [X[:1000], X[1000:2000], X[2000:]]

    def blocks(first, then):
        passes = []

        def read():
            passes.append(1)
            return iter(first if len(passes) < later else then)

        return RowBlocks(read, 12, X.dtype)

    for then in (parts[:2], []):
        with pytest.raises(
            ValueError,
            match=rf"{sum(map(len, then))} rows were read in a later pass, but 3000 in the first",
        ):
            model.fit(blocks(parts, then))
    with pytest.raises(ValueError, match="rows were read in a later pass, but 2000 in the first"):
        model.fit(blocks(parts[:2], parts))


def test_an_iterator_that_is_used_up(X):
    iterator = iter([X[:1000], X[1000:]])
    with pytest.raises(ValueError, match="0 rows were read in a later pass"):
        ODEFS(random_state=0).fit(RowBlocks(lambda: iterator, 12, X.dtype))


def test_rows_that_were_announced_come_when_scoring(X):
    model = LeSiNN(random_state=0).fit(X)
    for n_rows in (2999, 3001):
        with pytest.raises(ValueError, match=f"{n_rows} were expected"):
            model.outlier_scores(RowBlocks(lambda: iter([X]), 12, X.dtype, n_rows=n_rows))


def test_what_is_refused(X):
    model = ODEFS(random_state=0).fit(X)
    with pytest.raises(TypeError, match="explain takes rows that are in memory"):
        model.explain(cut(X, 100))
    with pytest.raises(ValueError, match="3 features"):
        model.outlier_scores(cut(X[:, :3], 100))
    with pytest.raises(TypeError, match="engine='local' takes rows that are in memory"):
        ODEFS(engine="local").fit(cut(X, 100))
    with pytest.raises(TypeError, match="readable several times"):
        RowBlocks.from_arrays(iter([X]))
    with pytest.raises(ValueError, match="shape"):
        ODEFS().fit(RowBlocks.from_arrays([X, X[:, :3]]))
    with pytest.raises(ValueError, match="at least 2 rows"):
        ODEFS().fit(cut(X[:1], 100))
    with pytest.raises(ValueError, match="5 were expected"):
        ODEFS().fit(RowBlocks(lambda: iter([X]), 12, X.dtype, n_rows=5))
    named = ODEFS(random_state=0).fit(RowBlocks.from_arrays(X, names=list("abcdefghijkl")))
    with pytest.raises(ValueError, match="'z'"):
        named.outlier_scores(RowBlocks.from_arrays(X, names=list("abcdefghijkz")))


def test_models_from_blocks_are_saved_and_score_arrays(X, tmp_path):
    import odefs

    model = ODEFS(random_state=0, engine="stream").fit(X)
    model.save(tmp_path / "m.odefs")
    assert np.array_equal(odefs.load(tmp_path / "m.odefs").outlier_scores(X), model.outlier_scores_)


def test_blocks_are_cut_anew():
    X = np.arange(34).reshape(17, 2)
    parts = [
        part.copy()
        for part in rechunk([X[:1], X[1:1], X[1:12], X[12:]], 5, 2, np.dtype(np.float32))
    ]
    assert [len(part) for part in parts] == [5, 5, 5, 2]
    assert np.array_equal(np.concatenate(parts), X)


def test_the_type_of_blocks_may_be_named(X):
    named = RowBlocks(lambda: iter([X]), X.shape[1], "float32")
    assert named.dtype == np.float32
    assert RowBlocks(lambda: iter([X]), X.shape[1], np.float32).dtype == np.float32


@pytest.mark.parametrize("path", [[], ()])
def test_an_empty_list_of_parquet_files_is_refused(path):
    with pytest.raises(ValueError, match="at least one"):
        RowBlocks.from_parquet(path)
