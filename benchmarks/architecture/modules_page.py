"""Write ``docs/explanation/modules.md``: every module in one sentence, from its docstring.

``python -m benchmarks.architecture.modules_page``
"""

import ast
import re
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
SOURCES = HERE / "src" / "odefs"
PAGE = HERE / "docs" / "explanation" / "modules.md"

OPENING = """# Modules

Every module in one sentence, the first of its docstring. The [architecture](architecture.md) page
says how they work together. `python -m benchmarks.architecture.modules_page` writes this page.
"""
ROLE = re.compile(r":[a-z]+:`~?([^`]+)`")


def page() -> str:
    """Return the text of the page."""
    return "\n".join([OPENING, *map(_section, _packages())])


def _packages() -> list[Path]:
    folders = {path.parent for path in SOURCES.rglob("*.py")}
    return sorted(folders, key=lambda folder: folder.relative_to(SOURCES).parts)


def _section(folder: Path) -> str:
    name = folder.relative_to(SOURCES.parent).as_posix()
    modules = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
    package = _first_paragraph(folder / "__init__.py")
    lines = [f"- `{path.stem}`: {_first_paragraph(path)}" for path in modules]
    return "\n".join([f"## `{name}`\n", package, "", *lines, ""])


def _first_paragraph(path: Path) -> str:
    """Return the first paragraph of a module's docstring as Markdown on one line."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(docstring.split("\n\n")[0].split())
    return ROLE.sub(r"`\1`", paragraph.replace("``", "`"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
