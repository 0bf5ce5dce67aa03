"""Wrong arguments of ``odefs.detect`` are refused with a sentence, before anything is fitted."""

import inspect

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import IsolationForest

import odefs
from odefs import ODEFS, LeSiNN
from odefs.exceptions import TableError
from odefs.tables.detect import NoColumnsError

X = np.random.default_rng(0).normal(size=(100, 3))


@pytest.fixture
def unfitted(monkeypatch):
    """No model may be fitted."""

    def fit(self, *arguments, **options):
        raise AssertionError("fitted")

    monkeypatch.setattr(ODEFS, "fit", fit)


def test_a_misspelled_option_names_those_there_are(unfitted):
    with pytest.raises(TypeError, match=r"detect\(\) has no option 'contaminaton'") as caught:
        odefs.detect(X, contaminaton=0.1)
    text = str(caught.value)
    assert "Did you mean 'contamination'?" in text
    options = list(inspect.signature(odefs.detect).parameters)[1:]
    assert all(option in text for option in options)
    with pytest.raises(TypeError, match="has no option 'zzz'") as caught:
        odefs.detect(X, zzz=1)
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    "rules",
    [
        {"threshold": 1.0, "flag": 2},
        {"contamination": 0.1, "flag": 2},
        {"contamination": 0.1, "max_false_flags": 2},
        {"threshold": 1.0, "max_false_flags": 2},
    ],
)
def test_contradicting_rules_are_refused_before_the_fit(unfitted, rules):
    with pytest.raises(TableError, match="contradict"):
        odefs.detect(X, **rules)


RULES = {"contamination": 0.1, "threshold": 1.0, "flag": 2, "max_false_flags": 2}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("own", [{"contamination": 0.2}, {"max_false_flags": 50}], ids=str)
@pytest.mark.parametrize("kind", [odefs.ODEFS, LeSiNN])
def test_a_rule_of_the_model_contradicts_another_one(unfitted, kind, own, rule):
    with pytest.raises(TableError, match=f"{rule} and {next(iter(own))} of the model contradict"):
        odefs.detect(X, model=kind(**own), **{rule: RULES[rule]})


def test_a_rule_of_the_model_alone_is_used():
    own = LeSiNN(contamination=0.2, random_state=0)
    assert odefs.detect(X, model=own).convention.kind == "model_contamination"
    # The rule of the paper is part of its settings, of which one may be replaced.
    paper = odefs.ODEFS.paper(n_estimators=2, random_state=0)
    assert odefs.detect(X, model=paper, flag=2).n_flagged == 2


@pytest.mark.parametrize("threshold", [np.nan, np.inf, -np.inf, "2", True, [1.0]])
def test_a_threshold_is_a_finite_number(unfitted, threshold):
    with pytest.raises(TableError, match="finite"):
        odefs.detect(X, threshold=threshold)


@pytest.mark.parametrize("contamination", ["5%", "paper", 0, 0.7, 5, np.nan, True, [0.1]])
def test_a_contamination_is_a_share(unfitted, contamination):
    with pytest.raises(TableError, match=r"contamination=.* must be a share") as caught:
        odefs.detect(X, contamination=contamination)
    assert repr(contamination) in str(caught.value)


def test_the_default_contamination_may_be_named():
    by_default = odefs.detect(X)
    named = odefs.detect(X, contamination="auto")
    assert named.convention == by_default.convention
    assert named.threshold == by_default.threshold
    model = ODEFS(contamination=0.1, random_state=0)
    assert odefs.detect(X, model=model, contamination="auto").convention.kind == "auto"
    assert odefs.detect(X, model=model).convention.kind == "model_contamination"


LISTS = ("number", "category", "drop", "keep", "hide", "by", "na")


@pytest.mark.parametrize("name", LISTS)
def test_none_names_nothing(name):
    frame = pl.DataFrame(X)
    np.testing.assert_array_equal(
        odefs.detect(frame, **{name: None}).scores, odefs.detect(frame).scores
    )


