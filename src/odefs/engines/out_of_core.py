"""Base of the engines for rows that are not in memory.

Values per row go to files, and rows that are needed later are collected during a pass. The files
are in a temporary folder (``TMPDIR`` sets where), deleted with the last array in it.
"""

import errno
import os
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from odefs.detectors.base import Detector
from odefs.ensemble.engine import Engine
from odefs.ensemble.model import Component, raw_scores
from odefs.kernels.chunking import block_rows, row_blocks
from odefs.scaling import ColumnRanges, Scaling
from odefs.system.tempfiles import FileArray, folder_of
from odefs.system.threads import available_threads

IN_MEMORY = 32 * 2**20
"""Collected rows that take more than this are kept in a file."""

TRAINING_BYTES = 256 * 2**20
"""Memory for the rows of components that are trained between two passes."""


NOT_FINITE = "Input contains {}: every cell must be a finite number, or NaN with missing='ignore'."


def require_finite(X: np.ndarray, missing: bool) -> None:
    """Raise ``ValueError`` for cells that cannot be scored."""
    with np.errstate(over="ignore", invalid="ignore"):
        # One pass without a boolean array: the sum is not finite if any cell is not. Huge cells may
        # overflow it, and the cells themselves are looked at below.
        if np.isfinite(X.sum(dtype=np.float64)):
            return
    if np.isinf(X).any():
        raise ValueError(NOT_FINITE.format("infinity"))
    if not missing and np.isnan(X).any():
        raise ValueError(NOT_FINITE.format("NaN"))


def fill_in_known(
    score: Callable[[np.ndarray], np.ndarray],
    rows: np.ndarray,
    places: np.ndarray,
    lines: np.ndarray,
) -> np.ndarray:
    """Scores and agreement of some rows, of which those at ``places`` are known."""
    if not places.size:
        return score(rows)
    out = np.empty((len(lines), rows.shape[0]))
    out[:, places] = lines
    others = np.delete(np.arange(rows.shape[0]), places)
    if others.size:
        out[:, others] = score(rows[others])
    return out


