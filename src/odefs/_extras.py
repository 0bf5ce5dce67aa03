"""Optional dependencies: errors for missing packages name the extra that installs them."""

from collections.abc import Iterator
from contextlib import contextmanager

PACKAGES: dict[str, dict[str, str]] = {
    "cli": dict.fromkeys(("click", "polars", "pyarrow", "fastexcel", "xlsxwriter"), ""),
    "report": dict.fromkeys(("jinja2", "markupsafe"), ""),
    "review": dict.fromkeys(("tornado", "jinja2", "markupsafe"), ""),
    "gpu": {"torch": "PyTorch"},
    "dask": dict.fromkeys(("dask", "distributed", "pyarrow"), ""),
    "stream": {"pyarrow": ""},
    "pyod": {"pyod": "PyOD"},
    "onnx": {"onnx": ""},
    "sql": {
        "adbc_driver_manager": "ADBC",
        "adbc_driver_postgresql": "ADBC's PostgreSQL driver",
        "duckdb": "DuckDB",
    },
    "shap": {"shap": "SHAP"},
    "plots": {"matplotlib": ""},
}
"""Packages of each extra by import name, with their display name if it differs."""


def command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'odefs[{extra}]'"


@contextmanager
def require_extra(what: str, extra: str, instead: str = "") -> Iterator[None]:
    """Wrap imports so that a missing package of the extra is reported with the command to install
    it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = _package(error)
        # A missing module of any other name is a fault of an installed package, which the extra
        # would not mend.
        if package not in PACKAGES[extra]:
            raise
        name = PACKAGES[extra][package] or package
        raise ModuleNotFoundError(
            f"{what} needs {name}, which is not installed: {command(extra)}{instead}.", name=package
        ) from None


def sentence(error: ModuleNotFoundError) -> str | None:
    """Return what to install for a missing package; ``None`` if it does not belong to an extra."""
    # An error of require_extra() names the command already.
    if "pip install" in str(error):
        return str(error)
    package = _package(error)
    extra = next((extra for extra, packages in PACKAGES.items() if package in packages), None)
    return extra and f"this needs {package}, which is not installed: {command(extra)}"


def _package(error: ModuleNotFoundError) -> str:
    return (error.name or "").split(".")[0]
