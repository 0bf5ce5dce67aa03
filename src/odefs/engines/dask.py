"""The engine for a cluster: Dask's workers make the passes, each over its own partitions. The only file that imports Dask.

Rows stay where they are. Workers get the scaling, the small model and row numbers; back come column statistics, the few rows that are drawn, and 8
bytes per row and pass of scores, which go to a file. Every task is a function of a partition and of values that the scheduler holds, and nothing is kept on a
worker between passes: one that dies costs the time of its tasks.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from odefs._progress import tell
from odefs.detectors.protocol import Detector
from odefs.engines.arrow import as_matrix, matrix_dtype, parquet_files
from odefs.engines.blocks import working_dtype
from odefs.engines.distant import DistantEngine, Held, require_finite, with_known
from odefs.engines.local import LocalEngine
from odefs.engines.protocol import Known
from odefs.ensemble.combine import Judged, n_lines
from odefs.ensemble.model import Component, Model
from odefs.scaling import ColumnMoments, ColumnRanges, Scaling

RETRIES = 3
"""A task that failed, because its worker died or its file could not be read, is tried so many times more."""


class DaskEngine(DistantEngine):
    """A Dask array or data frame, or parquet files that all workers can read."""

    def __init__(self, X: Any, n_jobs: int | None = None, missing: bool = False) -> None:
        self.client = running_client()
        self.parts, self.names, n_columns, dtype = _partitions(X)
        super().__init__(n_columns, dtype, n_jobs, missing)
        self.n_rows = 0
        self.starts = np.zeros(1, dtype=np.int64)

    def ranges(self) -> ColumnRanges:
        found = list(self._results(_measure, [()] * len(self.parts)))
        self.starts = np.cumsum([0, *(n_rows for n_rows, _ in found)])
        self.n_rows = int(self.starts[-1])
        known = [part for _, part in found if part is not None]
        if not known:
            raise ValueError("there is no row in the partitions.")
        total = known[0]
        for part in known[1:]:
            total = total.merge(part)
        return self.checked(total)

    def foresee(self, what: str, rows: np.ndarray) -> None:
        # The row sample is scored where it is.
        if what != "row sample":
            super().foresee(what, rows)

    def moments(self, scaling: Scaling) -> ColumnMoments:
        total: ColumnMoments | None = None
        for part in self._bring(_moments, range(len(self.parts)), scaling):
            if part is not None:
                total = part if total is None else total.merge(part)
        assert total is not None
        return total

    def bring(self) -> None:
        wanted = np.concatenate(list(self._foreseen.values()))
        touched = np.unique(np.searchsorted(self.starts, wanted, side="right") - 1)
        for _ in self._bring(_nothing, touched.tolist(), None):
            pass

    def _bring(self, task: Any, parts: Sequence[int], value: Any) -> Iterator[Any]:
        """One pass over some partitions: the task's results, and the rows that are foreseen."""
        held = {what: Held(numbers, self.room_for(numbers.size)) for what, numbers in self._foreseen.items()}
        places = [{what: self._span(found.numbers, index) for what, found in held.items()} for index in parts]
        arguments = [
            ({what: held[what].numbers[span] - self.starts[index] for what, span in spans.items()},)
            for index, spans in zip(parts, places, strict=True)
        ]
        results = self._results(_with_rows, arguments, (task, value), [self.parts[index] for index in parts])
        for spans, (result, rows) in zip(places, results, strict=True):
            for what, span in spans.items():
                held[what].rows[span] = rows[what]
            yield result
        self._held |= held
        self._foreseen.clear()

    def _span(self, numbers: np.ndarray, index: int) -> slice:
        """Which of the sorted row numbers lie in a partition."""
        first, last = np.searchsorted(numbers, self.starts[index : index + 2])
        return slice(int(first), int(last))

    def raw_scores(self, scaling: Scaling, detector: Detector, components: Sequence[Component]) -> np.ndarray:
        out = self.folder.array((len(components), self.n_rows), np.float64)
        shared = (scaling, detector, list(components))
        for index, scores in enumerate(self._results(_raw_scores, [()] * len(self.parts), shared)):
            out[:, self.starts[index] : self.starts[index + 1]] = scores
        return out

    def sample_scores(
        self, scaling: Scaling, detector: Detector, components: Sequence[Component], rows: np.ndarray
    ) -> np.ndarray:
        spans = [self._span(rows, index) for index in range(len(self.parts))]
        numbers = [(rows[span] - self.starts[index],) for index, span in enumerate(spans)]
        found = self._results(_sample_scores, numbers, (scaling, detector, list(components)))
        return np.concatenate(list(found), axis=1)

    def judged(self, model: Model, known: Known | None = None) -> Judged:
        n_parts = len(self.parts)
        found: list[Any] = [None] * n_parts
        if known is not None:
            found = [known.within(self.starts[index], self.starts[index + 1]) for index in range(n_parts)]
        places = [(None if part is None else part[0],) for part in found]

        def blocks() -> Iterator[np.ndarray]:
            for index, lines in enumerate(self._results(_judged, places, (model, self.missing))):
                if found[index] is not None:
                    lines[:, found[index][0]] = found[index][1]
                yield lines

        return Judged(*self.folder.lines(blocks()))

    def _results(
        self, task: Any, arguments: Sequence[tuple[Any, ...]], shared: Any = None, parts: Any = None
    ) -> Iterator[Any]:
        """``task(rows, shared, *arguments)`` of every partition, in order.

        What is shared is a task of its own, which the scheduler can run again; data scattered to workers would die with them.
        """
        from dask.delayed import delayed

        everyone = delayed(shared, traverse=False)
        run = delayed(task, pure=False, traverse=False)
        tasks = [run(part, everyone, *own) for part, own in zip(parts or self.parts, arguments, strict=True)]
        futures = self.client.compute(tasks, retries=RETRIES)
        while futures:
            future = futures.pop(0)
            yield future.result()
            tell(len(tasks) - len(futures), len(tasks))


