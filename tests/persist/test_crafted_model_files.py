"""Hostile model files: damage is detected, and crafted files are rejected or work."""

import copy
import struct
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import odefs
from fuzz.model_bytes import assembled, places
from fuzz.model_bytes import take_apart as parts
from locations import GOLDEN, TESTS
from odefs import ModelFileError

FILES = {path.stem: path.read_bytes() for path in sorted(GOLDEN.glob("v1-*.odefs"))}
ROWS = np.random.default_rng(0).normal(size=(20, 5)) * 3
SETTINGS = settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)


def refused_or_works(path, content):
    """Load the file; where that succeeds, use the model in every way. Returns the refusal."""
    path.write_bytes(content)
    model, refusal = None, ""
    try:
        model = odefs.load(path)
    except ModelFileError as error:
        refusal = str(error)
    if model is None:
        assert refusal
        assert "\n" not in refusal
        assert len(refusal) < 1000
        return refusal
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        X = ROWS[:, : model.n_features_in_]
        if X.shape[1] == model.n_features_in_:
            assert model.outlier_scores(X).shape == (20,)
            model.predict(X)
            model.explain(X)
            model.explain(X, top=2).reasons(0)
    repr(model)
    return None


def test_taken_apart_and_put_together_it_is_the_same(tmp_path):
    for content in FILES.values():
        assert refused_or_works(tmp_path / "m", assembled(*parts(content))) is None


@SETTINGS
@given(name=st.sampled_from(sorted(FILES)), data=st.data())
def test_no_flipped_bit_goes_unnoticed(name, data, tmp_path):
    content = bytearray(FILES[name])
    for bit in data.draw(st.sets(st.integers(0, 8 * len(content) - 1), min_size=1, max_size=3)):
        content[bit // 8] ^= 1 << bit % 8
    assert refused_or_works(tmp_path / "m", bytes(content)) is not None


@pytest.mark.parametrize("name", FILES)
def test_no_flipped_byte_of_the_preamble_goes_unnoticed(name, tmp_path):
    for place in range(64):
        content = bytearray(FILES[name])
        content[place] ^= 0xFF
        assert refused_or_works(tmp_path / "m", bytes(content)) is not None


@SETTINGS
@given(name=st.sampled_from(sorted(FILES)), data=st.data())
def test_no_cut_goes_unnoticed(name, data, tmp_path):
    content = FILES[name]
    start = data.draw(st.integers(0, len(content) - 1))
    stop = data.draw(st.integers(start + 1, len(content)))
    assert refused_or_works(tmp_path / "m", content[:start] + content[stop:]) is not None


@SETTINGS
@given(content=st.binary(max_size=300))
def test_arbitrary_bytes_are_refused(content, tmp_path):
    assert refused_or_works(tmp_path / "m", content) is not None
    assert refused_or_works(tmp_path / "m", FILES["v1-bare"][:8] + content) is not None


odd = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(
        [0, -1, 1, 2, 3, 2**31, 2**63, 2**64, 10**30, -(2**63), 10**400, 1e308, -1e-300, 0.5]
    ),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [
            "",
            "lesinn",
            "iforest",
            "tails",
            "float32",
            "float64",
            "int64",
            "uint8",
            "bool",
            "object",
            "ODEFS",
        ]
    ),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.lists(st.integers(-1, 2**62), max_size=4),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def change(header, path, action, replacement):
    at = header
    for key in path[:-1]:
        at = at[key]
    if action == "delete":
        del at[path[-1]]
    elif action == "duplicate" and isinstance(at, list):
        at.insert(path[-1], copy.deepcopy(at[path[-1]]))
    elif action == "nudge" and type(at[path[-1]]) in (int, float):
        at[path[-1]] += replacement if type(replacement) is int and abs(replacement) < 2**62 else 1
    else:
        at[path[-1]] = replacement


@pytest.mark.slow
@settings(SETTINGS, max_examples=1000)
@given(name=st.sampled_from(sorted(FILES)), data=st.data())
def test_mutated_headers_with_a_valid_checksum(name, data, tmp_path):
    header, rest = parts(FILES[name])
    for _ in range(data.draw(st.integers(1, 2))):
        all_places = [path for path in places(header) if path]
        path = all_places[data.draw(st.integers(0, len(all_places) - 1))]
        action = data.draw(st.sampled_from(["replace", "delete", "duplicate", "nudge"]))
        change(header, path, action, data.draw(odd))
    refused_or_works(tmp_path / "m", assembled(header, rest))


