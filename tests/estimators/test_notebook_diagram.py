"""Notebooks show scikit-learn's diagram of an estimator, and below it what the fit found."""

import re

import numpy as np
import pytest
import sklearn

import odefs
from odefs import ODEFS, FeatureSelection, LeSiNN
from odefs.estimators.fitted_facts import fitted_facts

DIAGRAM = "sk-top-container"


@pytest.fixture(scope="module")
def X():
    rows = np.random.default_rng(0).normal(size=(500, 30))
    rows[:15, 3:5] += 8
    return rows


@pytest.fixture(scope="module")
def model(X):
    return ODEFS(random_state=0).fit(X)


def below(shown):
    """Names and values of the table below the diagram."""
    assert DIAGRAM in shown
    table = shown.rpartition("</body>")[2] or shown[shown.index("odefs-facts") :]
    return dict(re.findall(r"<tr><th[^>]*>(.*?)</th><td[^>]*>(.*?)</td></tr>", table))


def test_the_facts_are_those_of_the_model(model):
    facts = below(model._repr_html_())
    assert list(facts) == ["threshold", "trust_", "feature_importances_", "noise_columns_"]
    assert facts["threshold"].startswith(f"{-model.offset_:.4g} ")
    assert f"{model.is_outlier_.sum()} of 500" in facts["threshold"]
    assert facts["trust_"].startswith(f"{model.trust_:.2f}" if model.trust_ else "0 ")
    first = model.feature_importances_.argmax()
    assert facts["feature_importances_"].startswith(f"x{first} ")
    assert f"x{model.noise_columns_[0]}" in facts["noise_columns_"]


def test_both_ways_of_display_agree(model):
    assert below(model._repr_mimebundle_()["text/html"]) == below(model._repr_html_())


def test_other_models_show_what_they_know(model, X, tmp_path):
    assert list(below(LeSiNN(random_state=0).fit(X)._repr_html_())) == ["threshold"]
    model.save(tmp_path / "m.odefs")
    loaded = dict(fitted_facts(odefs.load(tmp_path / "m.odefs")))
    assert loaded == dict(fitted_facts(model)) | {"threshold": f"{-model.offset_:.4g}"}
    trusted = dict(fitted_facts(ODEFS(random_state=0, trust=0.5, noise_columns="keep").fit(X)))
    assert trusted["trust_"].startswith("0.50")
    assert trusted["noise_columns_"] == "none"


@pytest.mark.parametrize("estimator", [ODEFS(), LeSiNN()])
def test_before_the_fit_there_is_the_diagram_alone(estimator):
    shown = estimator._repr_html_()
    assert DIAGRAM in shown
    assert "odefs-facts" not in shown


def test_text_stays_text_whatever_its_names(model, X):
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_names_are_escaped_and_short(X):
    pd = pytest.importorskip("pandas")
    names = [f"<script>{'n' * 400}{k}</script>" for k in range(X.shape[1])]
    fitted = ODEFS(random_state=0).fit(pd.DataFrame(X, columns=names))
    shown = fitted._repr_html_()
    table = shown[shown.index("odefs-facts") :]
    assert "<script>" not in table
    assert len(table) < 3_000


def changed(shown):
    """Names of the parameters that the diagram marks as set by the user."""
    return re.findall(r'class="user-set">.*?class="param">\s*(\w+)', shown, flags=re.DOTALL)


def test_only_parameters_that_were_set_are_marked():
    assert changed(ODEFS()._repr_html_()) == []
    assert changed(ODEFS(trust=0.5)._repr_html_()) == ["trust"]
    own = ODEFS(selection=FeatureSelection(l1=0.5))._repr_html_()
    assert "selection__l1" in own
