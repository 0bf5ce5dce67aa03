"""Products in slabs: the bits of a row depend on that row alone, whatever BLAS does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odefs.kernels import stable_products
from odefs.kernels.distances import nearest_squared, prepare_references
from odefs.kernels.distances_with_missing import masked_squared
from odefs.kernels.stable_products import SLAB_ROWS, SlabLayout, slab_layout
from odefs.system.threads import one_blas_thread

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


@pytest.fixture(autouse=True)
def pinned():
    with one_blas_thread():
        yield


@pytest.fixture
def probed_again():
    stable_products._layout.cache_clear()
    yield
    stable_products._layout.cache_clear()


@pytest.mark.parametrize("n_references", [1, 3, 8, 40, 400])
@pytest.mark.parametrize("n_columns", [1, 2, 7, 14, 27, 61, 200, 513])
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_a_row_has_the_same_product_at_every_place(n_references, n_columns, dtype):
    rng = np.random.default_rng(n_columns)
    layout = slab_layout(n_references, n_columns, dtype)
    references = stable_products.aligned(rng.normal(size=(n_references, n_columns)), layout.dtype)
    rows = rng.normal(size=(SLAB_ROWS, n_columns)).astype(dtype)
    together = layout.products(references, rows)
    np.testing.assert_allclose(together, references.astype(float) @ rows.T, rtol=1e-4, atol=1e-3)
    for shift in range(1, SLAB_ROWS):
        moved = layout.products(references, np.roll(rows, shift, axis=0))
        assert np.array_equal(np.roll(moved, -shift, axis=1), together)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 300), st.integers(1, 40), st.integers(1, 30), st.data())
def test_any_part_of_a_table_has_the_bits_of_the_whole(n_rows, n_columns, n_references, data):
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, n_columns)).astype(
        data.draw(st.sampled_from([np.float32, np.float64]))
    )
    r = rng.normal(size=(n_references, n_columns)).astype(X.dtype)
    start = data.draw(st.integers(0, n_rows - 1))
    stop = data.draw(st.integers(start + 1, n_rows))
    w = data.draw(st.sampled_from([None, rng.random(n_columns)]))
    references = prepare_references(r, 1, w)
    whole, part = nearest_squared(X, references), nearest_squared(X[start:stop], references)
    assert np.array_equal(part[:, : stop - start], whole[:, start:stop])
    X[rng.random(X.shape) < 0.2] = np.nan
    assert np.array_equal(
        masked_squared(X[start:stop], r, w), masked_squared(X, r, w)[:, start:stop]
    )


def _unsteady(bad_places):
    """BLAS with other bits at some positions of a call, as OpenBLAS with float32 on AVX2."""

    def product(references, rows, out):
        stable_products._by_einsum(references, rows, out)
        places = bad_places(rows.dtype, rows.shape[1])
        out[..., places] = np.nextafter(out[..., places], np.inf)

    return product


def test_spare_rows_take_the_places_that_differ(monkeypatch, probed_again):
    monkeypatch.setattr(stable_products, "_by_blas", _unsteady(lambda dtype, height: slice(0, 8)))
    assert slab_layout(40, 14, FLOAT32) == SlabLayout(FLOAT32, spare_rows=8)


def test_an_unsteady_precision_is_left_for_a_steady_one(monkeypatch, probed_again):
    def anywhere_in_float32(dtype, height):
        return slice(20, 22) if dtype == FLOAT32 else slice(0, 0)

    monkeypatch.setattr(stable_products, "_by_blas", _unsteady(anywhere_in_float32))
    assert slab_layout(40, 14, FLOAT32) == SlabLayout(FLOAT64, spare_rows=0)
    X = np.random.default_rng(0).random((200, 13)).astype(np.float32)
    references = prepare_references(X[:40], 10)
    together = nearest_squared(X, references)
    assert together.dtype == np.float64
    assert np.array_equal(nearest_squared(X[3:5], references)[:, :2], together[:, 3:5])


def test_without_a_steady_blas_rows_still_have_their_own_bits(monkeypatch, probed_again):
    monkeypatch.setattr(stable_products, "_by_blas", _unsteady(lambda dtype, height: slice(20, 22)))
    assert not slab_layout(40, 14, FLOAT64).uses_blas
    X = np.random.default_rng(0).random((200, 13))
    references = prepare_references(X[:40], 10)
    together = nearest_squared(X, references)
    for start, stop in [(0, 1), (3, 5), (150, 200)]:
        assert np.array_equal(
            nearest_squared(X[start:stop], references)[:, : stop - start], together[:, start:stop]
        )
