"""The report as a whole: what the summary says, what the page shows, equal bytes, size, saving."""

import csv
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from erroneous_table import planted
from odefs import ODEFS, ValueCheck
from odefs.datasets.transactions import make_transactions, transactions_path
from odefs.detection import detect
from odefs.report import build_report
from odefs.report.markdown import safe
from odefs.report.page_data import page_data
from odefs.report.svg import ACCENT, static_scores
from odefs.tables import messages
from odefs.tables.records.notes import Provenance
from pages import EVIL, Texts, mixed_frame


@pytest.fixture(scope="module")
def found():
    detection = detect(pl.read_csv(transactions_path()), id="transaction")
    run = Provenance(
        command="odefs detect transactions.csv --id transaction --flag 9",
        seed=0,
        parameters={"trust": 0.5},
        versions={"odefs": "1"},
    )
    return replace(
        detection,
        source={
            "name": "transactions.csv",
            "rows": 800,
            "columns": 16,
            "bytes": 63012,
            "sha256": "ab" * 32,
        },
        run=run,
    )


@pytest.fixture(scope="module")
def report(found):
    return build_report(found)


@pytest.fixture(scope="module")
def page(report):
    return report.html()


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


def test_columns_that_set_rows_apart_are_those_of_the_score():
    """Learned columns without a share in the score are not reported as what separates rows."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.normal(size=120) for name in "pqr"})
    frame[17, "p"] = 999.0
    detection = detect(frame, flag=1)
    assert detection.model.trust_ == 0
    summary = build_report(detection).summary
    assert detection.importances[0][0] == summary["importances"][0]["column"] == "p"
    assert summary["map"] is None, "one column alone needs no map"
    # Of a few flagged rows the mean of their own reasons, the further out the heavier.
    learned = dict(zip("pqr", detection.model.feature_importances_, strict=True))
    assert dict(detection.importances)["p"] > learned["p"]


def test_counts_of_all_thresholds_are_exact_and_the_chosen_one_flags_the_flagged(found, report):
    scores = report.summary["scores"]
    for threshold, count in scores["choices"]:
        assert count == int((found.scores > threshold).sum())
    assert scores["choices"][scores["chosen"]] == [
        scores["short_threshold"],
        int(found.is_outlier.sum()),
    ]
    assert len(str(scores["short_threshold"])) < len(str(scores["threshold"]))


def test_values_to_check_come_first_in_page_and_markdown(page):
    frame, expected = planted()
    frame = frame.with_columns(size=pl.col("size").replace("12a", EVIL))
    detection = detect(frame, id="key", model=ODEFS(n_estimators=3, scaling="none", random_state=0))
    found = build_report(detection)
    checks = found.summary["checks"]
    assert len(checks) == len(expected)
    assert EVIL in str([one.get("values") for one in checks])
    html, texts = found.html(), Texts(found.html())
    assert html.index('id="checks-title"') < html.index('id="kinds-title"')
    shown = " ".join(texts.text.split())
    markdown = found.markdown()
    for one in checks:
        assert " ".join(one["message"].split()) in shown
        assert safe(one["message"]) in markdown
    assert EVIL not in html
    assert 'id="checks-title"' not in page, "a table without such values has no section"


def test_a_report_shows_some_checks_and_counts_the_others(found):
    checks = [ValueCheck("zero", f"c{k}", 1, (k,), (k,), (0.0,), (1.0, 2.0)) for k in range(30)]
    report = build_report(replace(found, checks=checks))
    assert len(report.summary["checks"]) == 20
    assert report.summary["checks_omitted"] == 10
    for text in (report.html(), report.markdown()):
        assert messages.more_checks(10) in text


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


def test_kinds_match_what_was_planted(report):
    _, truth = make_transactions()
    kinds, top = report.summary["kinds"], report.summary["top"]
    assert sum(kind["count"] for kind in kinds) == report.summary["flagged"]
    by_words = {
        messages.kind(kind): [truth.get(top[i]["name"]) for i in kind["members"]] for kind in kinds
    }
    (place,) = (kinds for said, kinds in by_words.items() if "distance_km high" in said)
    assert place == ["place"] * 8
    assert by_words["amount high"].count("amount") >= 6
    assert by_words["items high"].count("burst") >= 6
    # Ordinary rows among the flagged ones belong to no kind of outlier that was planted.
    assert sum(kinds.count(None) for kinds in by_words.values()) <= 3


def test_page_needs_nothing_from_outside(page):
    seen = Texts(page)
    links = [
        value
        for _, a in seen.elements
        for name, value in a.items()
        if name in ("src", "href", "srcset", "action")
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
    assert [a["aria-sort"] for tag, a in elements if tag == "th" and "aria-sort" in a] == [
        "ascending"
    ]


def test_page_opens_with_the_finding_and_follows_its_order(page, report):
    seen = Texts(page)
    assert messages.headline(report.summary) in seen.text
    assert f"{report.summary['flagged']} of 800 rows stand out, by distance_km" in seen.text
    heads = [a["id"] for tag, a in seen.elements if tag == "h2"]
    assert heads == [
        f"{name}-title" for name in ("kinds", "read", "scores", "top", "columns", "map", "model")
    ]


def test_threshold_command_drops_what_it_replaces(report):
    assert (
        report.summary["commands"]["other_threshold"]
        == "odefs detect transactions.csv --id transaction"
    )


def test_the_command_for_another_threshold_may_replace_its_files(found):
    for options, added in (
        ("-o s.csv", "--force "),
        ("-os.csv", "--force "),
        ("--save=m.odefs --force", ""),
        ("--top 3", ""),
        ("--force", None),
    ):
        again = build_report(
            replace(found, run=replace(found.run, command=f"odefs detect {options} -- -t.csv"))
        )
        assert (
            again.summary["commands"]["other_threshold"]
            == f"odefs detect {'' if added is None else f'{added}{options} '}-- -t.csv"
        )


def test_equal_values_are_neither_lower_nor_higher():
    frame = pl.DataFrame(
        {"a": [1.0, 2.0, 3.0, 2.0] * 20 + [9.0] * 20, "b": np.arange(100) % 7 * 1.0}
    )
    reasons = [
        reason
        for row in detect(frame, flag=20).reasons(range(80, 100))
        for reason in row
        if reason.column == "a"
    ]
    assert {(reason.percentile, reason.equal, reason.beyond) for reason in reasons} == {
        (90.0, 20.0, 80.0)
    }
    sentences = [
        sentence
        for row in build_report(detect(frame, flag=20)).summary["top"]
        for sentence in map(messages.sentence, row["reasons"])
    ]
    assert any("a is 9, higher than 80% of rows" in sentence for sentence in sentences)


def test_ranks_of_saved_rows_are_those_of_all_digits(found):
    scores = np.ones(800)
    scores[:4] = [3.0, 2.0 + 1e-9, 2.0, 2.0]
    held = build_report(replace(found, scores=scores)).drawing["csv"]
    saved = list(csv.DictReader([held["header"], *held["lines"]]))
    assert [line["rank"] for line in saved[:5]] == ["1", "2", "3", "3", "5"]


def test_components_that_learned_nothing_selected_nothing():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0, 2.0, 50.0], "b": [1.0, 3.0, 1.0, 2.0, 2.0]})
    found = detect(frame)
    assert not found.model.feature_weights_.any()
    assert {one["stability"] for one in build_report(found).summary["importances"]} == {0.0}


def test_far_rows_do_not_move_the_average_and_what_does_is_said():
    X = np.random.default_rng(0).normal(size=(500, 2))
    X[:2] = 1e6, -1e6
    summary = build_report(detect(pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}))).summary
    assert summary["scores"]["median"] > 0.5
    assert messages.average(0.0001).endswith("half of the rows score 0.0001 or less.")
    assert "training" not in messages.average(0.0001), "a detection has no other rows"
    assert "1.0" in messages.average(0.97)
    assert "training" in messages.average(0.97, of_training=True), "not of these rows"


def test_scores_with_answers_or_known_cases_do_not_average_1():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    found, known = detect(frame), detect(frame, known_outliers=np.arange(200) % 20 == 0)
    review = found.review()
    review.tell(found.order[:8], [False, True] * 4)
    learned = found.with_answers(review)
    assert [one.has_answers for one in (found, known, learned)] == [False, True, True]
    plain = messages.average(1.0)
    for detection in (found, known, learned):
        mean = detection.scores.mean()
        if (added := detection.explain(range(200)).answers) is not None:
            mean -= added.total.mean()
        assert mean == pytest.approx(1.0)
        page = build_report(detection).html()
        assert (plain in page) == (not detection.has_answers)
        assert (messages.average(1.0, has_answers=True) in page) == detection.has_answers


def test_the_still_picture_has_a_bar_for_every_bin_and_draws_any_scores(report):
    scores = report.summary["scores"]
    picture = ElementTree.fromstring(static_scores(scores))
    fills = [part.get("fill") for part in picture.iter("{http://www.w3.org/2000/svg}rect")]
    assert fills.count(ACCENT) == sum(
        low >= scores["short_threshold"] for low in scores["edges"][:-1]
    )
    assert len(fills) == 1 + len(scores["counts"])
    odd = (
        {"edges": [0.5, 1.5], "counts": [7], "short_threshold": 1.0, "scale": "linear"},
        {"edges": [1e-9, 1.0, 1e9], "counts": [10**6, 1], "short_threshold": 0.0, "scale": "log"},
        {"edges": [0.0, 1e-12], "counts": [0], "short_threshold": 2.0, "scale": "linear"},
    )
    for one in odd:
        assert "nan" not in static_scores(one)
        ElementTree.fromstring(static_scores(one))


@pytest.mark.slow
def test_same_input_gives_the_same_bytes_in_any_process(report, page):
    assert report.html() == page
    code = (
        "import hashlib, polars as pl; from odefs.detection import detect;"
        "from odefs.datasets.transactions import transactions_path;"
        "r = detect(pl.read_csv(transactions_path()), id='transaction', hide=['hour', "
        "'channel']).report();"
        "print([hashlib.sha256(t.encode()).hexdigest() for t in (r.html(), r.json(), "
        "r.markdown(), r._repr_html_())])"
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
    for name, text in (
        ("a.html", report.html()),
        ("a.json", report.json()),
        ("a.md", report.markdown()),
    ):
        assert report.save(tmp_path / name).read_text(encoding="utf-8") == text
    with pytest.raises(FileExistsError, match=r"a\.html exists"):
        report.save(tmp_path / "a.html")
    report.save(tmp_path / "a.html", force=True)
    with pytest.raises(ValueError, match=r"\.html, \.json, \.md"):
        report.save(tmp_path / "a.pdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.json", "a.md"]


@pytest.mark.slow
def test_page_of_a_large_table_stays_below_five_megabytes():
    rng = np.random.default_rng(0)
    n = 100_000
    columns = {f"measured quantity {k:02d}": rng.normal(size=n) for k in range(42)}
    texts = np.array(
        [f"a value with many letters, number {i:03d} of its column" for i in range(12)]
    )
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
    assert len(report.summary["top"]) == 500
    assert len(report.html().encode()) < 5_000_000


def test_the_page_of_a_call_in_python_offers_no_call_with_other_arguments(found):
    """Without all of its arguments, a call gives other scores and shows hidden columns."""
    sizes = {"a": 3, "b": 7, "c": 60}
    frame = pl.DataFrame({name: np.arange(60.0) % size for name, size in sizes.items()})
    for made in (replace(found, run=Provenance()), detect(frame, drop="a", hide="b", flag=2)):
        report = made.report()
        assert report.summary["commands"]["other_threshold"] is None
        call = str(page_data(report.summary, report.drawing)["call"])
        assert call.endswith("threshold=")
        assert "(" not in call, "arguments are not given"
