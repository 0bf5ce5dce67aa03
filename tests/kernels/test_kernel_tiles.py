"""Scoring on tiles: the digits of references, and agreement with the plain formula wherever tiles change shape, rows leave the range or squares lose digits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odefs.kernels import compiled, tiles
from odefs.kernels.compiled import mean_nearest
from odefs.kernels.compiled import pack_references as pack_for_any

pytestmark = pytest.mark.skipif("amx" not in compiled.levels_here(), reason="this processor multiplies no tiles")
# Where the number of tiles changes, with parts up to 15 columns and with digits from 16 on.
WIDTHS = (8, 10, 11, 15, 16, 20, 21, 26, 32, 33, 40, 41, 64, 65, 84, 85, 128, 129, 256)


def pack_references(rows, n_subsets, w=None):
    return pack_for_any(rows, n_subsets, w, with_tiles=True)


def distances(X, rows, n_subsets):
    squares = np.square(X[:, None].astype(float) - rows.astype(float)).sum(axis=2)
    return np.sqrt(squares.reshape(len(X), -1, n_subsets).min(axis=1)).mean(axis=1)


def packed_rows(rng, d, n_subsets=12, dtype=np.float32):
    rows = rng.normal(size=(8 * n_subsets, d)).astype(dtype)
    return rows, pack_references(rows, n_subsets)


def _first_half(words):
    """The bfloat16 that comes first in each word."""
    return (words << 16).view(np.float32)


def _second_half(words):
    return (words & 0xFFFF0000).view(np.float32)


@given(
    d=st.sampled_from(WIDTHS),
    n_subsets=st.integers(1, 5),
    exponent=st.integers(-8, 8),
    seed=st.integers(0, 2**32 - 1),
)
def test_tiles_hold_the_references(d, n_subsets, exponent, seed):
    members = (np.random.default_rng(seed).normal(size=(8, n_subsets, d)) * 10.0**exponent).astype(np.float32)
    packed = tiles.pack_tiles(members, False)
    expected = members.transpose(1, 0, 2).reshape(-1, d).astype(float)
    by_pair = packed.values.reshape(-(-n_subsets // 2), -1, 16, 64)
    if not packed.step:
        words = np.ascontiguousarray(by_pair.transpose(0, 2, 1, 3)).reshape(-1, 64 * by_pair.shape[1])
        words = words.view(np.uint32)[: len(expected)]
        first, second = (half(words[:, :2]).astype(float) for half in (_first_half, _second_half))
        np.testing.assert_allclose((first + second).sum(axis=1), np.square(expected).sum(axis=1), rtol=2e-7)
        words = words[:, 2 : 2 + 3 * d].reshape(-1, d, 3)
        middle, high, low = _first_half(words[..., 0]), _second_half(words[..., 0]), _first_half(words[..., 1])
        np.testing.assert_allclose(high.astype(float) + middle + low, -2 * expected, rtol=2e-7)
        return
    halves = np.ascontiguousarray(by_pair[:, 0]).view(np.int32)[..., 0].reshape(-1)[: len(expected)]
    unit = 2.0**24 * packed.step**2
    assert np.abs(halves - np.square(expected).sum(axis=1) / 2 / unit).max() <= 1.01
    width, n_third = -(-d // 4) * 4, -(-3 * (-(-d // 4)) // 16)
    last = by_pair[:, -n_third:].transpose(0, 2, 1, 3).reshape(-1, 64 * n_third)[: len(expected)].astype(float)
    small, middle, large = (last[:, i * width : i * width + d] for i in range(3))
    assert np.abs((large * 65536 + middle * 256 + small) * packed.step + expected).max() <= 0.5001 * packed.step


def test_what_has_no_tiles():
    rng = np.random.default_rng(0)

    def found(shape, dtype=np.float32, factor=1.0):
        return tiles.pack_tiles((factor * rng.normal(size=shape)).astype(dtype), False)

    assert found((8, 4, 20)) is not None
    assert found((8, 4, 20), np.float64) is None
    assert found((7, 4, 20)) is None
    assert found((8, 4, 7)) is None
    assert found((8, 4, 257)) is None
    assert found((8, 4, 20), factor=0.0) is None
    assert found((8, 4, 20), factor=1e-12) is None
    assert found((8, 4, 20), factor=np.nan) is None


def test_references_close_to_each_other_have_none():
    """A few large values would cost the others their digits."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 30)).astype(np.float32)
    rows[0] = 300
    assert pack_references(rows, 10).tiles is None


