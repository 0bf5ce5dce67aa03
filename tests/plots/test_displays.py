"""Displays: what they hold, what they draw, and on which axes."""

import io
from datetime import datetime, timedelta

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from scipy import sparse
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError

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
        f"threshold ({found.threshold:.3g})",
    ]


def test_no_bar_of_the_histogram_crosses_the_threshold():
    scores = np.concatenate([np.linspace(0.5, 1.5, 200), [1.0, 4.0]])
    # 1.0 is not flagged, and is drawn below the threshold.
    for threshold in (1.0, 1.234, 3.9999):
        ax = plots.ScoreDisplay(scores, threshold).plot().ax_
        assert sum(bar.get_height() for bar in ax.patches) == scores.size
        spans = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
        assert all(high <= threshold + 1e-9 or low >= threshold - 1e-9 for low, high in spans)
        below = sum(bar.get_height() for bar in ax.patches if bar.get_x() < threshold - 1e-9)
        assert below == (scores <= threshold).sum()


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
    others = {name for name, kind in kinds.items() if kind == "category"}
    assert others
    assert set(display.not_drawn) == others
    label = display.ax_.get_xlabel()
    assert all(name in label for name in others)
    assert (
        "not drawn" not in plots.RowDisplay(["a"], [1.0], [[0], [1], [2]]).plot().ax_.get_xlabel()
    )


def test_dates_are_drawn_with_their_dates():
    rng = np.random.default_rng(0)
    when = [datetime(2024, 1, 1) + timedelta(hours=k) for k in range(400)]
    when[5] = datetime(2031, 5, 5)
    span = [timedelta(minutes=float(k)) for k in rng.normal(90, 5, 400)]
    frame = pl.DataFrame({"length": rng.normal(10, 1, 400), "when": when, "span": span})
    display = odefs.detect(frame).plot_row(5)
    assert display.columns[0] == "when"
    assert not display.not_drawn
    assert "2031-05-05" in display.ax_.texts[0].get_text()
    assert np.isfinite(display.quartiles).all()
    assert display.labels[display.columns.index("span")].startswith("1:")


def test_different_columns_have_different_labels():
    names = [f"measurement of sensor number {k} in the northern hall (mV)" for k in range(12)]
    names += ["a" * 300 + "b" + "a" * 300, "a" * 300 + "c" + "a" * 300, "tab\t", "tab\r"]
    values, quartiles = np.zeros(len(names)), np.repeat([[-1.0], [0.0], [1.0]], len(names), axis=1)
    displays = [
        plots.RowDisplay(names, values, quartiles),
        plots.ReasonsDisplay(names, values, [0.0] * len(names), 1.0),
        plots.ImportancesDisplay(names, values, values),
    ]
    for display in displays:
        labels = [label.get_text() for label in display.plot().ax_.get_yticklabels()]
        assert len(set(labels)) == len(names)
        assert max(map(len, labels)) < 50


@pytest.mark.parametrize("size", [(6, 2.2), (4, 3), (9, 6)])
def test_legends_cover_nothing(size):
    full = np.ones(3)
    grid = np.array([(x, y) for x in (-6.0, 0.0, 6.0) for y in (-1.0, 0.0, 1.0)])
    displays = [
        plots.ImportancesDisplay(["a", "b", "c"], full, full),
        plots.RowDisplay(["a", "b", "c"], 3 * full, [-full, 0 * full, full], name="r"),
        plots.MapDisplay(grid, grid[:, 0] > 0, ["p"], [8], [0.5, 0.3], [8]),
    ]
    for display in displays:
        figure, ax = plt.subplots(figsize=size)
        display.plot(ax)
        figure.draw_without_rendering()
        legend = ax.get_legend().get_window_extent()
        points = [collection.get_offsets() for collection in ax.collections]
        points += [np.transpose([line.get_xdata(), line.get_ydata()]) for line in ax.lines]
        for x, y in ax.transData.transform(np.concatenate([p for p in points if len(p)])):
            assert not legend.contains(x, y)
        assert not legend.count_overlaps([bar.get_window_extent() for bar in ax.patches])
        assert not legend.count_overlaps([text.get_window_extent() for text in ax.texts])


