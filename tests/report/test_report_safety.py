"""Text from the data stays text in every form of the report, and hidden columns stay hidden."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import distributions

import numpy as np
import polars as pl

from odefs.detection import detect
from odefs.report import build_report
from odefs.report.markdown import safe
from odefs.report.page import safe_json
from odefs.tables.records.notes import Exclusion, Note, Provenance
from pages import EVIL, Texts, mixed_frame


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
        notes=[
            Note("leading_zeros", EVIL),
            Note("unreadable_cells", "x", row=1, count=1, value=EVIL, format="numbers"),
        ],
        left_out={EVIL: Exclusion("empty")},
        run=Provenance(command=f"odefs detect '{EVIL}.csv'"),
    )
    report = build_report(detection)
    page = report.html()
    seen = Texts(page)
    assert sum(tag == "script" for tag, _ in seen.elements) == 2
    assert not any(name.startswith("on") for _, attributes in seen.elements for name in attributes)
    assert seen.text.count("alert(1)") > 10
    assert EVIL not in page
    assert EVIL not in report.markdown()
    data = page[page.index('id="data">') + len('id="data">') : page.index("</script>")]
    assert not set("<>&\u2028\u2029") & set(data)
    assert json.loads(data)["file"] == f"{EVIL}.csv"
    assert EVIL not in report._repr_html_()


def test_the_policy_allows_the_page_s_own_script_and_style_and_nothing_else():
    page = build_report(detect(mixed_frame())).html()
    policy = next(
        a["content"]
        for tag, a in Texts(page).elements
        if a.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert "unsafe" not in policy
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for tag in ("script", "style"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        hashed = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{hashed}'"
    assert not any("style" in attributes for _, attributes in Texts(page).elements)


def test_the_page_holds_no_script_from_a_cache(tmp_path):
    """Files that others may have written to the user's cache do not reach the page."""
    planted = tmp_path / ".cache" / "odefs"
    planted.mkdir(parents=True)
    for version in {
        one.version
        for one in distributions()
        if one.metadata["Name"] in ("vl-convert-python", "odefs")
    }:
        (planted / f"vega-embed-{version}.js").write_text("window.TAMPERED = 1;")
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    code = (
        "import odefs; from odefs.datasets.transactions import transactions_path; import polars "
        "as pl;"
        "print('TAMPERED' in odefs.detect(pl.read_csv(transactions_path())).report().html())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout.strip() == "False"


def test_json_inside_a_script_cannot_end_it():
    hostile = "</script><!--\u2028\u2029&"
    assert json.loads(safe_json(hostile)) == hostile
    assert not set("<>&\u2028\u2029") & set(safe_json(hostile))


def test_markdown_text_is_escaped():
    assert safe("a|b*c\n<b>[x](y)`") == r"a\|b\*c &lt;b&gt;\[x\](y)\`"


def test_hidden_columns_show_no_value_in_any_form():
    secret = [f"SECRET{i % 5}" for i in range(398)] + ["SECRETRARE"] * 2
    salary = np.round(np.random.default_rng(1).normal(7654321.0, 3.0, 400), 2)
    salary[:6] = 9876543.21
    frame = mixed_frame().with_columns(
        secret=pl.Series(secret), salary=salary, who=pl.Series([f"PERSON{i}" for i in range(400)])
    )
    detection = detect(frame, id="who", hide=["secret", "salary", "who"])
    detection = replace(
        detection,
        notes=[
            Note("missing_code", "salary", count=6, value=9876543.21),
            Note("leading_zeros", "shop"),
        ],
    )
    report = build_report(detection)
    reasons = [
        reason for row in report.summary["top"] for reason in row["reasons"] if reason["hidden"]
    ]
    assert {reason["column"] for reason in reasons} == {"secret", "salary"}, (
        "the hidden columns must be reasons here"
    )
    for text in (report.html(), report.json(), report.markdown(), report._repr_html_()):
        assert not re.search(r"SECRET|PERSON|9,?876,?543|7,?654,?3\d\d", text)
        assert "(hidden)" in text or '"hidden": true' in text
    assert [(note["kind"], note["column"]) for note in report.summary["notes"]] == [
        ("leading_zeros", "shop")
    ]
    assert report.summary["map"] is None or "salary" not in report.summary["map"]["columns"]
    assert report.summary["top"][0]["name"] == report.summary["top"][0]["row"]