@pytest.mark.slow
@settings(SETTINGS, max_examples=300)
@given(name=st.sampled_from(sorted(FILES)), data=st.data())
def test_mutated_arrays_with_a_valid_checksum(name, data, tmp_path):
    header, rest = parts(FILES[name])
    rest = bytearray(rest)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(rest) // 8 - 1)) * 8
        value = data.draw(
            st.one_of(
                st.sampled_from([float("nan"), float("inf"), -1.0, 0.0, 1e308, -1e308]).map(
                    lambda x: struct.pack("<d", x)
                ),
                st.sampled_from([-1, 2**31, 2**63 - 1, 7]).map(lambda x: struct.pack("<q", x)),
                st.binary(min_size=8, max_size=8),
            )
        )
        rest[place : place + 8] = value
    refused_or_works(tmp_path / "m", assembled(header, bytes(rest)))


@settings(SETTINGS, max_examples=300)
@given(name=st.sampled_from(sorted(FILES)), data=st.data())
def test_other_shapes_and_types_of_arrays(name, data, tmp_path):
    header, rest = parts(FILES[name])
    entry = header["arrays"][data.draw(st.integers(0, len(header["arrays"]) - 1))]
    lengths = st.one_of(
        st.integers(0, 9), st.sampled_from([2**16, 2**31, 2**32, 2**62, 2**63, 2**64])
    )
    entry["shape"] = data.draw(
        st.one_of(st.permutations(entry["shape"]), st.lists(lengths, max_size=40))
    )
    entry["dtype"] = data.draw(
        st.sampled_from([entry["dtype"], "float32", "int8", "bool", "float16", "uint64", "object"])
    )
    if data.draw(st.booleans()):
        entry["order"] = "F"
    refused_or_works(tmp_path / "m", assembled(header, rest))


def with_array(entry):
    header, rest = parts(FILES["v1-bare"])
    header["arrays"].append(entry)
    return header, rest