def test_labels_are_inside_the_axes_and_apart(found):
    for draw in (found.plot_map, found.plot_row):
        display = draw()
        display.figure_.draw_without_rendering()
        boxes = [text.get_window_extent() for text in display.ax_.texts]
        assert boxes
        for k, box in enumerate(boxes):
            assert display.ax_.bbox.count_contains(box.get_points()) == 2
            assert not box.count_overlaps(boxes[:k])
    row = plots.RowDisplay(["a", "b"], [11.5, -3.0], [[-0.5] * 2, [0.0] * 2, [0.5] * 2]).plot()
    row.figure_.draw_without_rendering()
    assert all(
        row.ax_.bbox.count_contains(text.get_window_extent().get_points()) == 2
        for text in row.ax_.texts
    )


def test_rows_at_one_point_share_a_label():
    points = np.array([[0.0, 0.0], [5.0, 5.0], [5.0, 5.0]])
    named = plots.MapDisplay(points, [False, True, True], ["p", "q"], [1, 2], [0.6, 0.4]).plot()
    assert [text.get_text() for text in named.ax_.texts] == ["p, q"]


def test_titles_name_the_row(found, fitted):
    model, X = fitted
    name = str(found.row_names[found.order[2]])
    for draw in (found.plot_reasons, found.plot_row):
        assert name in draw(name).ax_.get_title()
    for display in (plots.ReasonsDisplay, plots.RowDisplay):
        assert "4" in display.from_estimator(model, X, 4).ax_.get_title()
    numbered = odefs.detect(X)
    assert "7" in numbered.plot_reasons(7).ax_.get_title()
    assert name in plots.ReasonsDisplay.from_explanation(found.explain(name)).ax_.get_title()


def test_the_map_marks_clipped_rows():
    X = np.random.default_rng(0).normal(size=(300, 4))
    assert not odefs.detect(X).plot_map().clipped.size
    X[3, 0], X[5, 1] = 1e9, 5.0
    display = odefs.detect(X).plot_map()
    (place,) = display.clipped
    assert display.named[0] == place
    assert len(display.ax_.get_legend().get_texts()) == 3


def test_missing_values_are_called_so_in_both_plots_of_a_row():
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[3, 0], X[3, 1] = 15, np.nan
    found = odefs.detect(X)
    (reasons,) = [
        label.get_text()
        for label in found.plot_reasons(3).ax_.get_yticklabels()
        if label.get_text().startswith("x1")
    ]
    for cell in (None, np.nan, pd.NA, pd.NaT):
        display = plots.ReasonsDisplay(["x1"], [1.0], [cell], 1.0).plot()
        assert display.ax_.get_yticklabels()[0].get_text() == reasons
    row = found.plot_row(3)
    assert reasons == f"x1 = {row.ax_.texts[row.columns.index('x1')].get_text()}"


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
        for row in (-1, 400, 9999, 1.5):
            with pytest.raises(ValueError, match="from 0 to 399"):
                display.from_estimator(model, X, row)
        for n_columns in (0, -1, 2.5):
            with pytest.raises(ValueError, match="n_columns"):
                display.from_estimator(model, X, 0, n_columns=n_columns)
    text = odefs.detect(pl.DataFrame({"a": ["x", "y", "z"] * 40, "b": ["p", "q"] * 60}))
    with pytest.raises(ValueError, match="column of numbers"):
        text.plot_row()


def test_estimators_that_cannot_be_drawn_are_refused(fitted):
    _, X = fitted
    forest = IsolationForest(n_estimators=5, random_state=0).fit(X)
    for display in (plots.ScoreDisplay, plots.ReasonsDisplay, plots.RowDisplay):
        with pytest.raises(TypeError, match="IsolationForest"):
            display.from_estimator(forest, X)
    with pytest.raises(TypeError, match="LeSiNN"):
        plots.ImportancesDisplay.from_estimator(odefs.LeSiNN(random_state=0).fit(X))
    with pytest.raises(NotFittedError):
        plots.ImportancesDisplay.from_estimator(odefs.ODEFS())


