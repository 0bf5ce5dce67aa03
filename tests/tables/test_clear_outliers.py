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
from odefs.tables.flagging import flag_rows
from odefs.tables.notes import FlagConvention


def frame(far, n=300):
    values = np.random.default_rng(0).normal(size=(n, 2))
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
