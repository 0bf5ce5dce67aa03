"""The in-memory engine: threads over row blocks of a dense or CSR table on one machine.

Each block is cast, scaled and scored in cache by one thread with single-threaded BLAS and written
to its own place, so the number of threads changes only the time. Duplicate rows are scored once: a
row's score depends only on the row.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from odefs.detectors.base import Detector
from odefs.engines.row_blocks import is_sparse, working_dtype
from odefs.ensemble.engine import Engine, KnownRawScores, KnownTotals
from odefs.ensemble.model import (
    Component,
    Model,
    RowScores,
    add_block,
    from_rows,
    n_outputs,
    raw_scores,
)
from odefs.kernels.chunking import block_rows, kernel_rows, row_blocks, scratch
from odefs.kernels.duplicate_rows import (
    Distinct,
    equal_bytes,
    group_hashes,
    repeats_likely,
    row_hashes,
)
from odefs.scaling import (
    ColumnMoments,
    ColumnRanges,
    Scaling,
    column_moments,
    column_ranges,
    merged,
)
from odefs.system.threads import available_threads, run_tasks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FEW_ROWS = 256
"""Fewer rows are scored directly: searching for duplicates would take as long."""


MIN_KNOWN_SHARE = 1 / 16
"""Share of the rows from which known scores are worth leaving these rows out."""


class InMemoryEngine(Engine):
    """A table in memory."""

    def __init__(self, X: "np.ndarray | csr_array", n_jobs: int | None = None) -> None:
        self.X: Any = X  # slices of both kinds are used alike
        self.is_sparse = is_sparse(X)
        self.n_rows, self.n_columns = X.shape
        self.dtype = working_dtype(X.dtype)
        self.n_threads = available_threads(n_jobs)

    @property
    def held_rows(self) -> int | None:
        return None

    def prefetch(self, what: str, rows: np.ndarray) -> None:
        """Nothing to do: all rows are in memory."""

    def rows(self, rows: slice | np.ndarray) -> np.ndarray:
        """The given rows as they are, dense."""
        part = self.X[rows]
        # The last bits of sums depend on the memory order; a fixed order gives equal tables equal
        # results.
        return np.asarray(part.toarray() if self.is_sparse else part, dtype=self.dtype, order="C")

    def ranges(self) -> ColumnRanges:
        height = block_rows(16 * self.n_columns)
        # Integers can be compared without a cast, and are a fraction of the size.
        as_they_are = not self.is_sparse and self.X.dtype.kind in "bui"
        read = self._slice if as_they_are else self.rows
        return merged(
            self.map(lambda rows: column_ranges(read(rows)), list(row_blocks(self.n_rows, height)))
        )

    def _slice(self, rows: slice) -> np.ndarray:
        return np.asarray(self.X[rows])

    def moments(self, scaling: Scaling) -> ColumnMoments:
        parts: dict[int, ColumnMoments] = {}

        def measure(rows: slice, X: np.ndarray) -> None:
            parts[rows.start] = column_moments(X)

        # calls_blas stays true: the height of blocks then does not depend on the number of threads,
        # and neither do the last bits of the merged moments.
        self.sweep(measure, scaling, self.dtype, 40 * self.n_columns)
        # Threads finish in any order; merging must not.
        return merged([parts[start] for start in sorted(parts)])

    def raw_scores(
        self, scaling: Scaling, detector: Detector, components: Sequence[Component]
    ) -> np.ndarray:
        return self.complete_scores(scaling, detector, components, None)

    def complete_scores(
        self,
        scaling: Scaling,
        detector: Detector,
        components: Sequence[Component],
        known: KnownRawScores | None,
    ) -> np.ndarray:
        places = self._places()
        out = np.empty((len(components), self.n_rows if places is None else places.first.size))
        # Numbers of known rows are those of the table, not those of the distinct rows.
        if places is not None or (known and known.rows.size < MIN_KNOWN_SHARE * self.n_rows):
            known = None

        def score(rows: slice, X: np.ndarray) -> None:
            score_block(rows, X, detector, components, known, out[:, rows])

        only = None if places is None else places.first
        self.sweep(
            score,
            scaling,
            self.dtype,
            detector.bytes_per_row(self.n_columns),
            only,
            call_blas(detector, components),
        )
        return out if places is None else out[:, places.copy_of]

    def sample_scores(
        self,
        scaling: Scaling,
        detector: Detector,
        components: Sequence[Component],
        rows: np.ndarray,
    ) -> np.ndarray:
        out = np.empty((len(components), rows.size))

        def score(part: slice, X: np.ndarray) -> None:
            for i, component in enumerate(components):
                out[i, part] = raw_scores(component, detector, X)

        self.sweep(
            score,
            scaling,
            self.dtype,
            detector.bytes_per_row(self.n_columns),
            rows,
            call_blas(detector, components),
        )
        return out

    def per_row(self, dtype: npt.DTypeLike = np.float64) -> np.ndarray:
        return np.zeros(self.n_rows, dtype=dtype)

    def judged(self, model: Model, known: KnownTotals | None = None) -> RowScores:
        places = self._places()
        out = np.zeros((n_outputs(model), self.n_rows if places is None else places.first.size))

        def score(rows: slice, X: np.ndarray) -> None:
            add_block(model, X, from_rows(out[:, rows]))

        bytes_per_row = model.detector.bytes_per_row(self.n_columns)
        calls_blas = call_blas(model.detector, model.scoring)
        only = None if places is None else places.first
        self.sweep(score, model.scaling, model.dtype, bytes_per_row, only, calls_blas)
        return from_rows(out if places is None else out[:, places.copy_of])

    def sweep(
        self,
        task: Callable[[slice, np.ndarray], None],
        scaling: Scaling,
        dtype: np.dtype,
        bytes_per_row: int,
        only: np.ndarray | None = None,
        calls_blas: bool = True,
    ) -> None:
        """Call ``task`` with each block's place and its scaled rows, valid only during the call.

        With row numbers in ``only``, places are positions in ``only``.
        """

        def scale_and_run(rows: slice) -> None:
            part = self.rows(rows if only is None else only[rows])
            task(rows, scaling.apply(part, scratch("scaled", part.shape, dtype)))

        n_rows = self.n_rows if only is None else only.size
        height = (
            block_rows(bytes_per_row)
            if calls_blas
            else kernel_rows(bytes_per_row, n_rows, self.n_threads)
        )
        blocks = list(row_blocks(n_rows, height))
        run_tasks(scale_and_run, blocks, self.n_threads, calls_blas)

    def _places(self) -> Distinct | None:
        """Groups of duplicate rows, if the table is large enough and has enough of them."""
        return self._distinct if self.n_rows >= FEW_ROWS else None

    @cached_property
    def _distinct(self) -> Distinct | None:
        # Bytes are compared, which CSR rows do not have in one piece.
        if self.is_sparse or not repeats_likely(lambda rows: self.X[rows], self.n_rows):
            return None
        blocks = list(row_blocks(self.n_rows, block_rows(32 * self.n_columns)))
        groups = group_hashes(
            np.concatenate(self.map(lambda rows: row_hashes(self.X[rows]), blocks))
        )
        if groups is None:
            return None

        def holds(rows: slice) -> bool:
            return equal_bytes(self.X[rows], self.X[groups.first[groups.copy_of[rows]]])

        # Two different rows with one hash are possible: then every row is scored.
        return groups if all(self.map(holds, blocks)) else None


def score_block(
    rows: slice,
    X: np.ndarray,
    detector: Detector,
    components: Sequence[Component],
    known: KnownRawScores | None,
    out: np.ndarray,
) -> None:
    """Write raw scores of a scaled block, a line for each component; ``rows`` is its place."""
    partly = []
    for component, line in zip(components, out, strict=True):
        scores = None if known is None else known.raw(component)
        if scores is None:
            line[:] = raw_scores(component, detector, X)
        else:
            partly.append((component, line, scores))
    if known is None or not partly:
        return
    found, places, others = known.split(rows.start, rows.stop)
    # Once for all components, since they know the scores of the same rows.
    X = X[others]
    for component, line, scores in partly:
        line[found] = scores[places]
        if others.size:
            line[others] = raw_scores(component, detector, X)


def call_blas(detector: Detector, components: Sequence[Component]) -> bool:
    """Whether any of the components may call BLAS to score."""
    # Companions do not matter: coupling looks values up and relations use einsum. The widest
    # component decides, since the kernel is chosen by the number of columns.
    return detector.calls_blas(max((component.columns.size for component in components), default=0))
