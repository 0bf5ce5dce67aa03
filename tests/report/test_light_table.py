"""The table that notebooks show for a detection, and the ways from it to the whole page."""

import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import odefs
from odefs.cli.terminal.screen import Screen, show_reading
from odefs.datasets.transactions import transactions_path
from odefs.report import notebook
from odefs.report.light_table import CHECKS
from odefs.tables.detect import score_table
from odefs.tables.messages import left_out_lines, more_checks
from odefs.tables.model_files.tables import load_table_model
from odefs.tables.results.detection import READING_LINES
from odefs.tables.table import table_of
from pages import Texts


@pytest.fixture(scope="module")
def found():
    return odefs.detect(pl.read_csv(transactions_path()), id="transaction")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def links(detection):
    elements = Texts(detection._repr_html_()).elements
    return [attributes["href"] for tag, attributes in elements if tag == "a"]


def test_a_saved_report_is_linked(found, here):
    linked = found.save_report("page.html")
    assert links(linked) == ["page.html"]
    assert links(found) == [], "the detection itself is unchanged"
    assert linked.page == here.resolve() / "page.html"
    assert "save_report" in found._repr_html_()


def test_links_are_relative_to_the_working_folder(found, here, tmp_path_factory, monkeypatch):
    (here / "pages").mkdir()
    assert links(found.save_report("pages/a b&c.html")) == ["pages/a%20b%26c.html"]
    other = tmp_path_factory.mktemp("other") / "page.html"
    linked = found.save_report(other)
    assert links(linked) == [other.resolve().as_uri()]
    monkeypatch.chdir(other.parent)
    assert links(linked) == ["page.html"]


def test_existing_files_are_kept_unless_forced(found, here):
    Path("page.html").write_text("mine")
    with pytest.raises(FileExistsError, match="force=True"):
        found.save_report("page.html")
    assert Path("page.html").read_text() == "mine"
    found.save_report("page.html", force=True)
    assert Path("page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_page_of_other_scores_is_not_linked(found, here):
    linked = found.save_report("page.html")
    review = linked.review()
    review.tell(review.next(), [False])
    assert links(linked.with_answers(review)) == []


def test_show_opens_the_page_and_leaves_the_folder_alone(found, here, monkeypatch):
    opened = []
    monkeypatch.setattr(notebook, "open_file", opened.append)
    monkeypatch.setattr(notebook, "has_screen", lambda: True)
    found.show()
    (page,) = opened
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert list(here.iterdir()) == []


def test_show_without_a_screen_names_other_ways(found, monkeypatch):
    monkeypatch.setattr(notebook, "has_screen", lambda: False)
    with pytest.raises(RuntimeError, match="save_report"):
        found.show()


def test_a_detection_that_was_shown_can_be_pickled(found):
    shown = found._repr_html_()
    assert pickle.loads(pickle.dumps(found))._repr_html_() == shown


def test_rows_are_named_as_frames_name_them():
    frame = pl.DataFrame({"a": [*range(40), 900], "b": [*range(41)]})
    pandas = frame.to_pandas()
    tables = [
        ("row", "40", frame),
        ("row", "40", pandas),
        ("index", "140", pandas.set_axis(range(100, 141))),
        ("index", "r40", pandas.set_axis([f"r{i}" for i in range(41)])),
    ]
    for title, name, table in tables:
        shown = odefs.detect(table)._repr_html_()
        assert shown.split("</th>")[0].endswith(f">{title}")
        assert shown.split("</td>")[0].endswith(f">{name}")


def table_with_losses(**more):
    size = np.random.default_rng(0).normal(size=90)
    other = np.where(np.arange(90) < 6, np.inf, size[::-1])  # too many to be single errors
    key = [f"<b>{i}</b>" for i in range(90)]
    return pl.DataFrame({"size": size, "other": other, "<i>k</i>": [1] * 90, "key": key, **more})


def test_columns_left_out_and_lost_cells_are_shown_as_in_the_terminal(capsys):
    found = odefs.detect(table_with_losses())
    show_reading(Screen(), found)
    lines = capsys.readouterr().out.splitlines()
    assert {note.kind for note in found.notes} == {"infinite_cells"}
    assert len(lines) == len(found.left_out) + len(found.notes) == 3
    assert str(found).splitlines() == [repr(found), *lines]
    shown = found._repr_html_()
    assert all(line in Texts(shown).text for line in lines)
    assert "<i>" not in shown
    assert f"{len(found.left_out)} left out" in repr(found)


def test_notes_on_hidden_columns_are_not_shown():
    found = odefs.detect(table_with_losses(), hide=["other"])
    (note,) = found.notes
    assert str(note) not in str(found)
    assert str(note) not in Texts(found._repr_html_()).text


def test_scored_rows_with_infinite_cells_are_noted(here, capsys):
    odefs.detect(table_with_losses().with_columns(other=pl.col("size"))).save("m.odefs")
    loaded = load_table_model(Path("m.odefs"))
    found, _ = score_table(table_of(table_with_losses()), loaded.model, loaded.encoder)
    assert [(note.kind, note.column, note.count) for note in found.notes] == [
        ("infinite_cells", "other", 6)
    ]


def test_the_cell_of_any_table_is_small():
    strange = {f"{'<&' * 300}{k}": [(None, 1.0)[i % 7 == k] for i in range(90)] for k in range(40)}
    mixed = {f"{'&' * 300}{k}": ["&" * 500, "1", "2"] * 30 for k in range(40)}
    found = odefs.detect(table_with_losses(**strange, **mixed))
    assert len(found.left_out) > 20
    assert len(found.notes) > 20
    assert len(found._repr_html_().encode()) < 60_000
    assert len(str(found).splitlines()) <= 1 + 2 * READING_LINES


def codes_for_missing(n_columns):
    """Ages of which each column has one that is -999."""
    ages = np.random.default_rng(0).integers(20, 80, size=(90, n_columns)).astype(float)
    ages[np.arange(n_columns), np.arange(n_columns)] = -999
    return pl.DataFrame({f"age{k}": ages[:, k] for k in range(n_columns)})


@pytest.mark.parametrize("n_columns", [2, CHECKS, 12])
def test_values_to_check_that_are_not_listed_are_counted(n_columns):
    found = odefs.detect(codes_for_missing(n_columns))
    assert len(found.checks) >= n_columns
    items = found._repr_html_().split("<li>")[1:]
    more = len(found.checks) - CHECKS
    assert len(items) == min(len(found.checks), CHECKS) + (more > 0)
    assert (more > 0) == (more_checks(more, in_python=True) in items[-1])


def test_columns_left_out_are_cut_at_whole_names():
    names = [f"{'long name ' * (k % 9)}{k}" for k in range(300)]
    found = odefs.detect(codes_for_missing(2).with_columns(pl.lit(1).alias(name) for name in names))
    (line,) = left_out_lines(found.left_out)
    assert f"Left out: {line}" in Texts(found._repr_html_()).text
    shown = line.split(" and ")[0].split(", ")
    assert len(shown) >= 3
    assert all(name in names or name.endswith("...") for name in shown)
    assert f" and {len(names) - len(shown)} more (" in line


def test_a_report_is_offered_only_where_there_is_one():
    table = codes_for_missing(3)
    for model in (odefs.ODEFS(random_state=0), odefs.LeSiNN(random_state=0)):
        found = odefs.detect(table, model=model)
        offered = [
            word in found._repr_html_() for word in (".report()", ".save_report(", ".show()")
        ]
        assert offered == [found.has_importances] * 3
        assert ".to_frame()" in found._repr_html_()
