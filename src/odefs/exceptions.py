"""The warning class of the project with the record of what it warns about, and its errors.

Every fallback (too few candidates, fewer rows than a reference subset, a solver that stopped early)
is warned about once per fit and stands in ``fit_info_["fallbacks"]``, so users can filter, count or
escalate it.
"""

from typing import NamedTuple


class ODEFSWarning(UserWarning):
    """A fit went through, but not the way the parameters asked for."""


class Fallback(NamedTuple):
    """A fallback that was taken: a stable keyword and a sentence for people."""

    kind: str
    message: str


class ClusterError(RuntimeError):
    """A cluster could not finish the work: its scheduler was lost, or no worker could hold its
    part; the message names the remedy.
    """


class ModelFileError(ValueError):
    """A file that is no model, or none that this version can load; the message is one sentence."""


class TableError(ValueError):
    """The table cannot be used; the message is one sentence for the user."""
