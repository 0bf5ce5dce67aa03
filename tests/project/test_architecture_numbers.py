"""The counters of ``python -m benchmarks.architecture``, on a small package with known numbers."""

import ast
from textwrap import dedent

import pytest
from benchmarks.architecture.__main__ import count
from benchmarks.architecture.sources import complexity

FILES = {
    "__init__.py": '''
        """The package."""
        ''',
    "sizes.py": '''
        """What a size is,

        in three lines.
        """

        # One comment line.
        LIMIT = 3  # and one behind code
        """How many."""


        def size(x: "Any", *rest: dict[str, Any], **named: typing.Any) -> list[Any]:
            text: Any = """not a
            docstring"""
            return text
        ''',
    "first.py": "from odefs.rooms.second import f\n",
    "rooms/__init__.py": "",
    "rooms/second.py": "from ..rooms import third\n\ndef f(): ...\n",
    "rooms/third.py": "import odefs.first\n",
    "rooms/apart.py": """
        from importlib import import_module
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from odefs.rooms import partner


        def late(name):
            import odefs.rooms.partner

            def later():
                from odefs import sizes

            import_module("odefs.first").f(1)
            return import_module(f"odefs.rooms.{name}"), import_module("json")
        """,
    "rooms/partner.py": "import odefs.rooms.apart\n",
    "long.py": f"a = '{'x' * 95}'\nb = '{'x' * 94}'\nc = '{'x' * 115}'\n",
    "branches.py": "def most(x):\n"
    + 10 * "    if x: x = 1\n"
    + "\n\ndef fewer(x):\n"
    + 9 * "    if x: x = 1\n",
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    checkout = tmp_path_factory.mktemp("checkout")
    for name, text in FILES.items():
        path = checkout / "src" / "odefs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    (checkout / "src" / "odefs" / "kernel.c").write_text("int x;\nint y;\n")
    return count(checkout)


def test_style(tables):
    assert {name: row[0] for name, row in tables["Style"].items() if name} == {
        "`Any` in signatures": 4,
        "functions of complexity above 10": 1,
        "lines over 100 columns": 2,
        "lines over 120 columns": 1,
        "imports inside functions": 2,
        "modules imported by a string": 2,
        "import cycles at module level": 1,
        "comment lines per code line": f"{1 / tables['Packages']['total'][2]:.3f}",
    }


def test_sizes_by_package(tables):
    packages = tables["Packages"]
    assert packages[""] == [
        "files",
        "lines",
        "code",
        "docstrings",
        "comments",
        "functions",
        "statements",
    ]
    assert list(packages) == ["", "rooms", "root", "total", "C sources"]
    assert [packages[name][0] for name in ("rooms", "root", "total")] == [5, 5, 10]
    assert packages["total"] == [
        a + b for a, b in zip(packages["rooms"], packages["root"], strict=True)
    ]
    # Of sizes.py: four lines of the module and one of LIMIT; of __init__.py one.
    # Statements: 4 of sizes.py, 1 of first.py, 3 of long.py, 2 + 2 * 19 of branches.py.
    assert packages["root"][3:] == [6, 1, 3, 4 + 1 + 3 + 2 + 2 * 19]
    assert packages["C sources"][:2] == [1, 2]


def test_lengths(tables):
    assert tables["Lengths"]["lines of a function"] == [4, 11, 11]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("pass", 1),
        ("if a: pass\nelif b: pass\nelse: pass", 3),
        ("return a and b and c or d", 4),
        ("return [x for x in a if x if b for y in x]", 5),
        ("return a if b else lambda: b if c else d", 3),
        ("for x in a: pass\nelse: pass", 3),
        ("while a: pass", 2),
        ("try: pass\nexcept A: pass\nexcept B: pass\nelse:\n a\n b\nfinally: pass", 4),
        ("assert a and b", 2),
        ("with a: pass", 1),
        ("match a:\n case 1: pass\n case 2: pass\n case _: pass", 3),
        ("def inner():\n  if a: pass\nclass Inner:\n  x = a or b", 1),
    ],
)
def test_complexity_is_that_of_radon(body, expected):
    source = "def f():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    assert complexity(ast.parse(source).body[0]) == expected
