"""Parameters are declared once: signature, table of constraints and documentation agree."""

import inspect
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone

from odefs import ODEFS, FeatureSelection, LeSiNN, ODEFSSelector
from odefs.baselines import CINFO, DisFS, RandFS, RegFS
from odefs.models.constraints import Choice, Either, Integer, Number

CLASSES = [ODEFS, FeatureSelection, LeSiNN, ODEFSSelector, CINFO, DisFS, RandFS, RegFS]


def documented(cls):
    """Types of the documented parameters; competitors refer to those of ODEFS by name."""
    section = inspect.getdoc(cls).split("Parameters\n----------\n")[1].split("\n\n")[0]
    found = {}
    for line in section.splitlines():
        if not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            found |= dict.fromkeys(names.rstrip(",").split(", "), kind)
    return found


def test_booleans_of_numpy_are_booleans(noisy):
    selection = FeatureSelection(standardize_scores=np.True_, self_paced=np.False_)
    model = ODEFS(n_estimators=2, selection=selection, random_state=0).fit(noisy)
    plain = FeatureSelection(standardize_scores=True, self_paced=False)
    other = ODEFS(n_estimators=2, selection=plain, random_state=0).fit(noisy)
    assert np.array_equal(model.outlier_scores_, other.outlier_scores_)


def test_parameters_of_a_number_are_refused():
    with pytest.raises(ValueError, match="l1="):
        FeatureSelection().set_params(l1__foo=1)


def choices(constraint):
    if isinstance(constraint, Either):
        return choices(constraint.first) + choices(constraint.second)
    return list(constraint.values) if isinstance(constraint, Choice) else []


@pytest.mark.parametrize("cls", CLASSES)
def test_table_signature_and_documentation_have_the_same_parameters(cls):
    parameters = inspect.signature(cls).parameters
    assert set(cls._constraints) == set(parameters) == set(documented(cls))
    assert [name for name, p in parameters.items() if p.kind is not p.KEYWORD_ONLY] in (
        [],
        ["estimator"],
    )


@pytest.mark.parametrize("cls", CLASSES)
def test_defaults_are_allowed_and_documented(cls):
    kinds, text = documented(cls), inspect.getdoc(cls)
    for name, parameter in inspect.signature(cls).parameters.items():
        constraint, default = cls._constraints[name], parameter.default
        assert constraint.allows(default)
        if kinds[name]:
            said = re.search(r"default=(.*)$", kinds[name]).group(1)
            assert said.strip('"') == str(default) or float(said) == default
            written = [repr(choice).replace("'", '"') for choice in choices(constraint)]
            assert all(choice in text or choice in ("True", "False") for choice in written)


@pytest.mark.parametrize(
    ("cls", "given", "meant"),
    [
        (ODEFS, "n_estimator", "n_estimators"),
        (LeSiNN, "subsetsize", "subset_size"),
        (FeatureSelection, "l11", "l1"),
        (ODEFS, "quite_different", None),
    ],
)
def test_a_misspelled_parameter_names_the_class_and_the_one_that_was_meant(cls, given, meant):
    with pytest.raises(TypeError) as caught:
        cls(**{given: 3})
    message = str(caught.value)
    assert message.startswith(f"{cls.__name__}() got an unexpected keyword argument {given!r}.")
    assert (f"Did you mean {meant!r}?" in message) == (meant is not None)
    assert all(name in message for name in inspect.signature(cls).parameters)


def test_misspelled_nested_parameters_name_the_one_that_was_meant():
    with pytest.raises(ValueError, match=r"FeatureSelection .*'l11'.* mean 'l1'\?"):
        ODEFS().set_params(selection__l11=3)


def test_the_surface_stays_small():
    assert len(inspect.signature(ODEFS).parameters) <= 15
    for cls in (ODEFS, LeSiNN, FeatureSelection):
        with pytest.raises(TypeError, match=rf"^{cls.__name__}\(\) .* positional .* 100") as caught:
            cls(100)
        assert all(name in str(caught.value) for name in inspect.signature(cls).parameters)


@pytest.mark.parametrize(
    ("constraint", "allowed", "refused", "text"),
    [
        (
            Choice("a", True),
            ["a", np.str_("a"), True],
            ["b", 1, None, np.zeros(2)],
            "one of 'a', True",
        ),
        (Integer(1), [1, np.int64(7)], [0, True, 1.0, "1", None], "a whole number of at least 1"),
        (
            Number(0, 1, open_low=True),
            [1, 0.5, np.float32(0.5)],
            [0, 1.1, True, np.nan, np.inf, "1", 10**400],
            "a number in (0, 1]",
        ),
        (Number(0), [0, 1e300], [-1, np.inf, np.nan, 10**400], "a number in [0, inf)"),
        (Choice(None) | Integer(), [None, -3], ["x", 0.5], "None or a whole number"),
    ],
    ids=str,
)
def test_constraints(constraint, allowed, refused, text):
    assert all(constraint.allows(value) for value in allowed)
    assert not any(constraint.allows(value) for value in refused)
    assert str(constraint) == text
    assert type(Integer().convert(np.int64(3))) is int


@pytest.mark.parametrize(
    "model", [ODEFS(), ODEFS(selection=FeatureSelection(tol=1e-5)), ODEFS.paper()]
)
def test_settings_of_the_selection_are_reached_by_name(model):
    before = model.get_params()
    changed = clone(model).set_params(selection__l1=0.5, trust=0.5)
    assert changed.get_params() | {"selection": None} == before | {
        "selection": None,
        "selection__l1": 0.5,
        "trust": 0.5,
    }
    assert model.get_params() == before, "a copy has settings of its own"
    assert (
        pickle.loads(pickle.dumps(changed)).get_params()
        == clone(changed).get_params()
        == changed.get_params()
    )
    assert changed.set_params(selection=None, selection__l1=2.0).selection == FeatureSelection(
        l1=2.0
    )
    with pytest.raises(ValueError, match="'l7'"):
        model.set_params(selection__l7=1)


def test_paper_sets_both():
    model = ODEFS.paper(n_estimators=3, selection__l1=0.5)
    assert (model.scaling, model.n_estimators, model.selection.l1, model.selection.n_rounds) == (
        "minmax",
        3,
        0.5,
        1,
    )
    assert ODEFS.paper(selection=None).selection is None


def test_flags_do_not_depend_on_the_threshold_of_the_candidates(noisy):
    """Nor does agreement: both have a rule of their own."""
    model = ODEFS(trust=0.0, random_state=0).fit(noisy)
    other = ODEFS(
        trust=0.0, random_state=0, selection=FeatureSelection(candidate_threshold=0.0)
    ).fit(noisy)
    assert model.candidate_indices_.size < other.candidate_indices_.size
    assert np.array_equal(model.outlier_scores_, other.outlier_scores_)
    assert model.offset_ == other.offset_
    assert np.array_equal(model.agreement_, other.agreement_)


@pytest.mark.parametrize("wrong", ["l1", 3, FeatureSelection])
def test_a_selection_of_another_type_is_refused(wrong, noisy):
    with pytest.raises(ValueError, match=r"selection=.*FeatureSelection"):
        ODEFS(selection=wrong).fit(noisy)


def test_competitors_name_a_wrong_parameter(noisy):
    cases = [
        (CINFO, {"max_candidates": 1}),
        (DisFS, {"share": 0}),
        (RandFS, {"combination": "mean"}),
        (RegFS, {"groups": "all"}),
    ]
    for cls, parameters in cases:
        with pytest.raises(ValueError, match=f"^{next(iter(parameters))}="):
            cls(**parameters).fit(noisy)
