"""What the page shows of a row: reasons, values among those of their columns, all other cells."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from odefs.report.columns import collect_distributions, collect_importances, collect_values
from odefs.report.page_data import cells_data, column_data
from odefs.report.rows import cell, collect_rows
from odefs.tables import messages
from odefs.tables.frames.convert import column_cells
from odefs.tables.messages.reasons import RowRecord
from odefs.tables.messages.review import row_score
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import RowTexts, plain_cell
from odefs.tables.table import Table

SHOWN_COLUMNS = 40
SHOWN_OTHERS = 60
"""Most columns of each kind that are shown of a row."""


class RowViews:
    """Views of the rows of a detection, made when they are needed.

    ``kept_back`` are columns that would give the answer away, such as labels.
    """

    def __init__(self, found: TableDetection, table: Table, kept_back: Sequence[str] = ()) -> None:
        self.found, self.table = found, table
        self._kept_back = {*kept_back, *found.hidden}
        self._names = RowTexts(found)
        self.identifier = self._names.identifier
        self._distributions: dict[str, dict[str, Any]] = {}

    def title(self, row: int) -> str:
        """The row as sentences name it: ``row 17``, or the id column and the id."""
        return messages.without_controls(messages.row_title(self.identifier, self.name(row)))

    def name(self, row: int) -> str:
        """Its id or number alone."""
        return messages.without_controls(str(cell(self._names[row])))

    def why(self, row: int) -> str:
        """The reasons of a row in a few words, for the file of answers."""
        reasons = self._record(row)["reasons"]
        return messages.without_controls("; ".join(messages.short_reasons(reasons)))

    def view(self, row: int, score: float) -> dict[str, object]:
        """The row for the page; ``score`` is its present score."""
        record = self._record(row)
        reasons = record["reasons"]
        because = [reason["column"] for reason in reasons]
        names = self._shown(because)
        columns = [self._distribution(name) for name in names]
        (cells,) = collect_values(self.found, names, [row]) if names else ([],)
        return {
            "row": row,
            "title": self.title(row),
            "score": row_score(score, record["score"], record["rank"], self.found.n_rows),
            "reasons": [messages.sentence(reason) for reason in reasons],
            "because": because,
            "columns": [column_data(column) for column in columns],
            "others": self._others(row),
        } | cells_data(columns, cells)

    def _record(self, row: int) -> RowRecord:
        return collect_rows(self.found, self.found.extent, [[row]], self._names)[0]

    def _shown(self, because: Sequence[str]) -> list[str]:
        """Columns of the reasons, then the most important ones."""
        named = [name for name in because if name not in self.found.hidden]
        return list(dict.fromkeys([*named, *self._by_importance]))[:SHOWN_COLUMNS]

    @cached_property
    def _by_importance(self) -> list[str]:
        records = collect_importances(self.found)
        return [record["column"] for record in records if not record["hidden"]]

    def _distribution(self, name: str) -> dict[str, object]:
        # Most columns are the same from row to row, and each is counted on up to 20,000 rows.
        if name not in self._distributions:
            (found,) = collect_distributions(self.found, self.found.extent, [name])
            self._distributions[name] = found
        return self._distributions[name]

    def _others(self, row: int) -> list[list[str]]:
        """Names and cells of the columns that the model does not use."""
        used = {*self.found.encoder.columns, *self._kept_back}
        # The title of the row has the id already.
        if self.found.named:
            used.add(self.found.identifier)
        names = [name for name in self.table.names if name not in used][:SHOWN_OTHERS]
        if not names:
            return []
        frame = self.table.take(np.array([row]), names)
        cells = [cell(plain_cell(column_cells(frame, name)[0])) for name in names]
        texts = ["" if one is None else str(one) for one in cells]
        return [list(pair) for pair in zip(names, texts, strict=True)]