def _measure(rows: np.ndarray, _: Any) -> tuple[int, ColumnRanges | None]:
    return len(rows), LocalEngine(rows, 1).ranges() if len(rows) else None


def _moments(rows: np.ndarray, scaling: Scaling) -> ColumnMoments | None:
    return LocalEngine(rows, 1).moments(scaling) if len(rows) else None


def _nothing(rows: np.ndarray, _: Any) -> None:
    return None


def _with_rows(rows: np.ndarray, shared: Any, wanted: dict[str, np.ndarray]) -> tuple[Any, dict[str, np.ndarray]]:
    task, value = shared
    return task(rows, value), {what: rows[numbers] for what, numbers in wanted.items()}


def _raw_scores(rows: np.ndarray, shared: Any) -> np.ndarray:
    scaling, detector, components = shared
    if not len(rows):
        return np.empty((len(components), 0))
    return LocalEngine(rows, 1).raw_scores(scaling, detector, components)


def _sample_scores(rows: np.ndarray, shared: Any, numbers: np.ndarray) -> np.ndarray:
    scaling, detector, components = shared
    return LocalEngine(rows, 1).sample_scores(scaling, detector, components, numbers)


def _judged(rows: np.ndarray, shared: Any, places: np.ndarray | None) -> np.ndarray:
    """Scores and agreement of a partition, as lines; rows at ``places`` are left out and have none."""
    model, missing = shared
    if not len(rows):
        return np.empty((n_lines(model), 0))
    require_finite(rows, missing)

    def score(part: np.ndarray) -> np.ndarray:
        found = LocalEngine(part, 1).judged(model)
        return np.stack([found.scores] if found.agreement is None else [found.scores, found.agreement])

    unknown = (n_lines(model), 0 if places is None else places.size)
    return score(rows) if places is None else with_known(score, rows, places, np.full(unknown, np.nan))


