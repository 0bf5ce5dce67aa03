"""Exceptions and warnings of the library, and the record of a fallback.

Every fallback (too few candidates, fewer rows than a reference subset, a solver that stopped early)
is recorded in ``fit_info_["fallbacks"]`` and warned about once per fit if it affects the scores, so
users can filter, count or escalate it.
"""

import os
import sys
import warnings
from pathlib import Path
from typing import NamedTuple


class ODEFSWarning(UserWarning):
    """A fit succeeded, but not exactly as the parameters requested."""


class UnreadableColumnWarning(ODEFSWarning):
    """Most cells of a column in a batch do not match its type in training and count as missing."""


class Fallback(NamedTuple):
    """A fallback taken by a fit: a stable keyword and a message for users."""

    kind: str
    message: str


class ClusterError(RuntimeError):
    """A cluster could not finish the work; the message names the remedy.

    Its scheduler was lost, or no worker could hold its part.
    """


class ModelFileError(ValueError):
    """A file is not a model, or not one that this version can load; the message is one sentence."""


class TableError(ValueError):
    """The table cannot be used; the message is one sentence for the user."""


PACKAGE = str(Path(__file__).parent)


def warn(message: str, category: type[ODEFSWarning] = ODEFSWarning) -> None:
    """Warn at the line that called the library, directly or through scikit-learn.

    Python then shows each warning once per calling line.
    """
    known = getattr(sys.modules.get("sklearn"), "__file__", None)
    between = tuple(
        folder + os.sep for folder in (PACKAGE, *([os.path.dirname(known)] if known else []))
    )
    # The first frame outside of odefs and scikit-learn, whose wrappers call fit.
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(between):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