@pytest.mark.parametrize(
    "shape",
    [
        [2**50],
        [2**40, 2**40],
        [2**62, 4],
        [2**32, 2**32],
        [0, 2**62],
        [10**30],
        [1] * 100,
        [2**30],
        [-1],
        [True],
        [1.0],
        "12",
    ],
)
def test_promises_beyond_the_file_cost_nothing(shape, tmp_path):
    content = assembled(*with_array({"name": "extra/huge", "dtype": "float64", "shape": shape}))
    (tmp_path / "m").write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            odefs.load(tmp_path / "m")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def changed(name, **values):
    """The file with some arrays replaced by others of the same size.

    Names as in the header, with two underscores for slashes.
    """
    header, rest = parts(FILES[name])
    rest, position = bytearray(rest), 0
    for entry in header["arrays"]:
        dtype = np.dtype(entry["dtype"])
        size = int(np.prod(entry["shape"])) * dtype.itemsize
        change_to = values.pop(entry["name"].replace("/", "__"), None)
        if change_to is not None:
            array = (
                np.frombuffer(bytes(rest[position : position + size]), dtype)
                .reshape(entry["shape"])
                .copy()
            )
            change_to(array)
            rest[position : position + size] = array.tobytes()
        position += -(-size // 64) * 64
    assert not values
    return assembled(header, bytes(rest))


def put(place, value):
    def act(array):
        array[place] = value

    return act


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (changed("v1-lesinn", components__0__columns=put(0, -1)), "columns do not exist"),
        (changed("v1-lesinn", components__0__columns=put(-1, 5)), "columns do not exist"),
        (changed("v1-lesinn", components__2__columns=put(1, 0)), "ascending"),
        (changed("v1-lesinn", components__0__state__rows=put(0, np.inf)), "outside the range"),
        (changed("v1-lesinn", components__normaliser=put(0, 0.0)), "not positive"),
        (changed("v1-lesinn", components__weight=put(0, np.nan)), "not finite"),
        (changed("v1-lesinn", scaling__width=put(0, 0.0)), "not positive"),
        (changed("v1-lesinn", scaling__low=put(0, np.nan)), "scaling is not finite"),
        (changed("v1-lesinn", baseline=put(0, np.nan)), "usual contributions"),
        (
            changed("v1-lesinn", learned__feature_importances_=put(0, np.inf)),
            "feature_importances_",
        ),
        (changed("v1-lesinn", learned__feature_weights___present=put(0, 0)), "feature_weights_"),
        (changed("v1-lesinn-weighted-missing", components__0__w=put(0, -1.0)), "feature weights"),
        (
            changed("v1-iforest", components__0__state__column=put((0, 0), 99)),
            "columns that do not exist",
        ),
        (
            changed("v1-iforest", components__0__state__column=put((0, 0), -1)),
            "columns that do not exist",
        ),
        (changed("v1-iforest", components__0__state__threshold=put((0, 0), np.nan)), "thresholds"),
        (
            changed("v1-iforest", components__0__state__path_credit=put((0, 0, 0), np.nan)),
            "credits",
        ),
        (changed("v1-tails", components__0__state__observed=put(0, 10**6)), "counts"),
        (changed("v1-tails", components__0__state__sorted_values=put((0, 0), 1e9)), "sorted"),
    ],
)
def test_arrays_that_would_lead_astray(content, sentence, tmp_path):
    assert sentence in (refused_or_works(tmp_path / "m", content) or "loaded")


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"[]", "not a JSON object"),
        (b'{"arrays": NaN}', "not valid JSON"),
        (b"[" * 200_000, "not valid JSON"),
        (b'{"a":' + b"[" * 900 + b"]" * 900 + b"}", "nested too deep"),
        (b'{"n": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"\xff": 1}', "not valid JSON"),
        (b"{}", "lists no arrays"),
        (b'{"arrays": [7]}', "not an object"),
        (b'{"arrays": []}', "lacks a valid 'kind'"),
        (b'{"arrays": [], "kind": "os.system", "format": 1}', "no estimator is called 'os.system'"),
        (
            b'{"arrays": [], "kind": "ODEFS", "format": 1, "n_features_in": 3}',
            "lacks a valid 'model'",
        ),
    ],
)
def test_headers_that_make_no_sense(header, sentence, tmp_path):
    assert sentence in (refused_or_works(tmp_path / "m", assembled(header, b"")) or "loaded")


def test_an_array_is_used_once_and_no_array_is_left_over(tmp_path):
    header, rest = parts(FILES["v1-bare"])
    header["arrays"].append(header["arrays"][0])
    assert "occurs twice" in refused_or_works(tmp_path / "m", assembled(header, rest + rest[:64]))
    header, rest = with_array({"name": "stowaway", "dtype": "int8", "shape": [0]})
    assert "'stowaway'" in refused_or_works(
        tmp_path / "m", assembled(header, rest + bytes(-len(rest) % 64))
    )


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("v1-lesinn", "n_subsets", 1),
        ("v1-lesinn", "subset_size", 1),
        ("v1-iforest", "n_trees", 1),
        ("v1-iforest", "subset_size", 1),
        ("v1-tails", "n_references", 1),
    ],
)
def test_settings_that_would_understate_the_memory_of_scoring(name, setting, value, tmp_path):
    header, rest = parts(FILES[name])
    header["model"]["detector"]["settings"][setting] = value
    assert "does not match its settings" in (
        refused_or_works(tmp_path / "m", assembled(header, rest)) or "loaded"
    )


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_jobs", 10**6),
        ("n_jobs", 0),
        ("missing", "nonsense"),
        ("nonsense", 1),
        ("trust", 9),
        ("verbose", -1),
    ],
)
def test_parameters_that_are_not_valid(parameter, value, tmp_path):
    header, rest = parts(FILES["v1-lesinn"])
    header["parameters"][parameter] = value
    assert parameter in refused_or_works(tmp_path / "m", assembled(header, rest))


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({"$selection": {"l1": -1}}, "l1=-1"),
        ({"$selection": {"l1": {"$selection": {}}}}, "l1="),
        ({"$selection": {"trust": 1}}, "FeatureSelection has no parameter 'trust'"),
        ({"$selection": 3}, "$selection"),
        ({"l1": 1}, "$detector"),
        (3, "selection=3"),
    ],
)
def test_a_selection_that_is_not_valid(selection, message, tmp_path):
    header, rest = parts(FILES["v1-lesinn"])
    header["parameters"]["selection"] = selection
    assert message in refused_or_works(tmp_path / "m", assembled(header, rest))


