"""Reasons in blocks equal those found row by row; files compute no more than they show."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odefs
from odefs.inspection.explanation import Reason
from odefs.tables import messages
from odefs.tables.frames.columns import Column
from odefs.tables.reasons import find as reasons
from odefs.tables.reasons import similar_rows
from odefs.tables.reasons.similar_rows import LIKE_IT, MAX_DISTANCE, SimilarRows, nearest
from odefs.tables.reasons.value_positions import COMMON, FEWEST_ALIKE


def frame(n_rows: int, seed: int = 0) -> pl.DataFrame:
    """Numbers, a category, a boolean, a date, a time of day; missing cells and many equal rows."""
    rng = np.random.default_rng(seed)
    size = np.round(rng.normal(50, 10, n_rows), 1)
    size[:5] += 200
    level = rng.integers(0, 3, n_rows)
    start = np.datetime64("2024-01-01T00:00:00", "ms")
    return pl.DataFrame(
        {
            "size": np.where(rng.random(n_rows) < 0.1, np.nan, size),
            "level": level,
            "twin": 2 * level + (rng.random(n_rows) < 0.02),
            "shop": rng.choice(["Lyon", "Oslo", "Rome", "Bern"], n_rows, p=[0.6, 0.3, 0.08, 0.02]),
            "paid": rng.random(n_rows) < 0.95,
            "day": start + (rng.integers(0, 400, n_rows) * 86_400_000).astype("timedelta64[ms]"),
            "hour": (rng.normal(12, 2, n_rows).clip(0, 23.9) * 3600).astype(int),
        }
    ).with_columns(
        pl.col("size").fill_nan(None),
        pl.when(pl.int_range(pl.len()) % 17 == 0).then(None).otherwise("shop").alias("shop"),
        pl.from_epoch("hour", time_unit="s").alias("hour"),
    )


def row_by_row(found: odefs.Detection, rows: list[int], k: int = 3) -> list[list[Reason]]:
    """The same reasons, each cell on its own."""
    encoder, table = found.encoder, found.table
    explanation = found.model.explain(found.X[rows])
    values = encoder.by_column(np.asarray(explanation))
    excess = values - encoder.by_column(explanation.baseline)
    out = []
    for i, row in enumerate(rows):
        order = np.argsort(-excess[i], kind="stable")[: k + reasons.SPARE]
        least = reasons.MIN_SHARE_OF_LARGEST * excess[i, order[0]]
        named = [int(c) for c in order if excess[i, c] > 0 and excess[i, c] >= least]
        rare = [c for c in named if not is_common(table[encoder.columns[c]], row)]
        out.append(
            [
                reason(found, row, c, float(values[i, c]), float(excess[i, c]))
                for c in (rare or named)[:k]
            ]
        )
    return out


def is_common(column: Column, row: int) -> bool:
    n_rows, cell = len(column), column.at(row)
    if cell is None:
        alike = np.count_nonzero(column.missing)
    elif column.kind in ("number", "time"):
        known = column.values[~column.missing]
        alike = np.count_nonzero(known == cell) / known.size * n_rows
    else:
        cells = [column.at(i) for i in range(n_rows)]
        counts = {one: cells.count(one) for one in {*cells, None}}
        alike = sum(count for count in counts.values() if count <= 2 * counts[cell])
    return alike - 1 >= max(COMMON * n_rows, FEWEST_ALIKE) - 1e-9


def reason(found: odefs.Detection, row: int, c: int, value: float, excess: float) -> Reason:
    column = found.table[found.encoder.columns[c]]
    cell, known = column.at(row), column.values[~column.missing]
    percentile = equal = frequency = None
    if column.kind in ("number", "time") and cell is not None:
        below, upto = np.count_nonzero(known < cell), np.count_nonzero(known <= cell)
        percentile, equal = 50.0 * (below + upto) / known.size, 100.0 * (upto - below) / known.size
    else:
        frequency = sum(column.at(i) == cell for i in range(len(column))) / len(column)
    return Reason(
        column.name,
        cell,
        value,
        excess,
        column.kind,
        value / float(found.scores[row]),
        percentile,
        frequency,
        usual(found, row, c),
        equal,
    )


def usual(found: odefs.Detection, row: int, c: int) -> tuple[object, float] | None:
    """Sort all ordinary rows by their distance, column ``c`` left out."""
    ordinary = np.flatnonzero(~found.is_outlier)
    encoded = found.encoder.filled(found.X)
    cells = encoded[ordinary]
    spread = cells.std(axis=0)
    scale = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
    sample = np.clip(cells * scale, -MAX_DISTANCE, MAX_DISTANCE)
    # All rows in one product, as its digits may depend on the number of rows.
    scaled = np.clip(encoded * scale, -MAX_DISTANCE, MAX_DISTANCE)
    cross = scaled @ sample.T
    mine = scaled[row]
    distances = (scaled * scaled).sum(axis=1)[row] - 2 * cross[row] + (sample**2).sum(axis=1)
    own = found.encoder.sources == c
    others = distances - ((mine[own] - sample[:, own]) ** 2).sum(axis=1)
    near = ordinary[np.argsort(others, kind="stable")[:LIKE_IT]]
    column = found.table[found.encoder.columns[c]]
    near = near[~column.missing[near]]
    if not near.size:
        return None
    if column.kind in ("number", "time"):
        method = "nearest" if column.kind == "time" else "linear"
        low, high = np.quantile(column.values[near], [0.25, 0.75], method=method)
        return float(low), float(high)
    found_values = [column.at(int(i)) for i in near]
    most = max(sorted(set(found_values)), key=found_values.count)
    return most, found_values.count(most) / near.size


@pytest.mark.parametrize(("n_rows", "seed"), [(40, 1), (300, 0), (700, 2)])
def test_reasons_in_blocks_are_those_of_each_row(n_rows, seed):
    found = odefs.detect(frame(n_rows, seed))
    rows = list(range(n_rows))
    blocks = found.reasons(rows)
    assert blocks == row_by_row(found, rows)
    assert {one.kind for reasons in blocks for one in reasons} >= {"number", "category"}


@pytest.mark.parametrize("by", [(), "shop"])
def test_reasons_do_not_depend_on_the_size_of_blocks(by, monkeypatch):
    found = odefs.detect(frame(600), by=by)
    rows = np.arange(600)
    expected = found.reasons(rows)
    monkeypatch.setattr(similar_rows, "CELLS_PER_BLOCK", 7 * 600)
    assert found.reasons(rows) == expected
    assert found.reasons(rows[::-1])[::-1] == expected
    assert [found.reasons(row)[0] for row in range(0, 600, 50)] == expected[::50]


def test_wide_tables_are_explained_in_smaller_blocks(monkeypatch):
    found = odefs.detect(frame(300))
    sizes = []
    explain = found.finder.model.explain
    monkeypatch.setattr(reasons, "CELLS_PER_BLOCK", 64 * found.X.shape[1])
    monkeypatch.setattr(
        found.finder, "model", type("Counting", (), {"explain": lambda self, X: note(X)})()
    )

    def note(X):
        sizes.append(len(X))
        return explain(X)

    found.reasons(np.arange(300))
    assert sizes == [64, 64, 64, 64, 44]


@pytest.mark.parametrize("by", [(), "shop"])
def test_texts_need_no_more_usual_values_than_those_they_show(by, monkeypatch):
    found = odefs.detect(frame(500), by=by)
    rows = np.arange(500)
    arguments = found.table, found.X, found.scores, rows
    full = found.finder.reasons(*arguments)
    compared = []
    compare = SimilarRows.compare
    monkeypatch.setattr(
        SimilarRows, "compare", lambda self, X: (compared.append(len(X)), compare(self, X))[1]
    )
    short = found.finder.reasons(*arguments, needs_usual=messages.needs_usual)
    assert [messages.reason_texts(one) for one in short] == [
        messages.reason_texts(one) for one in full
    ]
    without_hour = odefs.detect(frame(500).drop("hour"))
    compared.clear()
    short = without_hour.finder.reasons(
        without_hour.table,
        without_hour.X,
        without_hour.scores,
        rows,
        needs_usual=messages.needs_usual,
    )
    assert any(short)
    assert not compared


def test_groups_are_looked_up_once():
    found = odefs.detect(frame(400), by="shop")
    peers = found.finder._peers
    first, again = (peers.of_rows(found.table, np.arange(400)) for _ in range(2))
    assert all(a is b for a, b in zip(first, again, strict=True))
    codes = found.table.groups
    for one, code in zip(first, codes, strict=True):
        if one is not None:
            np.testing.assert_array_equal(one.rows, np.flatnonzero(codes == code))


@given(
    st.lists(
        st.lists(st.one_of(st.integers(0, 4).map(float), st.just(np.nan)), min_size=9, max_size=9),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 12),
)
@settings(max_examples=60, deadline=None)
def test_the_nearest_places_are_the_first_of_a_stable_sort(rows, n):
    distances = np.array(rows)
    expected = np.sort(np.argsort(distances, axis=1, kind="stable")[:, :n], axis=1)
    np.testing.assert_array_equal(nearest(distances, n), expected)


@pytest.mark.parametrize("by", [None, "shop"])
def test_usual_dates_are_dates_of_the_column(by):
    """Between two days there might be a time of day, which no date of the column has."""
    rng = np.random.default_rng(0)
    n = 400
    shop = np.where(rng.random(n) < 0.5, "Lyon", "Nice")
    months = np.datetime64("2110-01") + rng.integers(0, 60, n) + 200 * (shop == "Nice")
    days = months.astype("datetime64[D]")
    days[3] = np.datetime64("2300-05-01")
    frame = pl.DataFrame({"shop": shop, "day": days, "x": rng.normal(size=n)})
    found = odefs.detect(frame, by=by, model=odefs.LeSiNN(scaling="none", random_state=0))
    (reason,) = (one for one in found.reasons(3)[0] if one.column == "day")
    known = {float(day) for day in days.astype("datetime64[s]").astype(np.int64)}
    assert set(reason.usual) <= known
