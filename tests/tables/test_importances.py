"""Importances of a detection agree with the reasons of its flagged rows."""

import numpy as np
import polars as pl
import pytest

import odefs
from odefs.datasets.transactions import transactions_path

N = 400


def found_in(columns: dict[str, object], flag: int) -> odefs.Detection:
    # Kept, because unrelated categories would be noise next to extreme numbers.
    model = odefs.ODEFS(n_estimators=3, trust=0.0, noise_columns="keep", random_state=0)
    rule = {"flag": flag} if flag else {"threshold": 1e6}
    return odefs.detect(pl.DataFrame(columns), model=model, **rule)


def named_in_reasons(found: odefs.Detection) -> set[str]:
    return {reason.column for reasons in found.reasons() for reason in reasons}


def test_a_column_that_contributes_much_to_every_row_does_not_come_first():
    """Every row lacks most of the cities, so each contributes about as much as the others."""
    rng = np.random.default_rng(0)
    amount = rng.normal(100, 5, N)
    amount[:3] = [240, 250, 245]
    cities = np.array([f"city {i}" for i in range(25)])[np.arange(N) % 25]
    found = found_in({"city": cities, "amount": amount, "size": rng.normal(size=N)}, flag=3)
    assert found.encoder.by_column(found.model.explain(found.X).baseline).argmax() == 0
    assert set(found.numbers(None)) == {0, 1, 2}
    assert found.importances[0][0] == "amount"
    assert dict(found.importances)["city"] < 0.1


def test_a_value_that_many_rows_have_is_no_more_important_than_a_reason():
    rng = np.random.default_rng(1)
    status = rng.random(N) < 0.3
    amount = rng.normal(100, 5, N)
    amount[:3], status[:3] = [125, 126, 124], True
    found = found_in({"status": status, "amount": amount, "size": rng.normal(size=N)}, flag=3)
    assert set(found.numbers(None)) == {0, 1, 2}
    assert (found.explain().excess[:, 0] > 0).all(), "it exceeds the usual"
    assert "status" not in named_in_reasons(found)
    assert dict(found.importances)["status"] < 0.05
    assert found.importances[0][0] == "amount"


def test_a_rare_category_is_a_reason_and_important():
    rng = np.random.default_rng(2)
    kind = np.array(["a", "b"], dtype=object)[rng.integers(0, 2, N)]
    kind[7] = "z"
    found = found_in({"kind": kind, "amount": rng.normal(100, 5, N)}, flag=1)
    assert found.reasons(7)[0][0].column == found.importances[0][0] == "kind"


def test_values_common_in_all_columns_count():
    """Where no value is rare, a combination of common ones is the reason."""
    rng = np.random.default_rng(3)
    a = rng.random(N) < 0.5
    a[5] = True
    b = ~a
    b[5] = True
    found = found_in({"a": a, "b": b}, flag=1)
    assert set(dict(found.importances)) >= named_in_reasons(found) != set()
    assert sum(dict(found.importances).values()) == pytest.approx(1)


def test_shares_of_encoded_columns_add_up_to_those_of_their_columns():
    found = odefs.detect(pl.read_csv(transactions_path()), id="transaction", random_state=0)
    shares = found.encoder.by_column(found.feature_shares)
    by_name = dict(zip(found.encoder.columns, shares.tolist(), strict=True))
    assert by_name == pytest.approx(dict(found.importances))
    assert shares.sum() == pytest.approx(1)


def test_without_flagged_rows_importances_are_those_of_the_model():
    rng = np.random.default_rng(4)
    found = found_in({"a": rng.normal(size=N), "b": rng.normal(size=N)}, flag=0)
    assert not found.n_flagged
    np.testing.assert_array_equal(found.feature_shares, found.model.feature_importances_)


def test_importances_are_numbers_where_ordinary_rows_score_0():
    frame = pl.DataFrame({"a": [1.0] * 599 + [5.0], "b": [2.0] * 600})
    assert odefs.detect(frame, random_state=2).importances == [("a", 1.0)]
