"""Reasons why a row is outlying, in terms of the user's columns.

A reason gives the value, its position in the column, and the usual values of similar normal rows.
Rows are explained in blocks, and within a block column by column.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from odefs.inspection.explanation import Reason, top_columns
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.text_formats import unit_of
from odefs.tables.frames.columns import Columns
from odefs.tables.reasons.similar_rows import SimilarRows, Usual
from odefs.tables.reasons.training_rows import TrainingRows
from odefs.tables.reasons.value_positions import GroupPeers, PeersByGroup, Position, ValuePositions

MIN_SHARE_OF_LARGEST = 0.15
"""A column is named if its excess is at least this share of the top-ranked column's."""

MIN_SHARE_LOOKED_UP = 0.03
"""The same for columns whose values are looked up for importances, which takes a sort of each."""

SPARE = 3
"""Further columns that are considered where the first ones have common values."""

ROWS_PER_BLOCK = 4096
CELLS_PER_BLOCK = 2**23
"""Blocks of wide tables have fewer rows, so that all their cells take up little memory."""

NeedsUsual = Callable[[str, Any], bool]
"""Whether usual values are needed, given the kind of the column and the cell."""


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Columns that may be named, row by row, top-ranked first: one entry for each in all lists."""

    at: np.ndarray
    """Place of the row in its block."""
    columns: np.ndarray
    """Number of the input column."""
    values: np.ndarray
    excess: np.ndarray
    """Contribution, and how far it exceeds the usual one."""

    def take(self, some: np.ndarray) -> "_Candidates":
        return _Candidates(self.at[some], self.columns[some], self.values[some], self.excess[some])

    def by_column(self, some: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield each column with the places of its candidates among ``some``."""
        ordered = some[np.argsort(self.columns[some], kind="stable")]
        ends = np.flatnonzero(np.diff(self.columns[ordered])) + 1
        for here in np.split(ordered, ends) if some.size else []:
            yield int(self.columns[here[0]]), here


