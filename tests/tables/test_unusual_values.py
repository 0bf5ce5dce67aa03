"""Reasons name values that are unusual by themselves, if there are any."""

import numpy as np
import polars as pl
import pytest

import odefs


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 600
    return pl.DataFrame(
        {
            "size": rng.normal(50, 3, n),
            "year": rng.choice([2007, 2008, 2009], n),
            "code": [f"{value:08x}" for value in rng.integers(0, 2**32, n // 2).repeat(2)],
            "kind": rng.choice(["plain", "fancy"], n),
        }
    )


def test_common_values_are_no_reasons(frame):
    frame[7, "size"] = 120.0
    found = odefs.detect(frame)
    assert found.order[0] == 7
    assert [reason.column for reason in found.reasons([7])[0]] == ["size"]


def test_a_code_of_which_every_value_is_rare_is_no_reason(frame):
    found = odefs.detect(frame, keep=["code"])
    for row in found.order[:5]:
        named = [reason.column for reason in found.reasons([int(row)])[0]]
        assert named
        assert "code" not in named or named == ["code"]


def test_a_rare_missing_cell_is_a_reason(frame):
    frame[3, "size"] = None
    found = odefs.detect(frame, mark_missing=True)
    assert [reason.column for reason in found.reasons([3])[0]] == ["size"]
