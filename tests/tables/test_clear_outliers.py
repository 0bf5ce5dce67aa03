"""One far row is reported as such, and the highest of ordinary rows is not."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import odefs
from command import odefs as run
from odefs.report import build_report
from odefs.report.light_table import render_light
from odefs.tables import messages
from odefs.tables.flagging import flag_rows, with_extreme_values
from odefs.tables.records.checks import ValueCheck
from odefs.tables.records.notes import FlagConvention


def frame(far, n=300):
    values = np.random.default_rng(2).normal(size=(n, 2))
    if far:
        values[7] = 40
    return pl.DataFrame({"x": values[:, 0], "y": values[:, 1]})


@pytest.mark.parametrize("far", [True, False])
def test_the_convention_tells_one_far_row_from_the_highest_score(far):
    found = odefs.detect(frame(far), random_state=0)
    assert found.n_flagged == 1
    assert found.convention.clear == (1 if far else None)
    if far:
        top = np.sort(found.scores)[::-1]
        assert found.convention.margin == top[0] / top[1] > 3
    summary = build_report(found).summary
    sentences = messages.flagged(1, found.convention), messages.headline(summary)
    plain = FlagConvention("auto", expected=1.0, n_rows=300)
    is_plain = (
        messages.flagged(1, plain),
        messages.headline(summary | {"convention": {"kind": "auto", "expected": 1.0}}),
    )
    assert (sentences == is_plain) == (not far)
    assert sentences[0] in render_light(found)
    assert len(sentences[1]) <= 64


def wide_frame(wind):
    """Columns with long tails, so that the score of one extreme value is close to the next."""
    rng = np.random.default_rng(0)
    values = rng.lognormal(size=(2000, 6))
    values[:, 0] = rng.normal(size=2000)
    values[7, 0] = wind
    return pl.DataFrame({f"x{k}": column for k, column in enumerate(values.T)})


@pytest.mark.parametrize("wind", [60.0, 0.0])
def test_a_flagged_row_with_a_far_value_is_clear_whatever_its_score(wind):
    scores = np.append(np.linspace(0.8, 2.0, 999), 2.1)
    plain = flag_rows(scores, 2.05, FlagConvention("auto", expected=1.0, n_rows=1000))
    assert plain.convention.clear is None
    far = ValueCheck("extreme_value", "x0", 1, rows=(999,))
    clear = with_extreme_values(plain, [far]).convention
    assert (clear.clear, clear.margin) == (1, None)
    for other in (replace(far, rows=(3,)), replace(far, kind="spelling")):
        assert with_extreme_values(plain, [other]).convention == plain.convention

    found = odefs.detect(wide_frame(wind), random_state=0)
    checks = [check for check in found.checks if check.kind == "extreme_value"]
    is_far = wind > 0
    assert bool(checks) == is_far
    assert found.n_flagged == 1
    assert found.convention.clear == (1 if is_far else None)
    summary = build_report(found).summary
    assert summary["convention"].get("clear") == found.convention.clear
    plain = FlagConvention("auto", expected=1.0, n_rows=2000)
    is_plain = messages.flagged(1, found.convention) == messages.flagged(1, plain)
    assert is_plain == (not is_far)
    assert len(messages.headline(summary)) <= 64
    hidden = odefs.detect(wide_frame(wind), random_state=0, hide=["x0"])
    assert hidden.convention.margin is not None or hidden.convention.clear is None


@pytest.mark.parametrize(("n", "seed"), [(1000, 0), (1000, 3), (60, 0), (200, 1)])
def test_a_height_in_decimetres_is_clear_in_tables_of_any_size(n, seed):
    rng = np.random.default_rng(seed)
    height, weight = rng.normal(172, 8, n).round(1), rng.normal(70, 10, n).round(1)
    height[n // 2] = 17
    found = odefs.detect(pl.DataFrame({"height": height, "weight": weight}), random_state=0)
    assert found.is_outlier[n // 2]
    assert found.n_flagged > 1 or found.convention.clear == 1


@pytest.mark.parametrize(
    ("change", "given"),
    [
        ({"by_training": True}, {}),
        ({"before_answers": True}, {}),
        ({"expected": 0.5}, {}),
        ({}, {"flag": 1}),
        ({}, {"threshold": 5.0}),
        ({}, {"contamination": 0.01}),
    ],
)
def test_other_rules_do_not_report_it(change, given):
    scores = np.append(np.exp(0.3 * np.random.default_rng(0).normal(size=99)), 30.0)
    rule = FlagConvention("auto", expected=1.0, n_rows=100)
    clear = flag_rows(scores, 5.0, rule).convention
    assert (clear.clear, clear.kind) == (1, "auto")
    other = flag_rows(scores, 5.0, replace(clear, **change), **given)
    assert other.is_outlier[-1]
    assert (other.convention.clear, other.convention.margin) == (None, None)


@pytest.mark.parametrize("in_parts", ["0", "1"])
def test_the_command_in_memory_and_in_parts(in_parts, tmp_path):
    frame(True).write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", "--json", "--seed", "0", "--set", "n_estimators=3")
    done = run(*line, cwd=tmp_path, ODEFS_IN_PARTS=in_parts)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["sampled"] is not None) == (in_parts == "1")
    assert summary["convention"]["clear"] == 1
    top = [row["score"] for row in summary["top"][:2]]
    assert summary["convention"]["margin"] == pytest.approx(top[0] / top[1], rel=1e-6)
