"""Warnings about the values of another table: unseen categories and groups, infinite numbers."""

import numpy as np

from odefs.exceptions import warn
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.groups import unknown_note
from odefs.tables.frames.columns import Columns
from odefs.tables.messages import infinite_column, unseen_categories


def warn_of_values(encoder: ColumnEncoder, table: Columns) -> None:
    """Warn about columns with values that the encoder cannot use, or mostly does not know.

    ``table`` is what :meth:`ColumnEncoder.recognised` returned. Of categories and groups most must
    be unknown: the column is then probably a different one, or has changed its type.
    """
    if not table.n_rows:
        return
    if encoder.groups_ is not None and table.groups is not None:
        unknown = int((table.groups == encoder.groups_.unknown).sum())
        if unknown > table.n_rows / 2:
            warn(str(unknown_note(encoder.groups_, unknown)[0]))
    for spec, column in zip(encoder.specs_, table, strict=True):
        if column.n_infinite:
            warn(infinite_column(spec.name))
        if spec.kind == "category" and not spec.grouped:
            # The last entry is that of missing cells, whose code is -1.
            known = [*(level in spec.levels for level in column.levels), True]
            strange = float(1 - np.array(known)[column.category_codes].mean())
            if strange > 0.5:
                warn(unseen_categories(spec.name, strange))
