"""The streaming engine for tables larger than memory: passes over blocks of rows.

The passes of a fit: ranges; moments, which also collect references and samples; with a given
``trust``, scores on all columns; for each round of learning, the rows that its components draw,
unless they are held already; final scores.

Blocks are re-cut to fixed heights at fixed places, so the original block sizes change no bit. The
next rows are read while threads process the current ones.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from odefs._progress import report_progress
from odefs.detectors.base import Detector
from odefs.engines.in_memory import call_blas
from odefs.engines.out_of_core import HeldRows, OutOfCoreEngine, fill_in_known, require_finite
from odefs.engines.row_blocks import RowBlocks, rechunk, working_dtype
from odefs.ensemble.engine import KnownTotals
from odefs.ensemble.model import Component, Model, RowScores, judged_block, raw_scores
from odefs.kernels.chunking import block_rows, kernel_rows, row_blocks, scratch
from odefs.scaling import (
    ColumnMoments,
    ColumnRanges,
    Scaling,
    column_moments,
    column_ranges,
    merged,
)
from odefs.system.threads import one_blas_thread, share_tasks, stoppable

__all__ = ["RowBlocks", "StreamEngine"]

Item = TypeVar("Item")
Result = TypeVar("Result")

SLAB_BYTES = 32 * 2**20
"""Memory for the rows being processed; as many again are being read."""


class StreamEngine(OutOfCoreEngine):
    """Rows that come in blocks, as often as needed."""

    def __init__(self, blocks: RowBlocks, n_jobs: int | None = None, missing: bool = False) -> None:
        super().__init__(blocks.n_columns, working_dtype(blocks.dtype), n_jobs, missing)
        self.blocks, self.names = blocks, blocks.names
        # Unknown until the first pass has counted them.
        self.n_rows = blocks.n_rows or 0

    def ranges(self) -> ColumnRanges:
        total: ColumnRanges | None = None
        n_rows = 0
        for rows, part in self._each_block(
            16 * self.n_columns, lambda rows, X: (rows, column_ranges(X))
        ):
            total, n_rows = part if total is None else total.merge(part), rows.stop
        if total is None:
            raise ValueError("the blocks contain no rows: at least one row is needed.")
        self.n_rows = n_rows
        return self.checked(total)

    def moments(self, scaling: Scaling) -> ColumnMoments:
        def measure(rows: slice, X: np.ndarray) -> ColumnMoments:
            return column_moments(scaling.apply(X, scratch("scaled", X.shape, self.dtype)))

        # The block height and the default of calls_blas are those of InMemoryEngine.moments: the
        # same blocks are merged in the same order, so that the bits are equal.
        return merged(self._each_block(40 * self.n_columns, measure))

    def run_prefetch(self) -> None:
        # Reading is all: slabs collect the announced rows on their way.
        for _ in self._slabs(block_rows(16 * self.n_columns)):
            pass

    def raw_scores(
        self, scaling: Scaling, detector: Detector, components: Sequence[Component]
    ) -> np.ndarray:
        out = self.folder.array((len(components), self.n_rows), np.float64)

        def score(rows: slice, block: np.ndarray) -> None:
            X = scaling.apply(block, scratch("scaled", block.shape, self.dtype))
            for i, component in enumerate(components):
                out[i, rows] = raw_scores(component, detector, X)

        bytes_per_row = detector.bytes_per_row(self.n_columns)
        for _ in self._each_block(bytes_per_row, score, call_blas(detector, components)):
            pass
        return out

    def judged(self, model: Model, known: KnownTotals | None = None) -> RowScores:
        return RowScores(*self.folder.lines(self.judged_blocks(model, known)))

    def judged_blocks(self, model: Model, known: KnownTotals | None = None) -> Iterator[np.ndarray]:
        """Combined scores and agreement as lines, block after block."""

        def score(rows: slice, block: np.ndarray) -> np.ndarray:
            if not self.is_checked:
                require_finite(block, self.missing)
            if known is None:
                return judged(block)
            return fill_in_known(judged, block, *known.within(rows.start, rows.stop))

        def judged(block: np.ndarray) -> np.ndarray:
            return judged_block(
                model, model.scaling.apply(block, scratch("scaled", block.shape, model.dtype))
            )

        bytes_per_row = model.detector.bytes_per_row(self.n_columns)
        return self._each_block(bytes_per_row, score, call_blas(model.detector, model.scoring))

    def _each_block(
        self,
        bytes_per_row: int,
        task: Callable[[slice, np.ndarray], Result],
        calls_blas: bool = True,
    ) -> Iterator[Result]:
        """``task`` of every block and its place, in order; threads share the blocks of a slab."""
        in_slab = SLAB_BYTES // (self.n_columns * self.dtype.itemsize)
        height = (
            block_rows(bytes_per_row)
            if calls_blas
            else kernel_rows(bytes_per_row, in_slab, self.n_threads)
        )
        for start, slab in self._slabs(height):
            # Defaults bind the values of this turn of the loop.
            def at(part: slice, start: int = start, slab: np.ndarray = slab) -> Result:
                return task(slice(start + part.start, start + part.stop), slab[part])

            # BLAS is released before results are handed out: the consumer may need it.
            with one_blas_thread():
                results = share_tasks(at, list(row_blocks(slab.shape[0], height)), self.n_threads)
            yield from results

    def _slabs(self, height: int) -> Iterator[tuple[int, np.ndarray]]:
        """One pass: the rows of many blocks at a time, with the number of the first.

        Announced rows are collected on the way.
        """
        wanted = {
            what: HeldRows(numbers, self.room_for(numbers.size))
            for what, numbers in self._foreseen.items()
        }
        n_bytes = self.n_columns * self.dtype.itemsize
        # A multiple of the block height, so that blocks begin at the same rows as in memory.
        n_rows = max(1, SLAB_BYTES // (n_bytes * height)) * height
        start = 0
        for slab in _read_ahead(rechunk(self.blocks, n_rows, self.n_columns, self.dtype)):
            stop = start + slab.shape[0]
            self._require_rows(stop, is_end=False)
            for held in wanted.values():
                first, last = np.searchsorted(held.numbers, (start, stop))
                held.rows[first:last] = slab[held.numbers[first:last] - start]
            yield start, slab
            start = stop
            report_progress(start, max(start, self.n_rows))
        self._require_rows(start, is_end=True)
        # Only after a complete pass: an interrupted one has left rows unread.
        self._held |= wanted
        self._foreseen.clear()

    def _require_rows(self, n_rows: int, is_end: bool) -> None:
        """Raise ``ValueError`` if a pass has more or fewer rows than the first or than expected.

        Otherwise drawn row numbers would refer to other rows, or to none.
        """
        expected = self.n_rows if self.is_checked else self.blocks.n_rows
        if expected is None or n_rows == expected or (n_rows < expected and not is_end):
            return
        read = f"{n_rows} rows were read" if is_end else f"at least {n_rows} rows were read"
        if not self.is_checked:
            raise ValueError(f"{read}, but {expected} were expected.")
        raise ValueError(
            f"{read} in a later pass, but {expected} in the first: every pass must return the same "
            "rows, so let read() start again at each call, and do not change files that are read."
        )


def _read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items; the next one is read while the current one is processed."""
    end: Any = object()
    with stoppable(ThreadPoolExecutor(1)) as reader:
        # A single reader: iterators must not be advanced by two threads.
        coming = reader.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = reader.submit(next, items, end)
            yield item