class ReasonFinder:
    """Finds reasons for rows under one model, relative to reference rows of a table.

    ``table`` and ``X`` are the reference rows, of which ``ordinary`` are not outliers. Cells have
    ``positions`` among them, or among all rows that they represent.
    """

    def __init__(
        self,
        model: Any,
        encoder: ColumnEncoder,
        table: Columns,
        X: np.ndarray,
        ordinary: np.ndarray,
        positions: ValuePositions | TrainingRows,
    ) -> None:
        self.model, self.encoder, self.table = model, encoder, table
        self._names = encoder.columns
        self._kinds = [spec.kind for spec in encoder.specs_]
        self._units = [unit_of(spec.style) for spec in encoder.specs_]
        self._X, self._ordinary = X, ordinary
        self._positions = positions
        is_whole = isinstance(positions, ValuePositions) and positions.n_rows == table.n_rows
        self._peers = PeersByGroup(encoder, table, is_whole)

    @classmethod
    def of_training(cls, model: Any, encoder: ColumnEncoder, training: TrainingRows) -> Self:
        """Compares rows with the training rows, of which the model file holds a sample."""
        sample = training.sample
        X = encoder.encode_table(sample) if sample.n_rows else np.empty((0, 0))
        return cls(model, encoder, sample, X, np.ones(sample.n_rows, dtype=bool), training)

    @cached_property
    def _similar(self) -> SimilarRows:
        return SimilarRows(self.encoder, self.table, self._X, self._ordinary)

    def reasons(
        self,
        table: Columns,
        X: np.ndarray,
        scores: np.ndarray,
        rows: Sequence[int] | np.ndarray,
        k: int = 3,
        needs_usual: NeedsUsual | None = None,
    ) -> list[list[Reason]]:
        """Return at most ``k`` reasons for each of ``rows`` of any table, top-ranked first.

        Finding usual values takes most of the time. With ``needs_usual``, reasons for which it
        returns False lack them unless they are those of a group.
        """
        wanted = np.asarray(rows, dtype=np.intp)
        height = max(1, min(ROWS_PER_BLOCK, CELLS_PER_BLOCK // max(1, X.shape[1])))
        found: list[list[Reason]] = []
        for start in range(0, wanted.size, height):
            some = wanted[start : start + height]
            found += self._of_block(table, X[some], scores[some], some, k, needs_usual)
        return found

    def _of_block(
        self,
        table: Columns,
        X: np.ndarray,
        scores: np.ndarray,
        rows: np.ndarray,
        k: int,
        needs_usual: NeedsUsual | None,
    ) -> list[list[Reason]]:
        """Reasons for ``rows`` of a table; ``X`` and ``scores`` are theirs alone."""
        peers = self._peers.of_rows(table, rows)
        candidates = self._candidates(X, k)
        cells, positions = self._positions_of(candidates, table, rows, peers)
        kept = _unusual(candidates.at, np.array([not one.is_common for one in positions]), k)
        cells, positions = ([found[i] for i in kept.tolist()] for found in (cells, positions))
        candidates = candidates.take(kept)
        usual = self._usual_of(candidates, X, cells, peers, needs_usual)
        found: list[list[Reason]] = [[] for _ in rows]
        totals = scores.astype(np.float64).tolist()
        for at, index, value, excess, cell, position, what in zip(
            candidates.at.tolist(),
            candidates.columns.tolist(),
            candidates.values.tolist(),
            candidates.excess.tolist(),
            cells,
            positions,
            usual,
            strict=True,
        ):
            group = peers[at]
            reason = Reason(
                self._names[index],
                cell,
                contribution=value,
                excess=excess,
                kind=self._kinds[index],
                share=value / totals[at] if totals[at] > 0 else 0.0,
                percentile=position.percentile,
                frequency=position.frequency,
                usual=what,
                equal=position.equal,
                group=None if group is None else group.group,
                of_training=isinstance(self._positions, TrainingRows),
                unit=self._units[index] or table[self._names[index]].unit,
                alone=group is not None and group.is_alone,
            )
            found[at].append(reason)
        return found

    def _candidates(
        self, X: np.ndarray, k: int, least: float = MIN_SHARE_OF_LARGEST
    ) -> _Candidates:
        """Columns whose contribution to the score of a row exceeds the usual one by far."""
        explanation = self.model.explain(X)
        values = self.encoder.by_column(np.asarray(explanation))
        excess = values - self.encoder.by_column(explanation.baseline)
        order = top_columns(excess, k + SPARE)
        ranked = np.take_along_axis(excess, order, axis=1)
        at, place = np.nonzero((ranked > 0) & (ranked >= least * ranked[:, :1]))
        columns = order[at, place]
        return _Candidates(at, columns, values[at, columns], ranked[at, place])

    def too_common(self, table: Columns, X: np.ndarray, rows: np.ndarray, k: int) -> np.ndarray:
        """Which columns are no reason for ``rows`` because many other rows have the value, too.

        A mask of rows and input columns, for the ``k`` reasons of each row; ``X`` are the encoded
        rows. Columns with a small excess count as rare: their values are not looked up.
        """
        found = self._candidates(X, len(self._names), MIN_SHARE_LOOKED_UP)
        _, positions = self._positions_of(found, table, rows, self._peers.of_rows(table, rows))
        common = np.array([one.is_common for one in positions], dtype=bool)
        places = _places(found.at)
        largest = found.excess[np.arange(found.at.size) - places]
        considered = (places < k + SPARE) & (found.excess >= MIN_SHARE_OF_LARGEST * largest)
        has_rare = np.zeros(rows.size, dtype=bool)
        has_rare[found.at[~common & considered]] = True
        mask = np.zeros((rows.size, len(self._names)), dtype=bool)
        mask[found.at, found.columns] = common & has_rare[found.at]
        return mask

    def _positions_of(
        self,
        candidates: _Candidates,
        table: Columns,
        rows: np.ndarray,
        peers: Sequence[GroupPeers | None],
    ) -> tuple[list[Any], list[Position]]:
        """The cells of all candidates, and where they lie in their columns or groups."""
        n = candidates.at.size
        cells: list[Any] = [None] * n
        positions: list[Any] = [None] * n
        has_groups = any(group is not None for group in peers)
        # Column by column: a sort and several searches for every single reason took two thirds of
        # the time of a score file.
        for index, here in candidates.by_column(np.arange(n)):
            name, at = self._names[index], candidates.at[here]
            own = table[name].cells(rows[at])
            among = self._positions.positions(name, own)
            if has_groups:
                groups = [peers[row] for row in at.tolist()]
                among = [
                    position
                    if group is None or group.is_alone
                    else group.position(self.table[name], cell)
                    for group, cell, position in zip(groups, own, among, strict=True)
                ]
            for i, cell, position in zip(here.tolist(), own, among, strict=True):
                cells[i], positions[i] = cell, position
        return cells, positions

    def _usual_of(
        self,
        candidates: _Candidates,
        X: np.ndarray,
        cells: Sequence[Any],
        peers: Sequence[GroupPeers | None],
        needs_usual: NeedsUsual | None,
    ) -> list[Usual]:
        """Usual values of the group or of similar rows, where they are needed."""
        usual: list[Usual] = [None] * len(cells)
        others = []
        pairs = zip(candidates.at.tolist(), candidates.columns.tolist(), cells, strict=True)
        for i, (at, index, cell) in enumerate(pairs):
            group = peers[at]
            if group is not None:
                usual[i] = group.usual(self.encoder.specs_[index])
            elif needs_usual is None or needs_usual(self._kinds[index], cell):
                others.append(i)
        # A score file shows usual values only of times, so most rows are not compared at all.
        if others and self.table.n_rows:
            compared = self._similar.compare(X)
            for index, here in candidates.by_column(np.array(others)):
                found = compared.usual(index, candidates.at[here])
                for i, what in zip(here.tolist(), found, strict=True):
                    usual[i] = what
        return usual


def _unusual(at: np.ndarray, rare: np.ndarray, k: int) -> np.ndarray:
    """Return the first ``k`` candidates of each row with a rare value; all count if none is rare.

    ``at`` are the rows of the candidates in ascending order.
    """
    if not at.size:
        return at
    has_rare = np.zeros(at[-1] + 1, dtype=bool)
    has_rare[at[rare]] = True
    kept = np.flatnonzero(rare | ~has_rare[at])
    return kept[_places(at[kept]) < k]


def _places(at: np.ndarray) -> np.ndarray:
    """Places of candidates among those of their row; ``at`` are the rows in ascending order."""
    return np.arange(at.size) - np.searchsorted(at, at)
