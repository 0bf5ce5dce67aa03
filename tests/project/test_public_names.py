"""Public names of ``odefs`` are complete: types that public functions return are public too."""

import inspect
import typing

import pytest

import odefs
import odefs.detectors

INTERNAL = {
    "TableEncoder.learn_columns",
    "TableEncoder.learn_groups",
    "TableEncoder.recognised",
}
"""Methods for other modules of the library."""

PUBLIC = {id(getattr(odefs, name)) for name in odefs.__all__} | {
    id(getattr(odefs.detectors, n)) for n in odefs.detectors.__all__
}


def functions():
    """Public functions, and the public methods of public classes."""
    for name in odefs.__all__:
        found = getattr(odefs, name)
        if inspect.isfunction(found):
            yield name, found
        elif inspect.isclass(found):
            for method, _ in inspect.getmembers(found, callable):
                holder = inspect.getattr_static(found, method)
                function = getattr(holder, "__func__", holder)
                if (
                    not method.startswith("_")
                    and f"{name}.{method}" not in INTERNAL
                    and inspect.isfunction(function)
                ):
                    yield f"{name}.{method}", inspect.unwrap(function)


def types_in(annotation):
    if inspect.isclass(annotation):
        yield annotation
    for part in typing.get_args(annotation):
        yield from types_in(part)


@pytest.mark.parametrize(
    ("name", "function"), [pytest.param(*pair, id=pair[0]) for pair in functions()]
)
def test_returned_types_are_public(name, function):
    returned = function.__annotations__.get("return")
    if isinstance(returned, str):  # imported by type checkers only
        returned = getattr(odefs, returned, None)
    for kind in types_in(returned):
        assert not kind.__module__.startswith("odefs.") or id(kind) in PUBLIC, (
            f"{name} returns {kind}"
        )


@pytest.mark.parametrize("holder", [odefs.Detection, odefs.Explanation, odefs.TopExplanation])
def test_reasons_have_one_shape(holder):
    signature = inspect.signature(holder.reasons)
    assert list(signature.parameters) == ["self", "rows", "k"]
    assert signature.return_annotation == list[list[odefs.Reason]]
