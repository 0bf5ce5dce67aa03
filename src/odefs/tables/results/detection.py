"""The result of a detection: scores of all rows, which of them are flagged, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from odefs._progress import report_progress, stage
from odefs._row_selection import read_rows
from odefs.ensemble.score_percentiles import percentiles
from odefs.inspection.conformal import Reference
from odefs.inspection.contributions import MOST_ROWS
from odefs.inspection.explanation import Explanation, Reason
from odefs.kernels.row_reductions import descending_ranks
from odefs.models.base import OutlierModel
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.error_messages import names_arguments
from odefs.tables.flagging import Flagging
from odefs.tables.frames.columns import Columns
from odefs.tables.reasons.contributions import explain_encoded
from odefs.tables.reasons.find import ReasonFinder
from odefs.tables.reasons.importances import shares_in_reasons
from odefs.tables.reasons.training_rows import TrainingRows
from odefs.tables.reasons.value_positions import ValuePositions
from odefs.tables.records.checks import ValueCheck
from odefs.tables.records.notes import Exclusion, FlagConvention, Note, Provenance
from odefs.tables.results.displayed_rows import (
    Extent,
    all_rows,
    reading_lines,
    row_labels,
    shown_names,
)
from odefs.tables.table import Table, duration_names

MAX_REASONS = 3
"""Most reasons of a row, wherever rows are listed."""
READING_LINES = 4
"""Most lines on columns left out, and most lines on notes, when a detection is printed."""


@dataclass(frozen=True, eq=False, repr=False)
class TableDetection:
    """Scores and flags of a table; :class:`odefs.Detection` documents the attributes."""

    model: OutlierModel
    encoder: ColumnEncoder
    table: Columns
    X: np.ndarray
    scores: np.ndarray
    flagging: Flagging
    identifier: str
    row_names: Sequence[object]
    left_out: dict[str, Exclusion]
    notes: list[Note]
    index: object = None
    hidden: frozenset[str] = frozenset()
    source: dict[str, object] = field(default_factory=dict)
    run: Provenance = field(default_factory=Provenance)
    named: bool = False
    """Whether ``identifier`` is a column of the table; otherwise the rows go by their numbers."""
    labels: dict[str, float] = field(default_factory=dict)
    """How well the scores agree with known labels, where there are any."""
    agreement: np.ndarray | None = None
    part: Extent | None = None
    """Where the table is larger than memory: which of its rows these are."""
    reference: Reference | None = None
    """Clean rows that p-values were computed against."""
    formats: Mapping[str, str] = field(default_factory=dict)
    """Formats of text in columns that had another type in training."""
    checks: list[ValueCheck] = field(default_factory=list)
    checked: bool = False
    """Whether the table was searched for values to check."""
    training: TrainingRows | None = None
    """For the rows of another table: those that the model was trained on."""
    origin: Table | None = None
    """The table that was read, for cells of columns that the model does not use."""

    def __repr__(self) -> str:
        used, rows = len(self.encoder.columns), self.n_rows
        left_out = f", {len(self.left_out)} left out" if self.left_out else ""
        counts = (
            f"{rows} {'row' if rows == 1 else 'rows'}, "
            f"{used} {'column' if used == 1 else 'columns'} used{left_out}, "
            f"{self.n_flagged} flagged"
        )
        return f"<{type(self).__name__}: {counts}>"

    @names_arguments
    def __str__(self) -> str:
        return "\n".join([repr(self), *reading_lines(self, first=0, most=READING_LINES)])

    @cached_property
    def extent(self) -> Extent:
        """All rows of the table, of which this may hold some only."""
        return all_rows(self) if self.part is None else self.part

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.extent.n_rows

    @property
    def n_flagged(self) -> int:
        """Flagged rows of the table."""
        return self.extent.n_flagged

    @property
    def is_outlier(self) -> np.ndarray:
        return self.flagging.is_outlier

    @property
    def threshold(self) -> float:
        return self.flagging.threshold

    @property
    def convention(self) -> FlagConvention:
        """The rule by which rows were flagged; ``str`` gives it in words."""
        return self.flagging.convention

    @property
    def has_answers(self) -> bool:
        """Whether answers or known cases have changed the scores, which then average 1 no more."""
        fitted = getattr(self.model, "_model", None)
        return getattr(fitted, "answers", None) is not None

    @cached_property
    def order(self) -> np.ndarray:
        """Row numbers, most outlying first; in the order of the table among equals."""
        return self.extent.order

    @cached_property
    def ranks(self) -> np.ndarray:
        """1 for the most outlying row; equal scores share the best rank."""
        if self.part is not None:
            return self.part.ranks(np.arange(self.scores.size))
        return descending_ranks(self.scores)

    @cached_property
    def percentiles(self) -> np.ndarray:
        """Positions of the scores among the training scores: 0 is the lowest, 100 the highest."""
        return percentiles(self.model.score_quantiles_, self.scores)

    @cached_property
    def importances(self) -> list[tuple[str, float]]:
        """Input columns with their share in what makes rows stand out, in descending order.

        This is the part of the scores of flagged rows that exceeds the usual contribution of a
        column, from which :meth:`reasons` are chosen; without flagged rows, the importances of the
        model.
        """
        shares = self.encoder.by_column(self.feature_shares)
        names = self.encoder.columns
        return [(names[k], float(shares[k])) for k in np.argsort(-shares, kind="stable")]

    @cached_property
    def feature_shares(self) -> np.ndarray:
        """The same for encoded columns."""
        self.require_importances()
        top = self.order[:MOST_ROWS]
        rows = np.asarray(top[self.is_outlier[top]], dtype=np.intp)
        shares = (
            shares_in_reasons(self.finder, self.table, self.X, rows, MAX_REASONS)
            if rows.size
            else None
        )
        model: Any = self.model
        return np.asarray(model.feature_importances_, dtype=float) if shares is None else shares

    @cached_property
    def noise(self) -> list[str]:
        """Input columns that look like pure noise and count a tenth."""
        return noise_names(self.model, self.encoder)

    @cached_property
    def finder(self) -> ReasonFinder:
        """Finds why rows stand out, compared with the training rows."""
        if self.training is not None:
            return ReasonFinder.of_training(self.model, self.encoder, self.training)
        ordinary = ~self.is_outlier & ~np.isnan(self.scores)
        table, X = self.table, self.X
        if self.part is not None:
            drawn = self.part.drawn
            table, X, ordinary = table.take(drawn), X[drawn], ordinary[drawn]
        positions = ValuePositions(table, self.n_rows)
        return ReasonFinder(self.model, self.encoder, table, X, ordinary, positions)

    def reasons(self, rows: object = None, k: int = MAX_REASONS) -> list[list[Reason]]:
        """Why rows stand out.

        Parameters
        ----------
        rows : int, str, or array-like of int, bool or str, optional
            Integers are always row numbers from 0 (negative ones are refused), booleans a mask with
            one value per row, such as :attr:`is_outlier`. Text names rows by the id column, or
            without one by the labels of a pandas index; a label of several rows is refused. A
            boolean Series of pandas must have the index of the frame or the default one. A frame of
            ``top`` or ``to_frame`` stands for its rows. By default the flagged rows, in the order
            of their scores.
        k : int
            The most reasons for a row.

        Returns
        -------
        list of list of Reason
            One list for each row, in the order in which rows were named; a list of one for a single
            row.
        """
        numbers = self.numbers(rows)
        with stage("explaining"):
            report_progress(0, 0)
            return self.finder.reasons(self.table, self.X, self.scores, numbers, k)

    def explain(self, rows: object = None) -> Explanation:
        """Contributions of the table's columns to the scores of rows.

        Hidden columns have contributions, but no values: their cells are ``(hidden)``.

        Parameters
        ----------
        rows : int, str, or array-like of int, bool or str, optional
            As in :meth:`reasons`; by default the flagged rows, in the order of their scores.
        """
        numbers = self.numbers(rows)
        if not numbers.size:
            raise ValueError(
                "there is no row to explain: no row is flagged, or none was named. "
                "explain(order[:3]) explains the three highest scores."
            )
        _, names = shown_names(self, first=0)
        own = [names[row] for row in numbers.tolist()]
        durations = () if self.origin is None else duration_names(self.origin)
        return explain_encoded(
            self.model, self.encoder, self.table, self.X, numbers, own, durations, self.hidden
        )

    def numbers(self, rows: object) -> np.ndarray:
        """Row numbers of what was named; by default those of flagged rows, by their scores."""
        if rows is None:
            return np.array([row for row in self.order if self.is_outlier[row]], dtype=np.intp)
        return read_rows(rows).numbers(self.scores.size, self._labels, self.index)

    @property
    def _labels(self) -> Sequence[object] | None:
        """Names by which rows can be selected; ``None`` if they have only numbers."""
        return row_labels(self.named, self.row_names, self.index)

    @property
    def has_importances(self) -> bool:
        """Whether the model knows how much columns matter, which a report needs."""
        return hasattr(self.model, "feature_importances_")

    def require_importances(self) -> None:
        if not self.has_importances:
            raise ValueError(
                f"{type(self.model).__name__} learns nothing about columns, so there are no "
                "importances and no report; reasons() says what gave rows away."
            )


def noise_names(model: OutlierModel, encoder: ColumnEncoder) -> list[str]:
    """Input columns that look like pure noise in all that was made of them."""
    sources = encoder.sources
    is_noise = np.zeros(sources.size, dtype=bool)
    is_noise[getattr(model, "noise_columns_", [])] = True
    only_noise = set(sources.tolist()) - set(sources[~is_noise].tolist())
    return [name for k, name in enumerate(encoder.columns) if k in only_noise]
