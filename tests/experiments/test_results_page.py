"""The page of results: what its sections show, and the commands under them."""

import numpy as np
import pytest

from experiment_records import fake_records
from locations import ROOT
from odefs.datasets.registry import BY_NAME
from odefs.experiments import grid, results_page, tables
from odefs.experiments.competitor_variants import (
    nearest_reading,
    reading_jobs,
    readings_table,
    same_repeats,
)
from odefs.experiments.methods import TABLE2
from odefs.experiments.paper_numbers import paper_number
from odefs.experiments.peers import peers
from odefs.experiments.plans import commands, repeats_sentence, table_jobs
from odefs.experiments.reproduce import RECORDS, planned_jobs, tables_of
from odefs.experiments.summary import summarise


def page_of(records, folder):
    for record in records:
        grid.append_record(folder / RECORDS, record)
    return results_page.write_page(folder, folder / "docs").read_text()


def section_of(page, title):
    return page.partition(f"## {title}")[2].partition("\n## ")[0]


def test_the_results_page_says_what_the_records_say(tmp_path):
    for record in fake_records():
        grid.append_record(tmp_path / RECORDS, record)
    page = results_page.write_page(tmp_path, tmp_path / "docs").read_text()
    cell = summarise(fake_records(), "auc")["RandFS", "musk"]
    assert f"{cell.mean:.3f} ± {cell.std:.3f} (1.000)" in page
    assert "odefs reproduce table2 --datasets bank,u2r,mnist,musk --repeats 3 -o results" in page
    assert "- musk: 3 repeats." in page
    assert "- census: no records yet." in page
    assert (tmp_path / "docs" / "figures" / "table2-ranks.svg").exists()


@pytest.mark.slow
def test_the_committed_page_is_what_the_committed_records_say(tmp_path):
    root = ROOT
    page = results_page.write_page(root / "results", tmp_path)
    assert page.read_text() == (root / "docs" / "explanation" / "results.md").read_text()
    figures = sorted(tmp_path.glob("figures/*.svg"))
    assert figures
    assert all(
        (root / "docs" / "explanation" / "figures" / figure.name).exists() for figure in figures
    )


def test_average_precision_has_its_base_rate(tmp_path):
    records = fake_records()
    share = np.mean([r["outlier_share"] for r in records if r["job"]["dataset"] == "bank"])
    for record in records:
        if record["job"]["dataset"] == "bank":
            record["outlier_share"] = share
    for table in (
        tables.comparison_table(records, TABLE2, ["musk", "bank"], "ap", "ODEFS-paper"),
        tables_of("table2", records)["table2-ap"],
    ):
        assert table.header[:2] == ["dataset", "base rate"]
        assert next(row for row in table.rows if row[0] == "bank")[1] == f"{share:.3f}"
        assert {len(row) for row in table.rows} == {len(table.header)}
        assert [row[1] for row in table.rows if row[0].startswith(("mean", "average", "p"))] == [
            ""
        ] * 5
    assert "| dataset | base rate | RandFS |" in section_of(page_of(records, tmp_path), "Table 2")


def test_the_page_lists_every_difference_from_the_paper(tmp_path):
    records = fake_records()
    section = section_of(page_of(records, tmp_path), "Differences from the paper")
    for measure, shown in (("auc", "AUC"), ("p@k", "p@k")):
        for (method, dataset), cell in summarise(records, measure).items():
            paper = paper_number(method, dataset, measure)
            listed = f"| {shown} | {dataset} | {method} |" in section
            assert listed == (paper is not None and abs(cell.mean - paper) > 0.02)
    # Nine columns are kept in these records; the paper has 9 on u2r and many more on the others.
    assert "| musk | 9 | 24 | 0.38 |" in section
    assert "| u2r | 9 | 9 |" not in section


def test_sections_without_records_are_not_shown(tmp_path):
    page = page_of(fake_records(), tmp_path)
    for title in (
        "New rows",
        "Detectors of PyOD",
        "Variants of the competitors",
        "Self-pacing",
        "Recovery",
        "Failures",
    ):
        assert f"## {title}" not in page
    assert "Seconds to fit and score" in section_of(page, "Time")


