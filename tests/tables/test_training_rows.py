"""Rows of other tables are compared with the training rows, of which a file holds a summary."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

import odefs
from odefs.exceptions import ModelFileError
from odefs.tables import messages
from odefs.tables.detect import score_table
from odefs.tables.model_files.tables import load_table_model
from odefs.tables.reasons import training_rows
from odefs.tables.reasons.training_rows import get_training, put_training, training_rows_of
from odefs.tables.reasons.value_positions import ValuePositions
from odefs.tables.table import table_of

FAST = {"model": odefs.LeSiNN(scaling="none", random_state=0)}


def frame(n_rows: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    shop = rng.integers(0, 3, n_rows)
    return pl.DataFrame(
        {
            "price": (10 + 20 * shop + rng.normal(0, 1, n_rows)).round(2),
            "shop": np.array(["Bern", "Lyon", "Oslo"])[shop],
            "paid": rng.random(n_rows) < 0.9,
            "day": np.datetime64("2024-01-01") + rng.integers(0, 300, n_rows),
        }
    ).with_columns(
        pl.when(pl.int_range(pl.len()) % 11 == 0).then(None).otherwise("price").alias("price")
    )


NEW = pl.DataFrame(
    {
        "price": [900.0, 30.5, None],
        "shop": ["Lyon", "Lyno", "Oslo"],
        "paid": [True, True, False],
        "day": [date(2024, 5, 1), date(2024, 6, 1), date(2030, 1, 1)],
    }
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.odefs"
    odefs.detect(frame(), **FAST).save(path)
    return path


def scored(path, rows):
    loaded = load_table_model(path)
    return score_table(table_of(rows), loaded.model, loaded.encoder, training=loaded.training)[0]


def reasons_of(path, rows):
    found = scored(path, rows)
    return [{one.column: one for one in reasons} for reasons in found.reasons(range(len(rows)), 4)]


def test_positions_and_usual_values_are_those_of_training(saved):
    dear, misspelt, late = reasons_of(saved, NEW)
    assert dear["price"].percentile == 100
    assert dear["price"].beyond == 100
    low, high = dear["price"].usual
    assert 25 < low < high < 35, "as in Lyon"
    assert misspelt["shop"].frequency == 0
    assert misspelt["shop"].usual[0] == "Lyon"
    assert late["day"].percentile == 100
    assert all(one.of_training for row in (dear, misspelt, late) for one in row.values())
    assert messages.reason_details(misspelt["shop"]).startswith("never seen in training")


def test_reasons_do_not_depend_on_the_other_rows_of_the_file(saved):
    together = reasons_of(saved, NEW)
    alone = [reasons_of(saved, NEW[row : row + 1])[0] for row in range(len(NEW))]
    assert together == alone


def test_positions_of_a_small_table_are_exact(saved):
    table = odefs.detect(frame(), **FAST).table
    training, exact = load_table_model(saved).training, ValuePositions(table, table.n_rows)
    for column in table:
        cells = column.cells(np.arange(table.n_rows))
        assert training.positions(column.name, cells) == exact.positions(column.name, cells)


def test_positions_of_a_large_table_are_close():
    found = odefs.detect(frame(3000), **FAST)
    training = training_rows_of(found.encoder.specs_, found.table, ~found.is_outlier)
    exact = ValuePositions(found.table, found.n_rows)
    for column in found.table:
        cells = column.cells(np.arange(found.n_rows))
        for mine, theirs in zip(
            training.positions(column.name, cells), exact.positions(column.name, cells), strict=True
        ):
            assert mine.frequency == theirs.frequency
            assert mine.percentile == pytest.approx(theirs.percentile, abs=0.8)


def test_positions_of_a_large_table_are_bounds_that_hold():
    """The highest of many numbers is above more of them than of the few that a file has."""
    rng = np.random.default_rng(1)
    numbers = np.concatenate([rng.normal(50, 5, 19_999).round(3), [99.0]])
    found = odefs.detect(pl.DataFrame({"b": numbers}), **FAST)
    training = training_rows_of(found.encoder.specs_, found.table, ~found.is_outlier)
    assert training.columns["b"].ordered.size < numbers.size
    cells = [99.0, numbers.min(), 100.0, *numbers[:200], *rng.uniform(30, 70, 200)]
    for cell, position in zip(cells, training.positions("b", cells), strict=True):
        lower, higher = 100 * (numbers < cell).mean(), 100 * (numbers > cell).mean()
        assert position.percentile - position.equal / 2 <= lower + 1e-9
        assert 100 - position.percentile - position.equal / 2 <= higher + 1e-9
    highest, lowest, above, *_ = training.positions("b", cells)
    assert highest.percentile + highest.equal / 2 == pytest.approx(100)
    assert lowest.percentile == pytest.approx(lowest.equal / 2)
    assert (above.percentile, above.equal) == (100, 0)


def test_what_is_held_does_not_grow_with_the_rows():
    few, many = (odefs.detect(frame(n), **FAST) for n in (1000, 4000))
    sizes = []
    for found in (few, many):
        rows = training_rows_of(found.encoder.specs_, found.table, ~found.is_outlier)
        plain, arrays = put_training(rows)
        sizes.append({name: array.shape for name, array in arrays.items()})
        assert sum(map(len, plain["counts"])) < 20
    assert sizes[0] == sizes[1] == {"training_numbers": (2, 257), "training_sample": (4, 256)}


def test_wide_tables_hold_fewer_rows(monkeypatch):
    monkeypatch.setattr(training_rows, "MAX_CELLS", 4 * 40)
    found = odefs.detect(frame(1000), **FAST)
    rows = training_rows_of(found.encoder.specs_, found.table, ~found.is_outlier)
    assert rows.sample.n_rows == rows.columns["price"].ordered.size == 40


def test_what_is_read_is_what_was_written(saved):
    loaded = load_table_model(saved)
    plain, arrays = put_training(loaded.training)
    again = get_training(plain, arrays, loaded.encoder.specs_)
    for name, values in loaded.training.columns.items():
        assert again.columns[name].counts == values.counts
        assert again.columns[name].uncounted == values.uncounted
        np.testing.assert_array_equal(again.columns[name].ordered, values.ordered)
    for mine, theirs in zip(again.sample, loaded.training.sample, strict=True):
        np.testing.assert_array_equal(mine.values, theirs.values)


def test_a_loaded_pipeline_keeps_the_training_rows(saved, tmp_path):
    odefs.save(odefs.load(saved), tmp_path / "again.odefs")
    assert reasons_of(tmp_path / "again.odefs", NEW) == reasons_of(saved, NEW)


def test_a_file_without_training_rows_compares_a_row_with_no_other(tmp_path):
    encoder = odefs.TableEncoder()
    odefs.save(make_pipeline(encoder, FAST["model"]).fit(frame()), tmp_path / "p.odefs")
    dear, misspelt, _ = reasons_of(tmp_path / "p.odefs", NEW)
    assert dear["price"].percentile == 100
    assert misspelt["shop"].frequency == 0
    within = [one for row in (dear, misspelt) for one in row.values() if one.column == "day"]
    assert all(one.percentile is None for one in within)
    assert all(one.usual is None for row in (dear, misspelt) for one in row.values())


def test_rows_of_groups_have_the_usual_values_of_their_group(tmp_path):
    odefs.detect(frame(), by="shop", **FAST).save(tmp_path / "g.odefs")
    dear = reasons_of(tmp_path / "g.odefs", NEW[:1])[0]["price"]
    assert dear.group == (("shop", "Lyon"),)
    assert 25 < dear.usual[0] < dear.usual[1] < 35
    assert dear.percentile is None


def _number(arrays, row, cell):
    arrays["training_numbers"][0, row] = cell


def _cell(arrays, column, cell):
    arrays["training_sample"][column, 0] = cell


@pytest.mark.parametrize(
    "damage",
    [
        lambda plain, arrays: plain.update(n_rows=0),
        lambda plain, arrays: plain.update(n_rows=1),
        lambda plain, arrays: plain["counts"].pop(),
        lambda plain, arrays: plain["counts"][1].append(1),
        lambda plain, arrays: plain["counts"].__setitem__(1, "abc"),
        lambda plain, arrays: plain["counts"][1].__setitem__(0, -1),
        lambda plain, arrays: plain["counts"][1].__setitem__(0, 1.5),
        lambda plain, arrays: _number(arrays, 0, 1e9),
        lambda plain, arrays: _number(arrays, -1, np.inf),
        lambda plain, arrays: _number(arrays, slice(None), np.nan),
        lambda plain, arrays: _cell(arrays, 0, np.inf),
        lambda plain, arrays: _cell(arrays, 1, 4.0),
        lambda plain, arrays: _cell(arrays, 1, -1.0),
        lambda plain, arrays: _cell(arrays, 1, 0.5),
        lambda plain, arrays: _cell(arrays, 2, 2.0),
        lambda plain, arrays: arrays.update(training_sample=np.zeros((4, 300))),
        lambda plain, arrays: arrays.update(training_sample=np.zeros((3, 3))),
        lambda plain, arrays: arrays.update(training_sample=np.zeros(4)),
        lambda plain, arrays: arrays.update(training_numbers=np.zeros((2, 300))),
        lambda plain, arrays: arrays.update(training_numbers=np.zeros((3, 3))),
        lambda plain, arrays: arrays.update(training_numbers=np.zeros((2, 3), dtype=int)),
        lambda plain, arrays: arrays.pop("training_numbers"),
        lambda plain, arrays: arrays.update(more=np.zeros(1)),
    ],
)
def test_damaged_training_rows_are_refused(damage, saved):
    loaded = load_table_model(saved)
    plain, arrays = put_training(loaded.training)
    get_training(plain, arrays, loaded.encoder.specs_)
    damage(plain, arrays)
    with pytest.raises(ModelFileError):
        get_training(plain, arrays, loaded.encoder.specs_)


def test_arrays_without_a_description_are_refused(saved):
    loaded = load_table_model(saved)
    _, arrays = put_training(loaded.training)
    with pytest.raises(ModelFileError):
        get_training(None, arrays, loaded.encoder.specs_)