TABLE = (TESTS / "fuzz" / "corpus" / "models" / "table-marked.odefs").read_bytes()


def spec(kind, /, **values):
    """Changes the first column of a kind."""

    def act(encoder):
        next(one for one in encoder["specs"] if one["kind"] == kind).update(values)

    return act


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (spec("number", name=7), "lacks a valid 'name'"),
        (spec("number", name="nowhere"), "columns that its table does not have"),
        (spec("number", kind="colour"), "unknown kind"),
        (spec("number", style="ISO dates"), "unknown text format"),
        (spec("time", style="numbers (kg)"), "unknown text format"),
        (spec("number", style="numbers (k g)"), "unknown text format"),
        (spec("number", units=[0.0]), "cannot be encoded"),
        (spec("number", units=[10**400]), "are not numbers"),
        (spec("number", units=[]), "cannot be encoded"),
        (spec("number", by_hour=True), "cannot be encoded"),
        (spec("number", low=2.0, high=1.0), "range of its column"),
        (spec("number", fill=1e300), "range of its column"),
        (spec("boolean", fill=1.7e308), "range of its column"),
        (spec("boolean", fill=1.7e308, high=1.7e308), "not that of booleans"),
        (spec("number", fill="x"), "lacks a valid 'fill'"),
        (spec("time", units=[1.0, 1e-300]), "cannot be encoded"),
        (spec("boolean", units=[1.0, 1e30]), "cannot be encoded"),
        (spec("boolean", marks_missing=2), "not a boolean"),
        (spec("category", levels=[3]), "not unique texts"),
        (spec("category", levels=["a", "a"]), "not unique texts"),
        (spec("category", levels=[]), "cannot be encoded"),
        (spec("category", grouped=-1), "grouped = -1"),
        (spec("category", surprise=1), "unknown fields"),
        (lambda encoder: encoder["specs"].append(encoder["specs"][0]), "repeated"),
        (lambda encoder: encoder["specs"].clear(), "no columns"),
        (lambda encoder: encoder.update(columns=[1]), "not unique names"),
        (lambda encoder: encoder.update(left_out={"x": "empty"}), "has no reason"),
        (
            lambda encoder: encoder.update(left_out={"x": {"kind": "bad luck", "share": None}}),
            "unknown reason",
        ),
        (
            lambda encoder: encoder.update(left_out={"x": {"kind": ["empty"], "share": None}}),
            "has an unknown reason",
        ),
        (
            lambda encoder: encoder.update(left_out={"x": {"kind": "empty", "share": 2}}),
            "not a share",
        ),
        (lambda encoder: encoder["parameters"].update(na=[[]]), "words and numbers"),
        (lambda encoder: encoder["parameters"].update(drop="x"), "lacks a valid 'drop'"),
        (lambda encoder: encoder["parameters"].update(max_categories=1), "max_categories = 1"),
        (lambda encoder: encoder["parameters"].update(unknown=1), "does not know"),
        (lambda encoder: encoder["specs"].pop(), "encoded columns and"),
    ],
)
def test_encoders_that_could_not_encode(act, sentence, tmp_path):
    header, rest = parts(TABLE)
    act(header["extra"]["encoder"])
    assert sentence in (refused_or_works(tmp_path / "m", assembled(header, rest)) or "loaded")


@pytest.mark.parametrize(
    ("key", "value"),
    [("identifier", 1), ("hidden", [1]), ("flagged_share", "x"), ("source", []), ("run", None)],
)
def test_what_is_said_about_the_table_is_checked(key, value, tmp_path):
    header, rest = parts(TABLE)
    header["extra"][key] = value
    assert refused_or_works(tmp_path / "m", assembled(header, rest))


def test_many_categories_cost_no_time(tmp_path):
    """Two hundred thousand names in the header are compared in linear time."""
    header, rest = parts(TABLE)
    spec("category", levels=[str(i) for i in range(200_000)], units=[1.0] * 200_002)(
        header["extra"]["encoder"]
    )
    assert "encoded columns and" in refused_or_works(tmp_path / "m", assembled(header, rest))