def test_references_whose_lost_products_add_up_have_none():
    """Counts of at least one: most products are the same, and what the digits leave out is of one sign."""
    rng = np.random.default_rng(0)
    for d in (64, 128):
        counts = (1 + (rng.random((400, d)) < 0.06) * rng.integers(20, 200, (400, d))).astype(np.float32)
        assert tiles.pack_tiles(counts.reshape(8, 50, d), False) is not None
        assert pack_references(counts, 50).tiles is None


@given(d=st.integers(1, 60), n_subsets=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
def test_lost_products_are_what_digits_leave_out(d, n_subsets, seed):
    rng = np.random.default_rng(seed)
    step = 2.0**-22
    numbers = rng.integers(-tiles.LARGEST, tiles.LARGEST + 1, size=(8 * n_subsets, d))
    probed = rng.permutation(len(numbers))[:5]
    rest, digits = -numbers, []
    for _ in range(3):
        digits.append((rest + 128) % 256 - 128)
        rest = (rest - digits[-1]) // 256
    third, second, first = digits
    a3, a2, a1 = (digit[probed] for digit in digits)
    kept = 2**32 * (a1 @ first.T) + 2**24 * (a1 @ second.T + a2 @ first.T)
    kept += 2**16 * (a1 @ third.T + a2 @ second.T + a3 @ first.T)
    members = (numbers * step).astype(np.float32).reshape(8, n_subsets, d)
    lost = tiles._pack(members, step, False, probed)[1]
    np.testing.assert_array_equal(256 * lost.astype(np.int64) + a3 @ third.T, numbers[probed] @ numbers.T - kept)


@pytest.mark.parametrize("d", [16, 26, 60, 128])
def test_squares_that_are_small_against_the_largest_value_are_computed_again(d):
    """One reference is far away. Packing would leave such to vectors; here it is not asked."""
    rng = np.random.default_rng(d)
    rows = (0.05 * rng.normal(size=(80, d))).astype(np.float32)
    rows[0] = 5
    X = (0.05 * rng.normal(size=(200, d))).astype(np.float32)
    expected = distances(X, rows, 10)
    found = tiles.pack_tiles(rows.reshape(8, 10, d), False)

    def error(with_tiles):
        packed = replace(pack_references(rows, 10), tiles=with_tiles)
        assert packed.product is not None
        return np.abs(mean_nearest(X, packed, level="amx", root=True) / expected - 1).max()

    assert error(found) < 1e-6
    assert error(replace(found, limit=0.0)) > 1e-5


@pytest.mark.parametrize("d", [8, 15])
def test_products_too_small_for_tiles_are_computed_directly(d):
    rng = np.random.default_rng(d)
    rows = (1e-18 * rng.normal(size=(80, d))).astype(np.float32)
    rows[:, 0] = 0
    rows[0, 0] = 1
    X = (1e-18 * rng.normal(size=(50, d))).astype(np.float32)
    X[:, 0] = 0
    packed = pack_references(rows, 10)
    packed = replace(packed, tiles=tiles.pack_tiles(rows.reshape(8, 10, d), False))
    assert packed.product is not None
    np.testing.assert_allclose(mean_nearest(X, packed, level="amx", root=True), distances(X, rows, 10), rtol=1e-5)


@pytest.mark.parametrize("d", [10, 26, 60])
def test_scores_are_off_to_no_side(d):
    rng = np.random.default_rng(d)
    rows, X = (rng.random((n, d)).astype(np.float32) - np.float32(0.5) for n in (400, 2000))
    packed = pack_references(rows, 50)
    off = mean_nearest(X, packed, level="amx", root=True) / distances(X, rows, 50) - 1
    assert abs(off.mean()) < 2e-8


@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("n_subsets", [2, 3, 8, 9, 50])
def test_tiles_agree_with_the_formula(d, n_subsets):
    rng = np.random.default_rng(d)
    rows, packed = packed_rows(rng, d, n_subsets)
    assert packed.tiles is not None
    X = rng.normal(size=(401, d)).astype(np.float32)
    for n in (1, 2, 16, 17, 48, 49, 401):
        scores = mean_nearest(X[:n], packed, level="amx", root=True)
        np.testing.assert_allclose(scores, distances(X[:n], rows, n_subsets), rtol=2e-6)


@settings(max_examples=60, deadline=None)
@given(
    d=st.integers(8, 128),
    n=st.integers(1, 120),
    n_subsets=st.integers(2, 20),
    kind=st.sampled_from(["uniform", "tails", "scaled", "far", "background"]),
    weighted=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_tiles_agree_whatever_the_rows_are(d, n, n_subsets, kind, weighted, seed):
    """Rows and references of a kind, of which some are the same or nearly so, and rows beyond the range of all references."""
    rng = np.random.default_rng(seed)
    both = rng.random((n + 8 * n_subsets, d)) - 0.5
    if kind == "tails":
        both = rng.standard_t(3, size=both.shape)
    if kind == "background":
        # One small value in most cells: what the digits leave out is of one sign.
        both = np.where(rng.random(both.shape) < 0.1, rng.uniform(0.2, 1, both.shape), rng.uniform(1e-4, 0.05))
    if kind == "scaled":
        both *= 10.0 ** rng.integers(-3, 4)
    both = both.astype(np.float32)
    X, rows = both[:n], both[n:]
    if kind == "far":
        X[rng.random(n) < 0.3] *= np.float32(10.0 ** rng.integers(1, 6))
    X[rng.random(n) < 0.2] = rows[rng.integers(len(rows))]
    X[rng.random(n) < 0.2] = rows[rng.integers(len(rows))] * np.float32(1.001)
    w = rng.uniform(0.1, 1, size=d) if weighted else None
    packed = pack_references(rows, n_subsets, w)
    root = np.ones(d) if w is None else np.sqrt(w)
    expected = distances(X * root, rows * root, n_subsets)
    scores = mean_nearest(X, packed, level="amx", root=True)
    # Duplicates under weights are apart by the rounding of their products, or not at all.
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=np.finfo(np.float32).eps * np.abs(both).max())


@pytest.mark.parametrize("d", WIDTHS)
def test_a_row_has_the_same_bits_alone_and_in_a_crowd(d):
    rng = np.random.default_rng(d)
    rows, packed = packed_rows(rng, d, 11)
    X = rng.normal(size=(230, d)).astype(np.float32)
    X[::7] *= 40
    X[::11] = rows[: len(X[::11])]
    X[5] = np.nan
    crowd = mean_nearest(X, packed, level="amx", root=True)
    alone = [mean_nearest(X[i : i + 1], packed, level="amx", root=True)[0] for i in range(len(X))]
    np.testing.assert_array_equal(crowd, alone)
    shuffled = rng.permutation(len(X))
    np.testing.assert_array_equal(mean_nearest(X[shuffled], packed, level="amx", root=True), crowd[shuffled])


@pytest.mark.parametrize("d", [10, 26, 60])
def test_rows_beyond_the_range_are_scored_as_by_vectors(d):
    rng = np.random.default_rng(0)
    _, packed = packed_rows(rng, d)
    X = rng.normal(size=(1000, d)).astype(np.float32)
    ordinary = mean_nearest(X, packed, level="amx", root=True)
    far = rng.random(1000) < 0.4
    X[far, 3] = rng.choice([1e16, -3e16, np.inf, np.nan], size=far.sum())
    scores = mean_nearest(X, packed, level="amx", root=True)
    np.testing.assert_array_equal(scores[~far], ordinary[~far])
    np.testing.assert_array_equal(scores[far], mean_nearest(X, packed, level="avx512", root=True)[far])


@pytest.mark.parametrize("d", [10, 26, 60])
def test_zeros_and_ones_are_exact(d):
    rng = np.random.default_rng(0)
    rows = (rng.random((96, d)) < 0.3).astype(np.float32)
    packed = pack_references(rows, 12)
    assert packed.tiles is not None
    X = np.concatenate([rows, (rng.random((300, d)) < 0.3).astype(np.float32)])
    squares = np.square(X[:, None] - rows).sum(axis=2).reshape(len(X), 8, 12).min(axis=1)
    np.testing.assert_array_equal(mean_nearest(X, packed, level="amx", root=False), squares.astype(float).mean(axis=1))


@pytest.mark.parametrize("d", [12, 30, 70])
def test_rows_may_lie_in_any_order(d):
    rng = np.random.default_rng(0)
    rows, packed = packed_rows(rng, d)
    wide = rng.normal(size=(150, 2 * d)).astype(np.float32)
    chosen = rng.permutation(2 * d)[:d]
    expected = mean_nearest(np.ascontiguousarray(wide[:, chosen]), packed, level="amx", root=True)
    for table in (wide, np.asfortranarray(wide)):
        picked = mean_nearest(table, packed, level="amx", root=True, columns=chosen)
        np.testing.assert_array_equal(picked, expected)
    backwards = np.ascontiguousarray(wide[::-1, chosen])[::-1]
    np.testing.assert_array_equal(mean_nearest(backwards, packed, level="amx", root=True), expected)
    np.testing.assert_allclose(expected, distances(wide[:, chosen], rows, 12), rtol=2e-6)
