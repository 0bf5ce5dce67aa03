"""Displays: what they hold, what they draw, and on which axes."""

import io

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

import odefs
from odefs import plots
from odefs.datasets.transactions import transactions_path

SHORTCUTS = {
    "plot_scores": plots.ScoreDisplay,
    "plot_reasons": plots.ReasonsDisplay,
    "plot_row": plots.RowDisplay,
    "plot_importances": plots.ImportancesDisplay,
    "plot_map": plots.MapDisplay,
}


@pytest.fixture(scope="module")
def found():
    return odefs.detect(pl.read_csv(transactions_path()), id="transaction")


@pytest.fixture(scope="module")
def fitted():
    X = np.random.default_rng(0).normal(size=(400, 8))
    X[:6, 3] += 9
    return odefs.ODEFS(random_state=0).fit(X), X


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def picture(display):
    """The pixels of a display, drawn on axes of a fixed size."""
    figure, ax = plt.subplots(figsize=(5, 4))
    display.plot(ax)
    file = io.BytesIO()
    figure.savefig(file, format="rgba", dpi=50)
    return np.frombuffer(file.getvalue(), np.uint8)


@pytest.mark.parametrize("name", SHORTCUTS)
def test_shortcuts_draw_on_given_or_new_axes(name, found):
    figure, ax = plt.subplots()
    display = getattr(found, name)(ax=ax)
    assert isinstance(display, SHORTCUTS[name])
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert ax.has_data()
    own = getattr(found, name)()
    assert own.ax_ is not ax
    assert own.ax_.get_xlabel()


@pytest.mark.parametrize("name", SHORTCUTS)
def test_pictures_are_the_same_whenever_they_are_drawn(name, found):
    display = getattr(found, name)()
    first, again, another = picture(display), picture(display), picture(getattr(found, name)())
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, another)
    assert np.unique(first).size > 2


def test_pictures_of_other_rows_differ(found):
    for draw in (found.plot_reasons, found.plot_row):
        assert (picture(draw(int(found.order[0]))) != picture(draw(int(found.order[-1])))).any()


def test_the_histogram_counts_all_rows_and_has_the_threshold(found):
    display = found.plot_scores()
    ax = display.ax_
    assert round(sum(patch.get_height() for patch in ax.patches)) == found.n_rows
    assert [line.get_xdata()[0] for line in ax.lines] == [found.threshold]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        f"ordinary ({found.n_rows - found.n_flagged:,})",
        f"flagged ({found.n_flagged:,})",
    ]


def test_bars_are_the_excess_of_the_row(found):
    row = int(found.order[3])
    display = found.plot_reasons(row)
    explanation = found.explain(row)
    largest = np.sort(explanation.excess[0])[::-1][: len(display.columns)]
    np.testing.assert_allclose(display.excess, largest)
    np.testing.assert_allclose([bar.get_width() for bar in display.ax_.patches], largest)
    assert display.score == pytest.approx(found.scores[row], rel=1e-5)


def test_a_row_is_beside_the_quartiles_of_its_columns(found):
    row = int(found.order[0])
    display = found.plot_row(row)
    for k, name in enumerate(display.columns):
        values = found.table[name].values
        assert display.values[k] == values[row]
        np.testing.assert_allclose(
            display.quartiles[:, k], np.nanquantile(values, [0.25, 0.5, 0.75])
        )


def test_values_beyond_the_edge_are_arrows_that_say_so():
    quartiles = np.repeat([[1.0], [2.0], [3.0]], 4, axis=1)
    values = np.array([2.5, 900.0, -900.0, np.nan])
    display = plots.RowDisplay(["near", "high", "low", "none"], values, quartiles).plot()
    drawn = {
        line.get_marker(): (line.get_xdata().tolist(), line.get_ydata().tolist())
        for line in display.ax_.lines
    }
    assert drawn[">"] == ([12.0], [1])
    assert drawn["<"] == ([-12.0], [2])
    assert drawn["o"][1][0] == 0
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == ["2.5", "900 (beyond 12)", "-900 (beyond 12)", "missing"]


def test_columns_that_cannot_be_drawn_are_named(found):
    display = found.plot_row()
    kinds = {name: found.table[name].kind for name in found.encoder.columns}
    others = {name for name, kind in kinds.items() if kind in ("category", "time")}
    assert others
    assert set(display.not_drawn) == others
    label = display.ax_.get_xlabel()
    assert all(name in label for name in others)
    assert (
        "not drawn" not in plots.RowDisplay(["a"], [1.0], [[0], [1], [2]]).plot().ax_.get_xlabel()
    )


def test_the_map_marks_flagged_rows(found):
    display = found.plot_map()
    assert display.is_outlier.sum() == found.n_flagged
    assert display.names[0] == found.row_names[found.order[0]]


def test_estimators_are_drawn_too(fitted):
    model, X = fitted
    scores = plots.ScoreDisplay.from_estimator(model, X)
    np.testing.assert_array_equal(scores.scores, model.outlier_scores(X))
    assert plots.ReasonsDisplay.from_estimator(model, X, 2).columns[0] == "x3"
    assert plots.RowDisplay.from_estimator(model, X, 2).columns[0] == "x3"
    importances = plots.ImportancesDisplay.from_estimator(model, n_columns=3)
    assert importances.columns[0] == "x3"
    assert len(importances.columns) == 3


def test_hidden_columns_are_not_drawn():
    frame = pl.read_csv(transactions_path())
    hidden = odefs.detect(frame, id="transaction", hide=["distance_km"])
    assert "distance_km" not in hidden.plot_row().columns
    shown = hidden.plot_reasons()
    label = shown.ax_.get_yticklabels()[shown.columns.index("distance_km")].get_text()
    assert "9500" not in label


def test_names_with_formulas_are_drawn_as_they_are():
    cells = np.random.default_rng(0).normal(size=(3, 200)) ** 3
    frame = pl.DataFrame({"$a_b$": cells[0], "b" * 300: cells[1], "c": cells[2]})
    names = pl.Series("key", [f"$r_{k}^$" for k in range(200)])
    found = odefs.detect(frame.with_columns(names), id="key")
    assert len(picture(found.plot_map()))
    display = found.plot_importances()
    assert len(picture(display))
    assert max(len(label.get_text()) for label in display.ax_.get_yticklabels()) < 40


def test_rows_that_cannot_be_drawn_are_refused(fitted):
    model, X = fitted
    for display in (plots.ReasonsDisplay, plots.RowDisplay):
        with pytest.raises(ValueError, match="from 0"):
            display.from_estimator(model, X, -1)
    text = odefs.detect(pl.DataFrame({"a": ["x", "y", "z"] * 40, "b": ["p", "q"] * 60}))
    with pytest.raises(ValueError, match="column of numbers"):
        text.plot_row()
