"""Find outliers in wide, noisy tables, and say which columns gave them away.

Names are loaded when first used, so that ``import odefs`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from odefs.estimators import ODEFS as ODEFS
    from odefs.estimators import LeSiNN as LeSiNN
    from odefs.estimators import load as load
    from odefs.exceptions import ModelFileError as ModelFileError
    from odefs.exceptions import ODEFSWarning as ODEFSWarning
    from odefs.versions import show_versions as show_versions

_HOMES = {
    "ODEFS": "odefs.estimators",
    "LeSiNN": "odefs.estimators",
    "ModelFileError": "odefs.exceptions",
    "ODEFSWarning": "odefs.exceptions",
    "load": "odefs.estimators",
    "show_versions": "odefs.versions",
}

__all__ = ["ODEFS", "LeSiNN", "ModelFileError", "ODEFSWarning", "__version__", "load", "show_versions"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'odefs' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