class Folder:
    """A temporary folder for arrays.

    Each array keeps the folder alive, and its file is deleted with the array; otherwise collected
    rows would fill the disk.
    """

    def __init__(self) -> None:
        self._count = 0

    @cached_property
    def _folder(self) -> Path:
        return folder_of(self)

    def path(self) -> Path:
        """The name of a new file."""
        self._count += 1
        # A forked child continues its parent's count.
        return self._folder / f"{os.getpid()}-{self._count}.bin"

    def array(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """A new array of zeros in its own file."""
        path = self.path()
        _reserve(path, int(np.prod(shape)) * np.dtype(dtype).itemsize)
        return FileArray(path, dtype, shape, holder=self)

    def opened(self, path: Path, dtype: npt.DTypeLike) -> np.ndarray:
        """The numbers in a file that was written."""
        return FileArray(path, dtype, holder=self)

    def lines(self, blocks: Iterable[np.ndarray]) -> list[np.ndarray]:
        """Concatenate blocks that have the same number of lines, each line in its own file."""
        paths: list[Path] = []
        with ExitStack() as stack:
            files: list[BinaryIO] = []
            for block in blocks:
                if not files:
                    paths = [self.path() for _ in block]
                    files = [stack.enter_context(open(path, "wb")) for path in paths]
                for file, line in zip(files, block, strict=True):
                    _write(file, line.tobytes())
            for file in files:
                _write(file, b"", flush=True)
        if not paths:
            raise ValueError("the blocks contain no rows: at least one row is needed.")
        return [self.opened(path, np.float64) for path in paths]


def _write(file: BinaryIO, content: bytes, flush: bool = False) -> None:
    try:
        file.write(content)
        if flush:
            file.flush()
    except OSError as error:
        raise _no_room(error, file.name) from error


def _no_room(error: OSError, path: str) -> OSError:
    """The error of a file, with a way to put it elsewhere."""
    return OSError(error.errno, f"{error.strerror} (TMPDIR names another folder)", path)


def _reserve(path: Path, n_bytes: int) -> None:
    """Create a file of zeros whose disk space is allocated.

    A full disk raises an error here; without allocation it would kill the process once the array
    is written to.
    """
    with open(path, "xb") as file:
        if hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(file.fileno(), 0, max(1, n_bytes))
                return
            except OSError as error:
                # Some file systems, and some C libraries on them, cannot allocate.
                if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                    raise _no_room(error, str(path)) from error
        # Empty files cannot be mapped into memory.
        file.truncate(max(1, n_bytes))


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Rows by number, in ascending order."""

    numbers: np.ndarray
    rows: np.ndarray

    def holds(self, numbers: np.ndarray) -> bool:
        if not self.numbers.size:
            return not numbers.size
        # searchsorted returns the size for numbers beyond the last one.
        places = np.minimum(np.searchsorted(self.numbers, numbers), self.numbers.size - 1)
        return bool((self.numbers[places] == numbers).all())

    def take(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(self.rows[np.searchsorted(self.numbers, numbers)])


class OutOfCoreEngine(Engine):
    """Base of the engines that read the rows in passes."""

    def __init__(self, n_columns: int, dtype: np.dtype, n_jobs: int | None, missing: bool) -> None:
        self.n_columns, self.dtype = n_columns, dtype
        self.missing = missing
        self.is_checked = False
        self.n_threads = available_threads(n_jobs)
        self.folder = Folder()
        self._foreseen: dict[str, np.ndarray] = {}
        self._held: dict[str, HeldRows] = {}
        self._lock = threading.Lock()

    @property
    def held_rows(self) -> int | None:
        return max(1, TRAINING_BYTES // (self.n_columns * self.dtype.itemsize))

    def checked(self, ranges: ColumnRanges) -> ColumnRanges:
        """The same ranges, if there are enough rows and all cells can be used."""
        if self.n_rows < 2:
            raise ValueError(f"fit needs at least 2 rows, but the table has {self.n_rows}.")
        seen = ranges.count > 0
        if not self.missing and (ranges.count < self.n_rows).any():
            raise ValueError(NOT_FINITE.format("NaN"))
        if not (np.isfinite(ranges.low[seen]).all() and np.isfinite(ranges.high[seen]).all()):
            raise ValueError(NOT_FINITE.format("infinity"))
        self.is_checked = True
        return ranges

    def prefetch(self, what: str, rows: np.ndarray) -> None:
        self._held.pop(what, None)
        self._foreseen[what] = np.unique(rows)

    def rows(self, rows: np.ndarray) -> np.ndarray:
        # Tasks take rows from several threads, and one pass serves all of them.
        with self._lock:
            found = self._find(rows)
            if found is None:
                # Rows that were announced are read by the pass anyway.
                if not any(np.isin(rows, foreseen).all() for foreseen in self._foreseen.values()):
                    self._foreseen["requested"] = np.unique(rows)
                self.run_prefetch()
                found = self._find(rows)
        assert found is not None
        return found.take(rows)

    def _find(self, rows: np.ndarray) -> HeldRows | None:
        return next((held for held in self._held.values() if held.holds(rows)), None)

    @abstractmethod
    def run_prefetch(self) -> None:
        """Make a pass for the announced rows."""

    def room_for(self, n_rows: int) -> np.ndarray:
        """Uninitialised rows, in a file if there are many."""
        shape = (n_rows, self.n_columns)
        if n_rows * self.n_columns * self.dtype.itemsize > IN_MEMORY:
            return self.folder.array(shape, self.dtype)
        return np.empty(shape, dtype=self.dtype)

    def sample_scores(
        self,
        scaling: Scaling,
        detector: Detector,
        components: Sequence[Component],
        rows: np.ndarray,
    ) -> np.ndarray:
        out = np.empty((len(components), rows.size))

        def score(part: slice) -> None:
            X = self.take(rows[part], scaling)
            for i, component in enumerate(components):
                out[i, part] = raw_scores(component, detector, X)

        self.map(
            score, list(row_blocks(rows.size, block_rows(detector.bytes_per_row(self.n_columns))))
        )
        return out

    def per_row(self, dtype: npt.DTypeLike = np.float64) -> np.ndarray:
        return self.folder.array((self.n_rows,), dtype)
