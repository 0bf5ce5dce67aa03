"""Packages that only some of the work needs: where one is missing, a sentence says which, and how
to install it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

PACKAGES: dict[str, dict[str, str]] = {
    "cli": dict.fromkeys(("click", "rich", "polars", "pyarrow", "fastexcel", "xlsxwriter"), ""),
    "report": dict.fromkeys(("jinja2", "markupsafe"), ""),
    "gpu": {"torch": "PyTorch"},
    "dask": dict.fromkeys(("dask", "distributed", "pyarrow"), ""),
    "stream": {"pyarrow": ""},
    "pyod": {"pyod": "PyOD"},
    "onnx": {"onnx": ""},
    "shap": {"shap": "SHAP"},
    "plots": {"matplotlib": ""},
}
"""What each extra brings, by the names to import; and how a package is called where that is another
name.
"""


def command(extra: str) -> str:
    """How to install an extra."""
    return f"pip install 'odefs[{extra}]'"


@contextmanager
def needed_by(what: str, extra: str, instead: str = "") -> Iterator[None]:
    """Around imports: a missing package of the extra is named with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = _package(error)
        if package not in PACKAGES[extra]:
            raise
        name = PACKAGES[extra][package] or package
        raise ModuleNotFoundError(
            f"{what} needs {name}, which is not installed: {command(extra)}{instead}.", name=package
        ) from None


def sentence(error: ModuleNotFoundError) -> str | None:
    """What to install, for whoever sees no more than the error; ``None`` where the package is none
    of an extra's.
    """
    if "pip install" in str(error):
        return str(error)
    package = _package(error)
    extra = next((extra for extra, packages in PACKAGES.items() if package in packages), None)
    return extra and f"this needs {package}, which is not installed: {command(extra)}"


def _package(error: ModuleNotFoundError) -> str:
    return (error.name or "").split(".")[0]
