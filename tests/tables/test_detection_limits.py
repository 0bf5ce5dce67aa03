"""Limits such as ``<0.5`` in columns of numbers, as laboratories report them."""

import json

import numpy as np
import polars as pl
import pytest

import odefs
from command import odefs as run
from odefs.tables.encoder.text_formats import format_named, has_limits, read_levels, recognise

MEASURED = ["0.7", "1.25", "3.1", "12"]
READ = {
    "below": (["<0.5"], "numbers or limits", [0.5]),
    "with a space": (["< 0.5", "\u2264 0.5", " <0.5"], "numbers or limits", [0.5, 0.5, 0.5]),
    "above": ([">100", "\u2265100", ">=100", "=>100"], "numbers or limits", [100] * 4),
    "at most": (["<=0.1", "=<0.1"], "numbers or limits", [0.1, 0.1]),
    "negative": (["<-0.5", "<(2)"], "numbers or limits", [-0.5, -2]),
    "amounts": (["< $1,200", ">$5"], "numbers or limits", [1200, 5]),
}


@pytest.mark.parametrize("name", READ)
def test_a_limit_counts_as_the_number_behind_its_sign(name):
    limits, style, numbers = READ[name]
    found = recognise([*MEASURED, *limits], np.ones(len(MEASURED) + len(limits)))
    assert found.name == style
    assert has_limits(style)
    assert read_levels(limits, format_named(style)) == pytest.approx(numbers)
    assert read_levels(MEASURED, found) == pytest.approx([0.7, 1.25, 3.1, 12])


@pytest.mark.parametrize(
    ("levels", "style", "numbers"),
    [
        (["<0,5", "0,7", "1,25", "3,1"], "numbers with decimal comma or limits", [0.5, 0.7]),
        (["<0.5 mg", "0.7 mg", "1.25 mg", "3.1 mg"], "numbers or limits (mg)", [0.5, 0.7]),
        (["<5%", "7%", "12%", "3.5%"], "numbers or limits (%)", [0.05, 0.07]),
        (["<952", "1.032", "12.500", "7"], "numbers with decimal comma or limits", [952, 1032]),
    ],
    ids=["comma", "unit", "percent", "thousands points"],
)
def test_limits_have_the_format_of_the_numbers(levels, style, numbers):
    found = recognise(levels, np.ones(len(levels)))
    assert found.name == style
    assert read_levels(levels[:2], format_named(style)) == pytest.approx(numbers)


@pytest.mark.parametrize(
    "levels",
    [
        ["<=50K", ">50K"],
        ["<1", "1-5", "6-10", ">10"],
        ["<b>1</b>", "<b>2</b>", "<b>3</b>", "<b>4</b>"],
        ["<001", "002", "003", "004"],
        ["1", "2", "<3"],
        ["a", "b", "<5"],
        ["0", "1", "2", "3", ">3"],
        ["<18", ">65", "<6", ">70", "20.5", "30.1", "41.7"],
    ],
    ids=str,
)
def test_classes_and_codes_are_text(levels):
    found = recognise(levels, np.full(len(levels), 9.0))
    assert found is None or not has_limits(found.name)


def test_most_cells_may_be_limits():
    levels = ["<0.5", "0.7", "1.1", "2.5"]
    assert recognise(levels, np.array([997.0, 1, 1, 1])).name == "numbers or limits"


def test_one_limit_among_many_numbers_counts():
    """Also if the format is chosen on a sample without it."""
    levels = [*(f"{k}.5" for k in range(4999)), ">9000"]
    found = recognise(levels, np.ones(len(levels)))
    assert read_levels(levels[-1:], found) == [9000]


def laboratory(n=200, seed=0):
    lead = np.random.default_rng(seed).lognormal(0, 1, n).round(2)
    found = [f"{value}" if value > 0.5 else "<0.5" for value in lead]
    found[7] = "ND"
    flow = np.random.default_rng(seed + 1).normal(50, 5, n).round(2)
    return pl.DataFrame({"lead": found, "flow": flow})


def test_limits_are_like_the_numbers_that_they_name():
    frame = laboratory()
    plain = frame.with_columns(
        lead=frame["lead"].replace({"<0.5": "0.5", "ND": None}).cast(pl.Float64)
    )
    found, expected = (odefs.detect(table, random_state=0) for table in (frame, plain))
    assert np.array_equal(found.scores, expected.scores)
    kinds = [(note.kind, note.row, note.count) for note in found.notes]
    first = frame["lead"].to_list().index("<0.5")
    assert kinds == [
        ("text_format", None, None),
        ("limits", first, int((frame["lead"] == "<0.5").sum())),
        ("unreadable_cells", 7, 1),
    ]
    # A table without a limit may be followed by one with limits.
    assert np.array_equal(expected.score(frame), found.score(frame))


def test_files_and_models_read_limits_alike(tmp_path):
    tables = {"old": laboratory(), "new": laboratory(seed=5)}
    for name, frame in tables.items():
        frame.write_csv(tmp_path / f"{name}.csv")
        frame.write_excel(tmp_path / f"{name}.xlsx")
    trained = odefs.detect(tables["old"], random_state=0)
    for suffix, in_parts in (("csv", ""), ("csv", "1"), ("xlsx", "")):
        where = {"cwd": tmp_path, "ODEFS_IN_PARTS": in_parts}
        options = ("--no-report", "--force", "--json", "-o", "old.parquet")
        done = run("detect", f"old.{suffix}", *options, "--save", "m.odefs", **where)
        notes = {note["kind"]: note for note in json.loads(done.stdout)["notes"]}
        assert notes["limits"]["count"] == (tables["old"]["lead"] == "<0.5").sum()
        line = ("score", "m.odefs", f"new.{suffix}", "-o", "new.parquet", "--force")
        assert run(*line, **where).returncode == 0
        old, new = (pl.read_parquet(tmp_path / f"{name}.parquet")["score"] for name in tables)
        assert np.array_equal(old, trained.scores)
        assert np.array_equal(new, trained.score(tables["new"]))
