"""Metrics of source files: lines, complexity, ``Any`` in signatures, imports and their cycles."""

import ast
import re
import tokenize
from collections.abc import Sequence
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

SIZES = ["files", "lines", "code", "docstrings", "comments", "functions", "statements"]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
DECISIONS = {
    **dict.fromkeys((ast.Assert, ast.If, ast.IfExp), lambda node: 1),
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), lambda node: 1 + bool(node.orelse)),
    ast.Try: lambda node: len(node.handlers) + bool(node.orelse),
    ast.BoolOp: lambda node: len(node.values) - 1,
    ast.comprehension: lambda node: 1 + len(node.ifs),
    ast.Match: lambda node: (
        len(node.cases) - any(getattr(case.pattern, "pattern", 0) is None for case in node.cases)
    ),
}


class Source(NamedTuple):
    name: str
    package: str
    sizes: list[int]
    style: dict[str, int]
    function_lines: list[int]
    imported: set[str]  # at module level, and not for types only


def read_source(path: Path, root: Path) -> Source:
    lines = path.read_text(encoding="utf-8").splitlines()
    nodes = list(ast.walk(ast.parse("\n".join(lines))))
    functions = [node for node in nodes if isinstance(node, FUNCTIONS)]
    # A string on its own documents its scope or, below an assignment, the name above it.
    texts = [
        node
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", 0), str)
    ]
    docstrings = {line for text in texts for line in range(text.lineno, text.end_lineno + 1)}
    code, comments = set(), set()
    for token in tokenize.generate_tokens(iter([f"{line}\n" for line in lines]).__next__):
        if token.type not in LAYOUT:
            kind = comments if token.type == tokenize.COMMENT else code
            kind.update(range(token.start[0], token.end[0] + 1))
    sizes = [
        1,
        len(lines),
        len(code - docstrings),
        len(docstrings),
        len(comments - code),
        len(functions),
        # Unlike lines, they do not depend on where lines are broken.
        sum(isinstance(node, ast.stmt) for node in nodes) - len(texts),
    ]
    called = [node for node in nodes if isinstance(node, ast.Call) and node.args]
    calls = [f"{ast.unparse(node.func)}({ast.unparse(node.args[0])}" for node in called]
    by_string = re.compile(rf"([\w.]+\.)?(import_module|__import__)\(f?['\"]{root.name}\b[^()]*")
    local = {
        node for function in functions for node in ast.walk(function) if isinstance(node, IMPORTS)
    }
    style = {
        "`Any` in signatures": sum(map(_n_any, functions)),
        "functions of complexity above 10": sum(
            complexity(function) > 10 for function in functions
        ),
        "lines over 100 columns": sum(len(line) > 100 for line in lines),
        "lines over 120 columns": sum(len(line) > 120 for line in lines),
        "imports inside functions": len(local),
        "modules imported by a string": sum(bool(by_string.fullmatch(call)) for call in calls),
    }
    name = ".".join(path.relative_to(root.parent).with_suffix("").parts)
    guards = [
        node
        for node in nodes
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    ]
    typing = {node for guard in guards for node in ast.walk(guard)}
    top = [node for node in nodes if isinstance(node, IMPORTS) and node not in local | typing]
    imported = {target for node in top for target in _targets(node, name.rpartition(".")[0])}
    package = (*name.split(".")[1:-1], "root")[0]
    lengths = [function.end_lineno - function.lineno + 1 for function in functions]
    return Source(name.removesuffix(".__init__"), package, sizes, style, lengths, imported)


def n_cycles(sources: Sequence[Source]) -> int:
    """Groups of modules that import one another at module level: strongly connected components."""
    index = {source.name: place for place, source in enumerate(sources)}
    edges = np.zeros((len(index), len(index)), dtype=bool)
    for source in sources:
        for name in source.imported:
            while (
                name and name not in index
            ):  # a.b.f is a function of a.b; other packages end as ""
                name = name.rpartition(".")[0]
            if name:
                edges[index[source.name], index[name]] = True
    return int((np.bincount(connected_components(edges, connection="strong")[1]) > 1).sum())


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Decisions plus one, counted as by radon: without inner functions and assertions."""
    total, left = 1, [*function.body]
    while left:
        node = left.pop()
        total += DECISIONS.get(type(node), lambda node: 0)(node)
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Assert)):
            left += ast.iter_child_nodes(node)
    return total


def _n_any(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    annotated = [node.annotation for node in ast.walk(function.args) if isinstance(node, ast.arg)]
    return sum(
        len(re.findall(r"\bAny\b", ast.unparse(node)))
        for node in [function.returns, *annotated]
        if node
    )


def _targets(node: ast.Import | ast.ImportFrom, package: str) -> list[str]:
    start = (
        resolve_name("." * node.level + (node.module or ""), package) + "."
        if hasattr(node, "level")
        else ""
    )
    return [start + alias.name for alias in node.names]
