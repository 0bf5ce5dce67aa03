"""The engine that runs the passes of a fit on partitions held by Dask workers.

Rows stay where they are. Workers receive the scaling, the small model and row numbers; they return
column statistics, the few rows that are drawn, and 8 bytes of scores per row and pass, which go to
a file. Every task is a function of a partition and of values that the scheduler holds. Workers with
enough memory keep partitions from one pass to the next, and the scheduler can read them again: a
worker that dies costs only the time of its tasks.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from odefs._progress import report_progress
from odefs.detectors.base import Detector
from odefs.engines.dask import tasks
from odefs.engines.dask.client import running_client
from odefs.engines.dask.partitions import Partitions, fits_into_workers, partitions
from odefs.engines.dask.waiting import connected, wait_for
from odefs.engines.out_of_core import HeldRows, OutOfCoreEngine
from odefs.ensemble.engine import KnownTotals
from odefs.ensemble.model import Component, Model, RowScores
from odefs.scaling import ColumnMoments, ColumnRanges, Scaling, merged

Value = TypeVar("Value")
Result = TypeVar("Result")

RETRIES = 3
"""Further attempts for a task whose worker died or whose file could not be read."""


class DaskEngine(OutOfCoreEngine):
    """A Dask array or data frame, or parquet files that all workers can read."""

    def __init__(self, X: object, n_jobs: int | None = None, missing: bool = False) -> None:
        self.client = running_client()
        table: Partitions = partitions(X)
        self.parts, self.names = table.parts, table.names
        self._is_kept = False
        super().__init__(table.n_columns, table.dtype, n_jobs, missing)
        self.n_rows = 0
        self._n_rows_known = table.n_rows
        self.starts = np.zeros(1, dtype=np.int64)

    def _keep(self, n_rows: int | None) -> None:
        """Let the workers keep the partitions from the next pass on, if they surely fit."""
        if self._is_kept or n_rows is None:
            return
        with connected(self.client):
            if fits_into_workers(self.client, n_rows * self.n_columns * self.dtype.itemsize):
                self.parts = self.client.persist(self.parts, retries=RETRIES)
                self._is_kept = True

    def ranges(self) -> ColumnRanges:
        # Not in the constructor: scoring makes a single pass and gains nothing from kept
        # partitions.
        self._keep(self._n_rows_known)
        found = list(self._results(tasks.measure, [()] * len(self.parts)))
        self.starts = np.cumsum([0, *(n_rows for n_rows, _ in found)])
        self.n_rows = int(self.starts[-1])
        # Collections of unknown length are counted by this pass, and kept from the next one on.
        self._keep(self.n_rows)
        known = [part for _, part in found if part is not None]
        if not known:
            raise ValueError("the partitions contain no rows: at least one row is needed.")
        return self.checked(merged(known))

    def prefetch(self, what: str, rows: np.ndarray) -> None:
        # The row sample is scored on the workers.
        if what != "row sample":
            super().prefetch(what, rows)

    def moments(self, scaling: Scaling) -> ColumnMoments:
        found = self._bring(tasks.moments, range(len(self.parts)), scaling)
        return merged(part for part in found if part is not None)

    def run_prefetch(self) -> None:
        # Only partitions that hold a wanted row are read.
        wanted = np.concatenate(list(self._foreseen.values()))
        touched = np.unique(np.searchsorted(self.starts, wanted, side="right") - 1)
        for _ in self._bring(tasks.nothing, touched.tolist(), None):
            pass

    def _bring(
        self, task: Callable[[np.ndarray, Value], Result], parts: Sequence[int], value: Value
    ) -> Iterator[Result]:
        """One pass over some partitions: the task's results, and the announced rows."""
        held = {
            what: HeldRows(numbers, self.room_for(numbers.size))
            for what, numbers in self._foreseen.items()
        }
        places = [
            {what: self._span(found.numbers, index) for what, found in held.items()}
            for index in parts
        ]
        arguments = [
            ({what: held[what].numbers[span] - self.starts[index] for what, span in spans.items()},)
            for index, spans in zip(parts, places, strict=True)
        ]
        results = self._results(tasks.with_rows, arguments, (value, task), parts)
        for spans, (result, rows) in zip(places, results, strict=True):
            for what, span in spans.items():
                held[what].rows[span] = rows[what]
            yield result
        self._held |= held
        self._foreseen.clear()

    def _span(self, numbers: np.ndarray, index: int) -> slice:
        """The part of the sorted row numbers that lies in a partition."""
        first, last = np.searchsorted(numbers, self.starts[index : index + 2])
        return slice(int(first), int(last))

    def raw_scores(
        self, scaling: Scaling, detector: Detector, components: Sequence[Component]
    ) -> np.ndarray:
        out = self.folder.array((len(components), self.n_rows), np.float64)
        shared = (scaling, detector, list(components))
        for index, scores in enumerate(
            self._results(tasks.raw_scores, [()] * len(self.parts), shared)
        ):
            out[:, self.starts[index] : self.starts[index + 1]] = scores
        return out

    def sample_scores(
        self,
        scaling: Scaling,
        detector: Detector,
        components: Sequence[Component],
        rows: np.ndarray,
    ) -> np.ndarray:
        spans = [self._span(rows, index) for index in range(len(self.parts))]
        numbers = [(rows[span] - self.starts[index],) for index, span in enumerate(spans)]
        found = self._results(tasks.sample_scores, numbers, (scaling, detector, list(components)))
        return np.concatenate(list(found), axis=1)

    def judged(self, model: Model, known: KnownTotals | None = None) -> RowScores:
        n_parts = len(self.parts)
        found: list[tuple[np.ndarray, np.ndarray] | None] = [None] * n_parts
        if known is not None:
            found = [
                known.within(self.starts[index], self.starts[index + 1]) for index in range(n_parts)
            ]
        places = [(None if part is None else part[0],) for part in found]

        def blocks() -> Iterator[np.ndarray]:
            scored = self._results(tasks.judged, places, (model, self.missing))
            for part, lines in zip(found, scored, strict=True):
                if part is not None:
                    lines[:, part[0]] = part[1]
                yield lines

        return RowScores(*self.folder.lines(blocks()))

    def _results(
        self,
        task: Callable[..., Any],
        arguments: Sequence[tuple[object, ...]],
        shared: object = None,
        parts: Sequence[int] | None = None,
    ) -> Iterator[Any]:
        """``task(rows, shared, *arguments)`` of all or the given partitions, in order.

        ``shared`` becomes a task, which the scheduler can run again; data scattered to workers
        would be lost with them. Older versions of Dask would call a tuple that begins with a
        function.
        """
        from dask.delayed import delayed

        everyone = delayed(shared, traverse=False)
        run = delayed(tasks.counted, pure=False, traverse=False)
        numbers = range(len(self.parts)) if parts is None else parts
        # Once the rows have been counted, every pass must find the same number.
        counts = np.diff(self.starts).tolist() if self.is_checked else [None] * len(self.parts)
        calls = [
            run(self.parts[index], everyone, task, counts[index], *own)
            for index, own in zip(numbers, arguments, strict=True)
        ]
        with connected(self.client):
            futures = self.client.compute(calls, retries=RETRIES)
        while futures:
            # Released one by one, so that workers can drop results that have arrived.
            future = futures.pop(0)
            yield wait_for(self.client, future)
            report_progress(len(calls) - len(futures), len(calls))