@pytest.mark.parametrize("given", [True, b"p", {"p": 1}, X.shape.__len__])
@pytest.mark.parametrize("name", LISTS)
def test_an_argument_that_names_nothing_is_refused(unfitted, name, given):
    with pytest.raises(TableError, match=f"{name}=.* must be .* or a list of") as caught:
        odefs.detect(X, **{name: given})
    assert repr(given) in str(caught.value)


@pytest.mark.parametrize("name", ["number", "category", "drop", "keep", "hide", "by"])
def test_a_number_may_be_the_name_of_a_column(name):
    pd = pytest.importorskip("pandas")
    cells = np.random.default_rng(0).integers(0, 5, size=(100, 3))
    numbered = pd.DataFrame(cells)
    one, named = (
        odefs.detect(frame, **{name: given})
        for frame, given in ((numbered, 1), (numbered.rename(columns=str), ["1"]))
    )
    np.testing.assert_array_equal(one.scores, named.scores)
    assert one.hidden == named.hidden
    with pytest.raises(TableError, match="no column '5'"):
        odefs.detect(numbered, **{name: 5})


@pytest.mark.parametrize("na", [99, 99.0, "99", [99]])
def test_one_number_may_mean_missing(na):
    frame = pl.DataFrame({"p": [*X[:95, 0], *[99.0] * 5], "q": X[:, 1]})
    missing = frame.with_columns(pl.col("p").replace(99.0, None))
    np.testing.assert_array_equal(odefs.detect(frame, na=na).scores, odefs.detect(missing).scores)


@pytest.mark.parametrize("given", [None, "p", 5])
@pytest.mark.parametrize("name", ["number", "category", "drop", "keep", "na"])
def test_an_encoder_takes_lists(name, given):
    with pytest.raises(TableError, match=f"{name}=.* must be a list"):
        odefs.TableEncoder(**{name: given}).fit(X)


def test_a_misspelled_parameter_of_an_encoder_is_suggested():
    with pytest.raises(TypeError, match=r"TableEncoder\(\) .*'numbr'.*Did you mean 'number'\?"):
        odefs.TableEncoder(numbr=["p"])


def test_a_column_is_either_numbers_or_categories(unfitted):
    frame = pl.DataFrame({"p": np.arange(50.0) % 7, "q": np.arange(50.0) % 5})
    with pytest.raises(TableError, match="'p' is given both as 'number' and as 'category'"):
        odefs.detect(frame, number=["p", "q"], category=["p"])


@pytest.mark.parametrize(
    ("use", "other"),
    [
        *(("id", other) for other in ("drop", "keep", "number", "category")),
        *(("drop", other) for other in ("keep", "number", "category")),
        *(("by", other) for other in ("id", "drop", "keep", "number")),
    ],
)
def test_a_column_has_one_use(unfitted, use, other):
    frame = pl.DataFrame({"p": np.arange(50.0) % 7, "q": np.arange(50.0) % 5})
    with pytest.raises(TableError, match=f"'p' is given both as '{use}' and as '{other}'"):
        odefs.detect(frame, **{use: "p", other: "p"})
    if use != "id" != other:
        encoder = odefs.TableEncoder(**{use: ["p"], other: ["p"]})
        with pytest.raises(TableError, match=f"'p' is given both as '{use}' and as '{other}'"):
            encoder.fit(frame)


def test_a_file_is_not_read_for_contradicting_uses(unfitted):
    with pytest.raises(TableError, match="'k' is given both as 'id' and as 'drop'"):
        odefs.detect("gone.csv", id="k", drop="k")


def test_names_of_an_encoder_are_a_list(unfitted):
    frame = pl.DataFrame({"p": np.arange(50.0) % 7, "q": np.arange(50.0) % 5})
    with pytest.raises(TableError, match="must be a list"):
        odefs.detect(frame, id="p", encoder=odefs.TableEncoder(drop="p"))