def test_splits_and_peers_have_sections_with_their_commands(tmp_path):
    records = fake_records()
    split = [{**record, "job": {**record["job"], "protocol": "split"}} for record in records]
    theirs = [
        {**record, "job": {**record["job"], "method": name}}
        for name in peers()
        for record in records
        if record["job"]["method"] == "RandFS"
        and record["job"]["dataset"] in ("musk", "bank")
        and record["job"]["seed"] < 2
    ]
    refused = {
        "job": {**theirs[0]["job"], "method": "PyOD-KNN", "dataset": "census"},
        "error": "TooLargeError: no",
    }
    page = page_of([*records, *split, *theirs, refused], tmp_path)
    section = section_of(page, "New rows")
    assert (
        "odefs reproduce table2 --protocol split --datasets bank,u2r,mnist,musk --repeats 3 -o "
        "results" in section
    )
    section = section_of(page, "Detectors of PyOD")
    assert "odefs reproduce table2 --peers --datasets bank,musk --repeats 2 -o results" in section
    assert "| dataset | ODEFS-paper | ODEFS | IForest | PyOD-KNN |" in section
    assert "| refused |" in next(
        line for line in section.splitlines() if line.startswith("| census")
    )
    assert "Repeats: 2." in section
    assert "PyOD-KNN on census: TooLargeError: no" in section_of(page, "Failures")
    assert "PyOD-KNN" not in section_of(page, "Table 2")


def test_the_commands_name_the_repeats_of_the_records(tmp_path):
    records = []
    for experiment, repeats in (("noise", 10), ("scalability", 3)):
        jobs, _ = planned_jobs(experiment, ["RandFS", "ODEFS"], [], repeats, "transductive", False)
        numbers = {"auc": 0.8, "seconds": 1.0, "subset_size": 3.0, "precision": 0.5, "recall": 0.5}
        records += [{"job": job.as_record(), **numbers} for job in jobs]
    page = page_of(records, tmp_path)
    for title, command in (
        ("Resistance", "noise --repeats 10"),
        ("Recovery", "noise --repeats 10"),
        ("Time against", "scalability --repeats 3"),
    ):
        section = section_of(page, title)
        assert f"Repeats: {command.split()[-1]}." in section
        assert f"odefs reproduce {command} -o results" in section


def test_all_datasets_with_all_repeats_need_no_options():
    def made(repeats):
        return [
            {"job": job.as_record(), "auc": 0.5}
            for dataset, number in repeats.items()
            for job in table_jobs(["RandFS", "ODEFS-paper"], [dataset], number)
        ]

    every = {name: 20 for name in BY_NAME if name != "speech"}
    assert commands("table2", made(every)) == "odefs reproduce table2 -o results"
    assert repeats_sentence(made(every)) == "Repeats: 20; census 3."
    some = {**every, "bank": 4, "census": 1}
    assert commands("table2", made(some)).splitlines()[1:] == [
        "odefs reproduce table2 --datasets bank --repeats 4 -o results",
        "odefs reproduce table2 --datasets census --repeats 1 -o results",
    ]
    uneven = [
        record for record in made({"musk": 3}) if record["job"] != made({"musk": 3})[-1]["job"]
    ]
    assert repeats_sentence(uneven) == "Repeats: 2 to 3."


def test_readings_are_measured_by_their_distance_from_the_paper(tmp_path):
    """A variant with the paper's numbers is the nearest, with distance 0.

    Seeds without other variants are left out.
    """
    records = []
    for job in reading_jobs(["bank", "apascal"], 2, "transductive"):
        paper = paper_number(job.method, job.dataset, "auc")
        right = dict(job.options) in ({"n_features": 0.8}, {"share": 0.95})
        records.append({"job": job.as_record(), "auc": paper if right else paper - 0.1})
    more = [{"job": {**records[0]["job"], "seed": 7}, "auc": 0.0}]
    part = same_repeats([*records, *more])
    assert part == records
    assert nearest_reading(part) == ["RegFS(n_features=0.8)", "DisFS(share=0.95)"]
    last = dict(zip((table := readings_table(part, "auc")).header, table.rows[-1], strict=True))
    assert (last["RegFS()"], last["RegFS(n_features=0.8)"], last["RegFS, paper"]) == (
        "0.100",
        "0.000",
        "",
    )
    section = section_of(page_of([*records, *more], tmp_path), "Variants of the competitors")
    assert "`RegFS(n_features=0.8)` and `DisFS(share=0.95)`" in section
    assert "odefs reproduce competitors --datasets apascal,bank --repeats 2 -o results" in section
    assert same_repeats(more) == []
