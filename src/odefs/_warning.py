"""Warnings that name the line of whoever called the library, however deep inside it they arise: Python shows one of them once for each line."""

import sys
import warnings
from pathlib import Path

from odefs.exceptions import ODEFSWarning

PACKAGE = str(Path(__file__).parent)


def warn(message: str) -> None:
    """Warn whoever called the library."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, ODEFSWarning, stacklevel=level)
