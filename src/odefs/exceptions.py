"""Exceptions and warnings of the library, and the record of a fallback.

Every fallback (too few candidates, fewer rows than a reference subset, a solver that stopped early)
is warned about once per fit and recorded in ``fit_info_["fallbacks"]``, so users can filter, count
or escalate it.
"""

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