def _partitions(X: Any) -> tuple[list[Any], tuple[str, ...] | None, int, np.dtype[Any]]:
    """Partitions as delayed matrices, names of the columns, their number, and the type of the matrices."""
    from dask.delayed import delayed

    if isinstance(X, str | os.PathLike | list | tuple):
        return _parquet_partitions(X)
    as_rows = delayed(_as_rows, pure=True)
    if hasattr(X, "to_delayed") and hasattr(X, "dtypes"):
        wrong = [name for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "biuf"]
        if wrong:
            raise ValueError(
                f"column {wrong[0]!r} holds {X.dtypes[wrong[0]]}, not numbers: drop it or encode the table."
            )
        dtype = working_dtype(np.result_type(*(np.dtype(getattr(k, "numpy_dtype", k)) for k in X.dtypes)))
        names = tuple(str(name) for name in X.columns)
        return [as_rows(part, dtype) for part in X.to_delayed()], names, len(names), dtype
    if hasattr(X, "to_delayed") and getattr(X, "ndim", 0) == 2:
        if X.dtype.kind not in "biuf":
            raise ValueError(f"the array holds {X.dtype}, not numbers.")
        dtype = working_dtype(X.dtype)
        parts = X.rechunk({1: -1}).to_delayed().ravel()
        return [as_rows(part, dtype) for part in parts], None, int(X.shape[1]), dtype
    raise TypeError(
        f"engine='dask' takes a Dask array of two dimensions, a Dask data frame or the path of parquet files, not {type(X).__name__}."
    )


def _as_rows(part: Any, dtype: np.dtype[Any]) -> np.ndarray:
    rows = part.to_numpy(dtype=dtype, na_value=np.nan) if hasattr(part, "to_numpy") else np.asarray(part, dtype=dtype)
    return np.ascontiguousarray(rows)


def _parquet_partitions(path: Any) -> tuple[list[Any], tuple[str, ...], int, np.dtype[Any]]:
    """One partition per row group, so that files of any size are shared out."""
    import pyarrow.parquet as pq
    from dask.delayed import delayed

    files = parquet_files(path)
    schema = pq.read_schema(files[0])
    names = tuple(schema.names)
    dtype = matrix_dtype(schema, names)
    read = delayed(_read_group, pure=True)
    parts = []
    for file in files:
        with pq.ParquetFile(file) as opened:
            if opened.schema_arrow.names != schema.names:
                raise ValueError(f"{file}: its columns are not those of {files[0].name}.")
            n_groups = opened.metadata.num_row_groups
        parts += [read(str(file.absolute()), group, names, dtype) for group in range(n_groups)]
    return parts, names, len(names), dtype


def _read_group(file: str, group: int, names: tuple[str, ...], dtype: np.dtype[Any]) -> np.ndarray:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as opened:
        table = opened.read_row_group(group, columns=list(names), use_threads=False)
    return as_matrix(table.select(list(names)).combine_chunks(), dtype)


def running_client() -> Any:
    """The client that is running; one of its own on this machine only if ``ODEFS_DASK_WORKERS`` asks for it."""
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        workers = os.environ.get("ODEFS_DASK_WORKERS", "")
        if not workers.isdigit() or int(workers) < 1:
            raise ValueError(
                "engine='dask' needs a running client: start distributed.Client(...) or odefs.engines.dask.local_client(), "
                "or set ODEFS_DASK_WORKERS to a number of local worker processes."
            ) from None
        return _start(int(workers))


@contextmanager
def local_client(n_workers: int = 2) -> Iterator[Any]:
    """A client with worker processes of its own on this machine, closed at the end of the block.

    Examples
    --------
    >>> from odefs.engines.dask import local_client  # doctest: +SKIP
    >>> with local_client(2):  # doctest: +SKIP
    ...     model = ODEFS(engine="dask").fit("folder/")
    """
    client = _start(n_workers)
    try:
        yield client
    finally:
        cluster = client.cluster
        client.close()
        cluster.close()


def _start(n_workers: int) -> Any:
    import distributed

    start: Any = distributed
    # One thread per worker: a task keeps its core busy.
    return start.Client(start.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None))