@pytest.mark.parametrize("n", [-1, 1.5, True, "3"])
def test_the_number_of_top_rows_is_whole_and_not_negative(n):
    with pytest.raises(TableError, match="whole number"):
        odefs.detect(X, random_state=0, model=LeSiNN()).top(n)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "lesinn"}, "model must be an estimator of odefs"),
        ({"model": IsolationForest()}, "not IsolationForest"),
        ({"model": ODEFS}, "model must be an estimator of odefs"),
        ({"encoder": "auto"}, "encoder must be an estimator of odefs"),
        ({"model": LeSiNN(), "n_jobs": 2}, "n_jobs cannot be combined with model"),
        ({"model": LeSiNN(), "random_state": 5}, "random_state cannot be combined with model"),
        ({"model": LeSiNN(), "random_state": None}, "random_state cannot be combined with model"),
    ],
)
def test_other_things_than_estimators_are_refused(unfitted, options, words):
    with pytest.raises(TableError, match=words):
        odefs.detect(X, **options)


@pytest.mark.parametrize("estimator", [ODEFS(), LeSiNN()])
def test_missing_cells_name_the_parameter(estimator):
    rows = X.copy()
    rows[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN") as caught:
        estimator.fit(rows)
    assert "missing='ignore'" in str(caught.value)


@pytest.mark.parametrize("fit", [ODEFS().fit, LeSiNN().fit, odefs.detect, odefs.TableEncoder().fit])
def test_equal_names_of_columns_are_named(fit):
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="wo columns are called 'a': rename one of them"):
        fit(pd.DataFrame(X, columns=["a", "a", "b"]))


@pytest.mark.parametrize("described", [ODEFS, LeSiNN, odefs.detect])
def test_the_meaning_of_no_number_of_jobs_is_documented(described):
    text = inspect.getdoc(described)
    assert "n_jobs" in text
    assert "whereas scikit-learn's" in " ".join(text.split())


@pytest.mark.parametrize(
    "options",
    [
        {"id": "customer"},
        {"id": "CUSTOMER"},
        {"by": "customer"},
        {"drop": ["Custommer"]},
        {"hide": ["customer"]},
    ],
)
def test_a_column_in_another_spelling_is_suggested(unfitted, options):
    frame = pl.DataFrame({"Customer": range(100), "p": X[:, 0], "q": X[:, 1]})
    with pytest.raises(TableError, match=r"no column .*did you mean 'Customer'\?.* p, q"):
        odefs.detect(frame, **options)


def test_messages_in_python_name_arguments():
    with pytest.raises(NoColumnsError) as caught:
        odefs.detect(pl.DataFrame({"a": [1] * 50, "b": ["x"] * 50}))
    assert "keep=[" in str(caught.value)
    few = odefs.detect(X[:12])
    assert few.convention.kind == "too_few_rows"
    codes = pl.DataFrame({"p": [*X[:95, 0].round(1), *[-999.0] * 5], "q": X[:, 1]})
    mixed = pl.DataFrame({"p": [*map(str, range(70)), *["word"] * 30], "q": X[:, 1]})
    found = [few, odefs.detect(codes), odefs.detect(mixed)]
    shown = [text for one in found for text in (str(one), one._repr_html_(), one.report().json())]
    shown += [str(note) for one in found for note in one.notes]
    assert {note.kind for one in found for note in one.notes} >= {"missing_code", "mixed_cells"}
    assert not [text for text in shown if " --" in text or "(--" in text]
    assert any("flag=" in text for text in shown)
    assert any("na=[" in text for text in shown)
    assert any("number=[" in text for text in shown)


@pytest.mark.parametrize("given", [{}, {"n_estimators": 8}])
def test_a_given_model_takes_the_parameters_that_encoded_rows_need(given):
    """The encoder has scaled the columns: scaled again, their weights would be lost."""
    frame = pl.DataFrame({"size": [*range(98), 500, None], "kind": ["a", "b"] * 49 + ["a", "c"]})
    model = ODEFS(missing="ignore", random_state=0, **given)
    found = odefs.detect(frame, model=model)
    assert model.scaling == "robust", "the given model is unchanged"
    assert found.model.scaling == "none"
    if not given:
        np.testing.assert_array_equal(found.scores, odefs.detect(frame, random_state=0).scores)
    own = odefs.detect(frame, model=ODEFS(scaling="minmax", random_state=0)).model
    assert own.scaling == "minmax"
    grouped = odefs.detect(frame, model=LeSiNN(random_state=0), by="kind").model
    assert grouped.scaling == "none"
