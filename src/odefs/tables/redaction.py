"""Redaction: what may be shown of a detection with hidden columns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from odefs.inspection.reason import Reason
from odefs.tables.displayed_rows import extent_of
from odefs.tables.drift import ColumnDrift
from odefs.tables.notes import Note


class Hiding(Protocol):
    """The part of a detection that redaction needs."""

    @property
    def scores(self) -> np.ndarray: ...
    @property
    def is_outlier(self) -> np.ndarray: ...
    @property
    def identifier(self) -> str: ...
    @property
    def row_names(self) -> Sequence[Any]: ...
    @property
    def notes(self) -> Sequence[Note]: ...
    @property
    def hidden(self) -> frozenset[str]: ...


def shown_names(found: Hiding) -> tuple[str, Sequence[Any]]:
    """Return the identifying column and the row names; row numbers from 1 if it is hidden."""
    if found.identifier in found.hidden:
        return "row", (extent_of(found).numbers + 1).tolist()
    return found.identifier, found.row_names


def shown_notes(found: Hiding) -> list[Note]:
    """Return notes that do not concern hidden columns, because notes may quote cells."""
    return [note for note in found.notes if not note.names(found.hidden)]


def shown_drift(found: Hiding, drift: Sequence[ColumnDrift]) -> list[ColumnDrift]:
    """Return the drift from training; unseen categories of hidden columns are not named."""
    return [entry._replace(unseen=[]) if entry.column in found.hidden else entry for entry in drift]


def shown_reason(found: Hiding, reason: Reason) -> Reason:
    """Keep only name and weight of a hidden column: percentiles would reveal its values."""
    if reason.column not in found.hidden:
        return reason
    return replace(reason, value=None, usual=None, percentile=None, frequency=None, equal=None)
