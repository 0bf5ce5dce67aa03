"""Ranges of other values that checks quote: of all other cells, or with those that are left out."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from odefs.tables.checks import find, find_checks
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.learning import learn_encoder
from odefs.tables.table import table_of

COMPARED = ("zero", "negative", "code", "extreme_value")


def checks_of(cells):
    frame = pl.DataFrame({"x": cells, "y": np.arange(len(cells)) % 7.0})
    table, encoder = table_of(frame), ColumnEncoder()
    learn_encoder(encoder, table, table.names, 0)
    return {check.kind: check for check in find_checks(table, encoder, table.names)}


def planted(*values):
    """Return sizes of about 50 with some other values."""
    cells = np.random.default_rng(0).normal(50, 3, 500).round(1)
    cells[10 : 10 + len(values)] = values
    return cells


COLUMNS = {
    "sensor": (planted(150, *[-127.0] * 5), {"extreme_value": {-127.0}, "negative": set()}),
    "codes": (planted(-999, -999, 999, 999, 150), {"extreme_value": {-999.0, 999.0}}),
    "zeros": (planted(0, 0, 300), {"extreme_value": {0.0}, "zero": set()}),
    "zeros and a code": (planted(0, -99, -99), {"zero": {-99.0}, "code": set()}),
    "no code": (np.array([*range(1, 6)] * 80 + [-1.0] * 3 + [99.0] * 2), {"code": set()}),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_range_is_that_of_all_other_cells_but_those_named(name):
    cells, expected = COLUMNS[name]
    found = checks_of(cells)
    for kind, values in expected.items():
        assert set(found[kind].apart) == values
    for check in found.values():
        if check.kind in COMPARED:
            others = np.delete(cells, check.rows)
            left_out = np.isin(others, check.apart)
            assert check.apart_count == left_out.sum()
            assert check.usual == (others[~left_out].min(), others[~left_out].max())


def test_cells_of_text_are_named_as_they_are():
    cells = [f"${cell:.2f}" for cell in planted()]
    cells[7], cells[8] = "$1250000.00", "-$80.00"
    check = checks_of(cells)["extreme_value"]
    assert (check.values, check.apart, check.apart_count) == (("$1250000.00",), ("-$80.00",), 1)


def test_planned_dates_belong_to_the_others():
    days = [date(2015, 1, 1) + timedelta(days=k) for k in range(300)]
    days[5], days[9] = date(2999, 1, 1), date(1912, 1, 1)
    frame = pl.DataFrame({"due": days, "y": np.arange(300) % 7.0})
    table, encoder = table_of(frame), ColumnEncoder()
    learn_encoder(encoder, table, table.names, 0)
    (check,) = find_checks(table, encoder, table.names)
    assert (check.kind, check.rows, check.apart_count) == ("extreme_value", (9,), 0)
    assert check.usual[1] > 3e10


def test_small_negative_numbers_among_large_positive_ones_are_not_far():
    """A budget: most entries are near zero, a few are very large, some are negative."""
    rng = np.random.default_rng(0)
    cells = np.round(rng.lognormal(9, 3.5, 240))
    cells[:90] = 0
    cells[100:106] = [-2_700_000, -2_100_000, -50_000, -40_000, -30_000, -9_000]
    assert "extreme_value" not in checks_of(cells)
    cells[100] = -100 * cells.max()
    assert checks_of(cells)["extreme_value"].rows == (100,)


@pytest.mark.parametrize(
    ("others", "negative", "is_named"),
    {
        "sizes": (np.arange(40, 60, 0.5), [-2.0] * 3, True),
        "two codes": (np.arange(40, 60, 0.5), [-2.0, -2.0, -1.0], True),
        "grades": (np.tile([1.0, 2, 3, 4, 5], 20), [-1.0] * 5, True),
        "grades with a zero": (np.tile([0.0, 1, 2, 3, 4, 5], 20), [-1.0] * 5, False),
        "signs": (np.ones(90), [-1.0] * 5, False),
        "many": (np.tile([1.0, 2, 3, 4, 5], 20), [-1.0] * 30, False),
        "different numbers": (np.arange(1, 90.0), [-1.5, -2.5, -4.5, -7.5], False),
    }.values(),
)
def test_repeated_negative_numbers_among_positive_ones_are_named(others, negative, is_named):
    found = checks_of(np.concatenate([others, negative]))
    rows = tuple(range(others.size, others.size + len(negative)))
    assert [check.rows for check in found.values()] == [rows] * is_named
    assert set(found) <= {"negative"}


@pytest.mark.parametrize("n", [100, 240, 3000])
def test_a_small_negative_number_among_counts_is_named(n):
    """Counts from 1 to 58 do not end in a tail that would go on below zero."""
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 59, n)
    assert set(checks_of(np.append(counts, -12))) == {"negative"}
    for sizes in (rng.normal(30, 10, n).round(), rng.normal(30, 10, n), rng.gamma(9, 3, n)):
        lowest = np.sort(sizes)[1]
        assert "negative" not in checks_of(np.append(sizes[sizes >= lowest] - lowest, -1.0))


def test_many_negative_numbers_do_not_hide_the_other_values():
    """More negative numbers than extreme values are kept, and more cells than the sample has."""
    cells = np.random.default_rng(0).normal(50, 3, 30_000).round(3)
    cells[::300] = -250
    cells[::300] -= np.arange(100)
    cells[7], cells[11] = 0.4, 9000
    found = checks_of(cells)
    assert found["negative"].count == 100
    assert found["negative"].usual == (0.4, 9000)
    assert 11 in found["extreme_value"].rows
    # As text, numbers come from the distinct values, and special ones are kept apart.
    cells[13] = 0
    found = checks_of([f"{cell} kg" for cell in cells])
    assert found["negative"].usual == (0, 9000)


def test_the_work_for_ranges_grows_with_the_columns_not_their_square(monkeypatch):
    compared = []
    monkeypatch.setattr(find, "_with_cells_apart", count_cells(find._with_cells_apart, compared))
    cells = np.random.default_rng(0).normal(50, 3, (60, 30))
    cells[3], cells[4], cells[5:7] = 5000, -5, -999
    frame = pl.DataFrame({f"c{k}": column for k, column in enumerate(cells.T)})
    table, encoder = table_of(frame), ColumnEncoder()
    learn_encoder(encoder, table, table.names, 0)
    checks = find_checks(table, encoder, table.names)
    assert len(checks) >= 60
    assert max(compared) <= 4


def count_cells(function, compared):
    """Return the function, which then notes how many suspects it compares."""

    def counted(check, located):
        compared.append(len(located))
        return function(check, located)

    return counted
