"""Explanations in SHAP's shape: they add up, and its plots draw them."""

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from scipy import sparse

import odefs
from odefs import ODEFS, LeSiNN

matplotlib.use("Agg")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*global RNG.*"),
]


@pytest.fixture(scope="module")
def shap():
    """Imported here: its own warnings are not ours."""
    import shap

    return shap


@pytest.fixture
def model(noisy):
    return ODEFS(random_state=0).fit(noisy)


def test_values_and_base_add_up_to_the_score(shap, model, noisy):
    explanation = model.explain(noisy)
    found = explanation.to_shap()
    assert isinstance(found, shap.Explanation)
    assert found.shape == noisy.shape
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, model.outlier_scores(noisy), rtol=1e-6
    )
    np.testing.assert_allclose(found.base_values, 1.0, rtol=1e-6)
    assert np.array_equal(found.values, explanation.excess)
    assert np.array_equal(found.data, noisy)
    assert list(found.feature_names) == [f"x{k}" for k in range(30)]
    assert found[0].values.argmax() in (3, 4)


@pytest.mark.parametrize(
    "plot", ["beeswarm", "bar", "heatmap", "violin", "waterfall", "bar of a row", "scatter"]
)
def test_plots_draw(shap, model, noisy, plot):
    import matplotlib.pyplot as plt

    found = model.explain(noisy[:60]).to_shap()
    draw = {
        "beeswarm": lambda: shap.plots.beeswarm(found, show=False),
        "bar": lambda: shap.plots.bar(found, show=False),
        "heatmap": lambda: shap.plots.heatmap(found, show=False),
        "violin": lambda: shap.plots.violin(found, show=False),
        "waterfall": lambda: shap.plots.waterfall(found[0], show=False),
        "bar of a row": lambda: shap.plots.bar(found[0], show=False),
        "scatter": lambda: shap.plots.scatter(found[:, "x3"], show=False),
    }
    try:
        draw[plot]()
        figure = plt.gcf()
        figure.canvas.draw()
        words = {
            text.get_text()
            for axes in figure.axes
            for text in (*axes.get_yticklabels(), axes.xaxis.label)
        }
        assert any("x3" in word for word in words)
    finally:
        plt.close("all")


def test_sparse_rows_and_frames(shap, noisy):
    rows = sparse.csr_array(np.where(np.abs(noisy) > 1, noisy, 0.0))
    model = LeSiNN(random_state=0).fit(rows)
    assert np.array_equal(model.explain(rows).to_shap().data, rows.toarray())


def test_mixed_columns_of_a_pipeline(shap):
    import pandas as pd
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"amount": rng.normal(size=300), "kind": rng.choice(["a", "b", "c"], 300)})
    frame.loc[:5, "amount"] = 12.0
    pipeline = make_pipeline(odefs.TableEncoder(), ODEFS(random_state=0)).fit(frame)
    found = odefs.explain(pipeline, frame).to_shap()
    assert list(found.feature_names) == ["amount", "kind"]
    assert found[0].values.argmax() == 0
    shap.plots.waterfall(found[0], show=False)
    matplotlib.pyplot.close("all")


def test_without_the_extra_the_install_command_is_said():
    script = (
        "import sys; sys.modules['shap'] = None\n"
        "import numpy, odefs\n"
        "X = numpy.random.rand(50, 3)\n"
        "try: odefs.LeSiNN().fit(X).explain(X).to_shap()\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert shown == "to_shap needs SHAP, which is not installed: pip install 'odefs[shap]'.\n"
