"""Parts of the report by themselves: kinds, thresholds, numbers in words, colours."""

import re
from importlib.resources import files

import numpy as np
import pytest

from odefs.report.columns import _bins
from odefs.report.outlier_groups import LEAST_REASON, collect_kinds
from odefs.report.scores import collect_scores, short_threshold
from odefs.tables import messages


def row_with(*reasons, count=1, flagged=True):
    keys = ("column", "direction", "value", "share")
    made = [
        dict(zip(keys, reason, strict=True))
        | {"kind": "category" if reason[1] == "value" else "number", "hidden": False, "usual": None}
        | {"excess": reason[3]}
        for reason in reasons
    ]
    return {"reasons": made, "count": count, "flagged": flagged, "score": 2.0}


def test_weak_reasons_of_a_row_do_not_define_its_kind():
    weak, strong = (
        collect_kinds([row_with(("a", "high", 9.0, 0.8), ("b", "low", -1.0, share))])
        for share in (0.8 * LEAST_REASON - 0.01, 0.8 * LEAST_REASON)
    )
    assert [messages.kind(kind) for kind in weak] == ["a high"]
    assert [messages.kind(kind) for kind in strong] == ["a high and b low"]


def test_kinds_merge_rare_ones_and_count_identical_rows():
    rows = [row_with(("a", "high", 9.0, 0.8), count=10)] + [
        row_with(("b", "low", -1.0, 0.7)) for _ in range(40)
    ]
    rows += [row_with((f"c{i}", "high", 5.0, 0.5)) for i in range(3)] + [
        row_with(("a", "high", 1.0, 0.9), flagged=False)
    ]
    kinds = collect_kinds(rows)
    assert [(messages.kind(kind), kind["count"]) for kind in kinds] == [
        ("a high", 10),
        ("b low", 40),
        ("other reasons", 3),
    ]
    assert rows[0]["kind"] == 0
    assert rows[-1]["kind"] is None


def test_a_kind_names_one_value_where_it_is_the_rule_and_several_where_they_are_few():
    one = [
        row_with(("country", "value", "XX", 0.6), ("amount", "high", 9.0, 0.3)) for _ in range(17)
    ]
    few = [row_with(("city", "value", value, 0.6)) for value in ("P", "Q") * 4]
    many = [row_with(("code", "value", f"v{i}", 0.6)) for i in range(9)]
    said = [messages.kind(kind) for kind in collect_kinds(one + few + many)]
    assert said == ["country = XX and amount high", "city = P or Q", "rare code"]


def test_what_is_usual_beside_all_rows_of_a_kind():
    rows = [row_with(("a", "high", 9.0 + i, 0.8), ("b", "value", "x", 0.7)) for i in range(5)]
    for i, row in enumerate(rows):
        row["reasons"][0]["usual"], row["reasons"][1]["usual"] = (
            [float(i), 2.0 + i],
            ["p" if i == 0 else "q", 0.5],
        )
    (kind,) = collect_kinds(rows)
    assert {trait["column"]: trait["usual"] for trait in kind["traits"]} == {
        "a": [0.0, 6.0],
        "b": ["q", 0.5],
    }
    for row in rows:
        row["reasons"][0]["usual"] = [None, 1.7e308]
    (kind,) = collect_kinds(rows)
    assert {trait["column"]: trait["usual"] for trait in kind["traits"]}["a"] == [None, 1.7e308]


def test_the_first_day_of_1970_is_a_date_among_dates():
    assert messages.span([0.0, 0.0], "time") == "00:00"
    assert messages.span([0.0, 0.0], "time", context=[1.7e9, 1.8e9]) == "1970-01-01"


@pytest.mark.parametrize("seed", range(20))
def test_short_threshold_flags_the_same_rows(seed):
    scores = np.random.default_rng(seed).lognormal(size=200)
    threshold = float(np.quantile(scores, 0.95))
    short = short_threshold(scores, scores > threshold, threshold)
    assert ((scores > short) == (scores > threshold)).all()


@pytest.mark.parametrize(
    "scores",
    [np.ones(5), np.array([1.0, 1.0, 1e9]), np.array([0.0, 0.0, 3.0]), np.geomspace(1, 1e6, 50)],
    ids=["equal", "extreme", "zeros", "long tail"],
)
def test_scores_of_any_spread_have_a_histogram_and_thresholds(scores):
    found = collect_scores(scores, scores > 2.0, 2.0)
    assert sum(found["counts"]) == scores.size
    assert all(count == (scores > cut).sum() for cut, count in found["choices"])
    assert np.all(np.diff([cut for cut, _ in found["choices"]]) > 0)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("spread", [0.2, 3.0], ids=["linear", "log"])
def test_no_bin_of_the_histogram_has_flagged_rows_and_others(seed, spread):
    scores = np.random.default_rng(seed).lognormal(sigma=spread, size=500).round(2) + 0.01
    threshold = float(np.quantile(scores, 0.9))
    found = collect_scores(scores, scores > threshold, threshold)
    edges, cut = np.array(found["edges"]), found["short_threshold"]
    assert (np.diff(edges) > 0).all()
    assert cut in found["edges"]
    flagged = sum(n for n, low in zip(found["counts"], edges, strict=False) if low >= cut)
    assert flagged == (scores > threshold).sum()
    assert sum(found["counts"]) == scores.size


def test_all_rows_are_counted_if_the_threshold_is_the_lowest_score():
    scores = np.r_[np.ones(50), np.full(50, 2.0), np.linspace(2, 3, 20)]
    assert sum(collect_scores(scores, scores > 1, 1.0)["counts"]) == scores.size


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (100.0, "100"),
        (2024.0, "2024"),
        (9500.3, "9500.3"),
        (12345.678, "12,345.7"),
        (1234567.0, "1,234,567"),
        (0.1 + 0.2, "0.3"),
        (-12.5, "-12.5"),
        (0.001234, "0.00123"),
        (1e-7, "1e-07"),
        (1e20, "1e+20"),
    ],
)
def test_numbers_are_short_and_whole(number, text):
    assert messages.number(number) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.0004, "<0.1%"),
        (0.9999, ">99.9%"),
        (0.091, "9.1%"),
        (0.5, "50%"),
        (0.99, "99%"),
        (0.996, "99.6%"),
        (0.9985, "99.8%"),
    ],
)
def test_shares_are_never_rounded_to_none_or_all(share, text):
    assert messages.percent(share) == text


def luminance(colour):
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_enough_in_light_dark_and_print():
    css = (files("odefs.report") / "templates" / "style.css").read_text()
    themes = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", css, re.S)
    ]
    assert len(themes) == 3
    for theme in themes:
        for ink in ("ink", "muted", "accent"):
            for ground in ("paper", "soft", "wash"):
                assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground, theme)
        assert contrast(theme["on-accent"], theme["accent"]) >= 4.5
    colours = set(re.findall(r"#[0-9a-f]{3,6}\b", re.sub(r":root \{.*?\}", "", css, flags=re.S)))
    assert not colours, "all colours are variables"


def test_bins_of_a_range_beyond_the_largest_float():
    low, high, edges = _bins(np.array([-1e308, 5.0, 1.5e308]))
    assert (low, high) == (-1e308, 1.5e308) == (edges[0], edges[-1])
    assert (edges[1:] > edges[:-1]).all()