def test_the_score_of_a_row_includes_what_answers_add(fitted):
    X = fitted[1]
    model = odefs.ODEFS(random_state=0).fit(X, known_outliers=range(6))
    drawn = plots.ReasonsDisplay.from_estimator(model, X, 2)
    assert drawn.score == pytest.approx(model.outlier_scores_[2])
    assert model.explain(X[2:3]).answers.total[0] > 0
    found = odefs.detect(pd.DataFrame(X), checks=False)
    review = found.review()
    (first,) = review.next()
    review.tell(first, False)
    learned = found.with_answers(review)
    drawn = plots.ReasonsDisplay.from_detection(learned, first)
    assert drawn.score == pytest.approx(learned.scores[first])
    assert learned.scores[first] < found.scores[first]


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_matrix"])
def test_rows_of_sparse_matrices_are_drawn(form, fitted):
    model, X = fitted
    given = getattr(sparse, form)(X)
    np.testing.assert_array_equal(
        plots.RowDisplay.from_estimator(model, given, 3).values,
        plots.RowDisplay.from_estimator(model, X, 3).values,
    )
    assert plots.ReasonsDisplay.from_estimator(model, given, 3).score > 0


def test_masked_cells_are_missing_in_the_picture(fitted):
    X = fitted[1].copy()
    X[X > 2.5] = np.nan
    model = odefs.ODEFS(missing="ignore", random_state=0).fit(X)
    masked = np.ma.masked_greater(fitted[1], 2.5)
    hidden = plots.RowDisplay.from_estimator(model, masked, 3, n_columns=8)
    expected = plots.RowDisplay.from_estimator(model, X, 3, n_columns=8)
    np.testing.assert_array_equal(hidden.values, expected.values)
    np.testing.assert_array_equal(hidden.quartiles, expected.quartiles)
    assert np.isnan(expected.values).any()


def luminance(color):
    """Relative luminance of an opaque colour, 0 for black, 1 for white."""
    parts = np.array(to_rgb(color))
    return np.where(parts > 0.04, ((parts + 0.055) / 1.055) ** 2.4, parts / 12.92) @ [
        0.2126,
        0.7152,
        0.0722,
    ]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_lines_and_text_are_seen_in_light_and_dark_styles(style, found):
    far = plots.MapDisplay(np.eye(2), [False, True], [0], [0], [0.5, 0.5], clipped=[1])
    with plt.style.context(style):
        paper = mpl.rcParams["axes.facecolor"]
        lines = [found.plot_scores().ax_.lines[-1], found.plot_reasons().ax_.lines[-1]]
        colors = [line.get_color() for line in lines]
        colors.append(far.plot().ax_.collections[-1].get_edgecolor()[0][:3])
        row = found.plot_row()
        bars = [bar.get_facecolor()[:3] for bar in row.ax_.patches]
        texts = [text.get_color() for text in row.ax_.texts]
    assert min(contrast(color, paper) for color in colors) > 10
    assert min(contrast(text, bar) for text in texts for bar in bars) > 4.5


def box_in_figure(artist, figure):
    figure.canvas.draw()
    low, high = artist.get_window_extent().get_points()
    return (low >= figure.bbox.p0 - 1).all() and (high <= figure.bbox.p1 + 1).all()


@pytest.mark.parametrize("length", [3, 40, 300])
def test_long_names_and_values_leave_room_for_the_bars(length):
    cells = np.random.default_rng(0).normal(size=(4, 200))
    cells[:, 7] = 30
    columns = {f"{'number ' * length}{k}"[-length:]: column for k, column in enumerate(cells)}
    words = np.where(np.arange(200) == 7, "rare " * length, "usual " * length)
    others = {f"{k} {'text ' * length}"[:length]: words for k in range(6)}
    found = odefs.detect(pl.DataFrame(columns | others), random_state=0)
    for display in (found.plot_reasons(7), found.plot_row(7)):
        figure, ax = display.figure_, display.ax_
        assert box_in_figure(ax.xaxis.label, figure)
        assert ax.get_window_extent().width > 0.35 * figure.bbox.width
        labels = [label.get_text() for label in ax.get_yticklabels()]
        assert len(set(labels)) == len(labels)
    assert "not drawn: " in ax.get_xlabel().replace("\n", " ")


def test_plots_of_a_row_take_one_row(found, fitted):
    model, X = fitted
    explanation = model.explain(X[:5])
    for draw in (
        found.plot_reasons,
        found.plot_row,
        lambda row: plots.ReasonsDisplay.from_explanation(explanation, row),
    ):
        with pytest.raises(ValueError, match=r"row=\[1, 2\] names 2 rows, but one row is drawn"):
            draw([1, 2])
        assert draw([2]).columns == draw(2).columns
