"""Warnings attributed to the line that called the library, however deep inside it they arise.

Python then shows each of them once per calling line.
"""

import os
import sys
import warnings
from pathlib import Path

from odefs.exceptions import ODEFSWarning

PACKAGE = str(Path(__file__).parent)


def warn(message: str, category: type[ODEFSWarning] = ODEFSWarning) -> None:
    """Warn whoever called the library, directly or through scikit-learn."""
    known = getattr(sys.modules.get("sklearn"), "__file__", None)
    between = tuple(
        folder + os.sep for folder in (PACKAGE, *([os.path.dirname(known)] if known else []))
    )
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(between):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
