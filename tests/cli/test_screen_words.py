"""Counts of one, and an agreement of zero, are put into words that fit."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import odefs
from odefs.cli.check_results import Checked, as_text
from odefs.cli.terminal.screen import Screen, show_detection, show_reasons
from odefs.tables import messages


@pytest.fixture(scope="module")
def found():
    values = np.random.default_rng(0).normal(size=60)
    values[7] = 40
    model = odefs.ODEFS(n_estimators=3, scaling="none", random_state=0)
    return odefs.detect(pl.DataFrame({"x": values}), model=model)


def on_one_line(capsys):
    """The output without the line breaks of the terminal's width."""
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_a_flagged_row_without_agreement_is_explained(share, found, capsys):
    shown = replace(found, agreement=np.full(60, share))
    assert shown.is_outlier[7]
    show_detection(Screen(), shown, 3)
    assert (messages.NO_AGREEMENT in on_one_line(capsys)) == (share == 0)
    show_reasons(Screen(), shown, [7])
    assert messages.agreement(share) in on_one_line(capsys)


def test_a_row_that_is_not_flagged_needs_no_explanation(found, capsys):
    agreement = np.where(found.is_outlier, 1.0, 0.0)
    show_detection(Screen(), replace(found, agreement=agreement), 3)
    assert messages.NO_AGREEMENT not in on_one_line(capsys)


def test_an_explained_row_stands_out_no_more_than_in_the_detection(found, capsys):
    """A flagged row is called flagged, since it may be what chance gives."""
    assert found.is_outlier[7]
    show_reasons(Screen(), found, [7])
    assert "stands out" not in on_one_line(capsys)


def test_columns_of_noise_are_not_among_those_that_set_outliers_apart(found, capsys):
    """A model that learned both may have given a column of noise a share in flagged rows."""
    both = replace(found)
    vars(both).update(importances=[("x", 0.7), ("y", 0.3)], noise=["y"])
    show_detection(Screen(), both, 3)
    shown = on_one_line(capsys)
    assert messages.importances([("x", 0.7)]) in shown
    assert messages.importances([("x", 0.7), ("y", 0.3)]) not in shown
    assert messages.noise(["y"]) in shown


def test_one_column_and_one_row_are_singular(found):
    assert "60 rows, 1 column used," in repr(found)
    assert "1 row and 1 column" in repr(found.explain(7))
    assert "1 row," in as_text(Checked("t", 1, 0, (), (), (), ()))


def test_a_row_without_reasons_is_not_called_ordinary(found, capsys):
    """A value that is rare in its column may contribute no more than usual."""
    row = int(found.order[-1])
    assert not found.reasons([row])[0]
    show_reasons(Screen(), found, [row])
    assert messages.NO_REASON in on_one_line(capsys)
