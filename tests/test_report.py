"""The report: what the summary says, that data stays text, that hidden values stay hidden, equal bytes, size and contrast."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import polars as pl
import pytest

from odefs import ODEFS
from odefs.datasets.transactions import make_transactions, transactions_path
from odefs.report import build_report, words
from odefs.report.kinds import collect_kinds
from odefs.report.markdown import safe
from odefs.report.page import safe_json
from odefs.report.scores import collect_scores, held_names, short_threshold
from odefs.tables.detection import detect

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def found():
    detection = detect(pl.read_csv(transactions_path()), id="transaction")
    run = {
        "command": "odefs detect transactions.csv --id transaction --flag 9",
        "seed": 0,
        "parameters": {"trust": 0.5},
        "versions": {"odefs": "1"},
    }
    return replace(
        detection,
        source={"name": "transactions.csv", "rows": 800, "columns": 16, "bytes": 63012, "sha256": "ab" * 32},
        run=run,
    )


@pytest.fixture(scope="module")
def report(found):
    return build_report(found)


@pytest.fixture(scope="module")
def page(report):
    return report.html()


class Texts(HTMLParser):
    """Texts and elements of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.scripts = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        (self.scripts if self.elements and self.elements[-1][0] in ("script", "style") else self.texts).append(data)

    @property
    def text(self):
        return " ".join(self.texts)


