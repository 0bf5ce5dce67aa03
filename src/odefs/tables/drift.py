"""How another table differs from the one a model was trained on."""

from typing import Any, NamedTuple

import numpy as np

from odefs.tables.columns import Table
from odefs.tables.encoder import TableEncoder

NOTABLE = 0.05
"""A change of the share of missing cells that is worth a line."""


class ColumnDrift(NamedTuple):
    """One column: share of cells out of the training range, categories never seen (and the share of rows that have them), missing cells then and now."""

    column: str
    out_of_range: float
    unseen: list[str]
    unseen_share: float
    missing_before: float
    missing_now: float

    @property
    def is_notable(self) -> bool:
        return self.out_of_range > 0 or self.unseen_share > 0 or abs(self.missing_now - self.missing_before) > NOTABLE


def measure_drift(encoder: TableEncoder, table: Table) -> list[ColumnDrift]:
    """Every used column of ``table`` against what the encoder saw in training. Grouped rare categories count as seen: they are not kept by name."""
    found = []
    for spec, column in zip(encoder.specs_, table, strict=True):
        missing = float(column.missing.mean()) if len(column) else 0.0
        outside, unseen, unseen_share = 0.0, [], 0.0
        if spec.kind == "category":
            if not spec.grouped:
                known = set(spec.levels)
                codes = [i for i, level in enumerate(column.levels) if level not in known]
                hit = np.isin(column.category_codes, codes)
                unseen_share = float(hit.mean())
                unseen = [column.levels[i] for i in codes if (column.category_codes == i).any()]
        elif not column.missing.all():
            with np.errstate(invalid="ignore"):
                outside = float(((column.values < spec.low) | (column.values > spec.high)).mean())
        found.append(ColumnDrift(spec.name, outside, unseen, unseen_share, spec.missing_share, missing))
    return found


def as_plain(drift: list[ColumnDrift]) -> list[dict[str, Any]]:
    """For JSON."""
    return [entry._asdict() for entry in drift if entry.is_notable]