def mixed_frame(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = {
        "amount": rng.lognormal(3, 0.3, n),
        "shop": rng.choice(["north", "south", "west"], n),
        "noise": rng.normal(size=n),
        "open": rng.random(n) < 0.5,
        "day": np.datetime64("2024-03-01") + rng.integers(0, 200, n),
    }
    frame["amount"][:8] *= 40
    frame["shop"][8:14] = "moon"
    return pl.DataFrame(frame)


# ---- the summary ----


def test_summary_is_plain_and_says_what_was_found(found, report):
    summary = report.summary
    assert json.loads(report.json()) == summary
    assert summary["rows"] == 800
    assert summary["flagged"] == int(found.is_outlier.sum())
    assert sum(summary["scores"]["counts"]) == 800
    assert sum(one["importance"] for one in summary["importances"]) == pytest.approx(1)
    for row in summary["top"]:
        assert row["score"] == found.scores[row["row"] - 1]
        assert row["rank"] == 1 + int((found.scores > row["score"]).sum())
        assert found.order[row["place"]] == row["row"] - 1


def test_counts_of_all_thresholds_are_exact_and_the_chosen_one_flags_the_flagged(found, report):
    scores = report.summary["scores"]
    for threshold, count in scores["choices"]:
        assert count == int((found.scores > threshold).sum())
    assert scores["choices"][scores["chosen"]] == [scores["short_threshold"], int(found.is_outlier.sum())]
    assert len(str(scores["short_threshold"])) < len(str(scores["threshold"]))


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


def test_names_held_by_the_page_are_bounded():
    assert len(held_names(range(10**6), np.arange(10**6))) == 10_000
    assert sum(map(len, held_names(["x" * 100] * 10**5, np.arange(10**5)))) <= 200_000


def test_identical_rows_stand_once_with_their_count():
    frame = mixed_frame()
    twin = frame[0].with_columns(amount=pl.lit(9000.0))
    detection = detect(pl.concat([frame, twin, twin, twin]))
    top = build_report(detection).summary["top"]
    assert top[0]["count"] == 3
    assert top[0]["name"] == 401
    assert top[0]["twins"] == [402, 403]
    places = [row["place"] for row in top]
    assert len(set(places)) == len(places)


# ---- kinds ----


def test_kinds_match_what_was_planted(report):
    _, truth = make_transactions()
    kinds, top = report.summary["kinds"], report.summary["top"]
    assert sum(kind["count"] for kind in kinds) == report.summary["flagged"]
    by_words = {words.kind(kind): [truth.get(top[i]["name"]) for i in kind["members"]] for kind in kinds}
    assert by_words["country = PA or SG and distance_km high"] == ["place"] * 8
    assert set(by_words["amount high"]) == {"amount"}
    assert set(by_words["items high"]) == {"burst"}


def row_with(*reasons, count=1, flagged=True):
    keys = ("column", "direction", "value", "share")
    made = [
        dict(zip(keys, reason, strict=True))
        | {"kind": "category" if reason[1] == "value" else "number", "hidden": False, "usual": None}
        for reason in reasons
    ]
    return {"reasons": made, "count": count, "flagged": flagged, "score": 2.0}


def test_kinds_merge_rare_ones_and_count_identical_rows():
    rows = [row_with(("a", "high", 9.0, 0.8), count=10)] + [row_with(("b", "low", -1.0, 0.7)) for _ in range(40)]
    rows += [row_with((f"c{i}", "high", 5.0, 0.5)) for i in range(3)] + [
        row_with(("a", "high", 1.0, 0.9), flagged=False)
    ]
    kinds = collect_kinds(rows)
    assert [(words.kind(kind), kind["count"]) for kind in kinds] == [
        ("b low", 40),
        ("a high", 10),
        ("other reasons", 3),
    ]
    assert rows[0]["kind"] == 1
    assert rows[-1]["kind"] is None


def test_a_kind_names_one_value_where_it_is_the_rule_and_several_where_they_are_few():
    one = [row_with(("country", "value", "XX", 0.6), ("amount", "high", 9.0, 0.3)) for _ in range(17)]
    few = [row_with(("city", "value", value, 0.6)) for value in ("P", "Q") * 4]
    many = [row_with(("code", "value", f"v{i}", 0.6)) for i in range(9)]
    said = [words.kind(kind) for kind in collect_kinds(one + few + many)]
    assert said == ["country = XX and amount high", "rare code", "city = P or Q"]


# ---- text stays text, hidden stays hidden ----


def test_markup_in_data_names_and_file_name_shows_as_text():
    frame = (
        mixed_frame()
        .with_columns(pl.Series(EVIL, ["plain", EVIL, "x&y\u2028", "z"] * 100))
        .rename({"amount": f"a{EVIL}"})
    )
    names = [f"{EVIL}{i}" for i in range(400)]
    detection = detect(frame.with_columns(id=pl.Series(names)), id="id")
    detection = replace(
        detection,
        source={"name": f"{EVIL}.csv"},
        notes=[EVIL],
        left_out={EVIL: EVIL},
        run={"command": f"odefs detect '{EVIL}.csv'"},
    )
    report = build_report(detection)
    page = report.html()
    seen = Texts(page)
    assert sum(tag == "script" for tag, _ in seen.elements) == 3
    assert not any(name.startswith("on") for _, attributes in seen.elements for name in attributes)
    assert seen.text.count("alert(1)") > 10
    assert EVIL not in page
    assert EVIL not in report.markdown()
    data = page[page.index('id="data">') + len('id="data">') : page.index("</script>")]
    assert not set("<>&\u2028\u2029") & set(data)
    assert json.loads(data)["file"] == f"{EVIL}.csv"
    assert EVIL not in report._repr_html_()


def test_json_inside_a_script_cannot_end_it():
    hostile = "</script><!--\u2028\u2029&"
    assert json.loads(safe_json(hostile)) == hostile
    assert not set("<>&\u2028\u2029") & set(safe_json(hostile))


def test_markdown_text_is_escaped():
    assert safe("a|b*c\n<b>[x](y)`") == r"a\|b\*c &lt;b&gt;\[x\](y)\`"


def test_hidden_columns_show_no_value_in_any_form():
    secret = [f"SECRET{i % 5}" for i in range(394)] + ["SECRETRARE"] * 6
    salary = np.round(np.random.default_rng(1).normal(7654321.0, 3.0, 400), 2)
    salary[:6] = 9876543.21
    frame = mixed_frame().with_columns(
        secret=pl.Series(secret), salary=salary, who=pl.Series([f"PERSON{i}" for i in range(400)])
    )
    detection = detect(frame, id="who", hide=["secret", "salary", "who"])
    detection = replace(detection, notes=["salary: 9876543.21 looks like a mark for missing", "shop: fine"])
    report = build_report(detection)
    reasons = [reason for row in report.summary["top"] for reason in row["reasons"] if reason["hidden"]]
    assert {reason["column"] for reason in reasons} == {"secret", "salary"}, "the hidden columns must be reasons here"
    for text in (report.html(), report.json(), report.markdown(), report._repr_html_()):
        assert not re.search(r"SECRET|PERSON|9,?876,?543|7,?654,?3\d\d", text)
        assert "(hidden)" in text or '"hidden": true' in text
    assert report.summary["notes"] == ["shop: fine"]
    assert "salary" not in report.summary["map"]["columns"]
    assert report.summary["top"][0]["name"] == report.summary["top"][0]["row"]


# ---- the page ----


def test_page_needs_nothing_from_outside(page):
    seen = Texts(page)
    links = [
        value for _, a in seen.elements for name, value in a.items() if name in ("src", "href", "srcset", "action")
    ]
    assert all(link.startswith(("#", "data:")) for link in links)
    assert "default-src 'none'" in page
    assert "url(" not in (files("odefs.report") / "templates" / "style.css").read_text()


def test_controls_have_labels_and_charts_have_words(page):
    elements = Texts(page).elements
    labelled = {attributes["for"] for tag, attributes in elements if tag == "label"}
    assert {attributes["id"] for tag, attributes in elements if tag == "input"} <= labelled
    charts = [a for _, a in elements if a.get("class") == "chart"]
    assert len(charts) >= 3
    assert all(chart["role"] == "img" and len(chart["aria-label"]) > 30 for chart in charts)
    assert [a["aria-sort"] for tag, a in elements if tag == "th" and "aria-sort" in a] == ["ascending"]


def test_page_opens_with_the_finding_and_follows_its_order(page):
    seen = Texts(page)
    assert "24 of 800 rows stand out, mostly by country, distance_km, amount and items." in seen.text
    heads = [a["id"] for tag, a in seen.elements if tag == "h2"]
    assert heads == [f"{name}-title" for name in ("kinds", "read", "scores", "top", "columns", "map", "model")]


def test_threshold_command_drops_what_it_replaces(report):
    assert report.summary["commands"]["other_threshold"] == "odefs detect transactions.csv --id transaction"


def test_charts_are_valid_vega_lite(report):
    from odefs.report.charts import chart_specs, charts

    checked = {name: chart.to_dict() for name, chart in charts(report.summary).items()}
    assert checked == chart_specs(report.summary)
    assert set(checked) >= {"scores", "map", "weights"}
    assert "datasets" not in json.dumps(checked)


def test_same_input_gives_the_same_bytes_in_any_process(report, page):
    assert report.html() == page
    code = (
        "import hashlib, polars as pl; from odefs.tables.detection import detect;"
        "from odefs.datasets.transactions import transactions_path;"
        "r = detect(pl.read_csv(transactions_path()), id='transaction', hide=['hour', 'channel']).report();"
        "print([hashlib.sha256(t.encode()).hexdigest() for t in (r.html(), r.json(), r.markdown(), r._repr_html_())])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_nothing_stands_out_and_nothing_to_map():
    frame = pl.DataFrame({"a": np.random.default_rng(0).normal(size=60)})
    report = build_report(detect(frame, threshold=1e6))
    assert report.summary["kinds"] == []
    assert report.summary["map"] is None
    assert "None of 60 rows stands out." in Texts(report.html()).text
    assert "No row stands out" in report.markdown()


def test_missing_cells_times_and_truth_values_are_said(found):
    frame = mixed_frame().with_columns(
        amount=pl.when(pl.int_range(400) % 9 == 0).then(None).otherwise(pl.col("amount"))
    )
    report = build_report(detect(frame))
    assert json.loads(report.json())
    assert re.search(r"2024-\d\d-\d\d", report.html())
    kinds = {one["column"]: one["kind"] for one in report.summary["distributions"]}
    assert kinds["day"] == "time"
    assert kinds["open"] == "boolean"


def test_notebook_view_has_a_frame_and_a_still_picture(report):
    inline = report._repr_html_()
    frames = [a for tag, a in Texts(inline).elements if tag == "iframe"]
    assert frames[0]["srcdoc"] == report.html()
    assert "allow-same-origin" not in frames[0]["sandbox"]
    pictures = [a["src"] for tag, a in Texts(inline).elements if tag == "img"]
    assert pictures[0].startswith("data:image/svg+xml;base64,")
    assert "T0422" in Texts(inline[inline.index("</iframe>") :]).text


def test_saving_goes_by_the_ending_and_replaces_only_when_forced(report, tmp_path):
    for name, text in (("a.html", report.html()), ("a.json", report.json()), ("a.md", report.markdown())):
        assert report.save(tmp_path / name).read_text(encoding="utf-8") == text
    with pytest.raises(FileExistsError, match=r"a\.html exists"):
        report.save(tmp_path / "a.html")
    report.save(tmp_path / "a.html", force=True)
    with pytest.raises(ValueError, match=r"\.html, \.json, \.md"):
        report.save(tmp_path / "a.pdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.json", "a.md"]


@pytest.mark.slow
def test_page_of_a_large_table_stays_below_two_megabytes():
    rng = np.random.default_rng(0)
    n = 100_000
    columns = {f"measured quantity {k:02d}": rng.normal(size=n) for k in range(42)}
    texts = np.array([f"a value with many letters, number {i:03d} of its column" for i in range(12)])
    columns |= {f"described as {k}": rng.choice(texts, n) for k in range(8)}
    for k in range(3):
        columns[f"measured quantity {k:02d}"][k * 900 : k * 900 + 1200] += 9
    names = pl.Series([f"{i:08x}-0000-4000-8000-{i:012x}" for i in range(n)])
    detection = detect(
        pl.DataFrame(columns).with_columns(id=names),
        id="id",
        model=ODEFS(n_estimators=2, random_state=0),
        contamination=0.03,
    )
    report = build_report(detection)
    assert len(report.summary["top"]) == 200
    assert len(report.html().encode()) < 2_000_000


# ---- words and colours ----


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
    assert words.number(number) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (1, "100%"), (0.0004, "<0.1%"), (0.9999, ">99.9%"), (0.091, "9.1%"), (0.5, "50%")]
)
def test_shares_are_never_rounded_to_none_or_all(share, text):
    assert words.percent(share) == text


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
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{(.*?)\}", css, re.S)
    ]
    assert len(themes) == 3
    for theme in themes:
        for ink in ("ink", "muted", "accent"):
            for ground in ("paper", "soft", "wash"):
                assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground, theme)
        assert contrast(theme["on-accent"], theme["accent"]) >= 4.5
    colours = set(re.findall(r"#[0-9a-f]{3,6}\b", re.sub(r":root \{.*?\}", "", css, flags=re.S)))
    assert not colours, "all colours are variables"
