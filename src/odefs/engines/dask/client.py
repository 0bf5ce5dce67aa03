"""Dask clients: the running one, or local worker processes on request."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client


def running_client() -> "Client":
    """The running client, or a local one if ``ODEFS_DASK_WORKERS`` is set."""
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        workers = os.environ.get("ODEFS_DASK_WORKERS", "")
        if not workers.isdigit() or int(workers) < 1:
            raise ValueError(
                "engine='dask' needs a running client: start distributed.Client(...) or "
                "odefs.engines.dask.local_client(), or set ODEFS_DASK_WORKERS to a number of "
                "local worker processes."
            ) from None
        return _start(int(workers))


@contextmanager
def local_client(n_workers: int = 2) -> "Iterator[Client]":
    """A client with its own local worker processes, closed at the end of the block.

    Examples
    --------
    >>> import dask.array
    >>> from odefs import ODEFS
    >>> from odefs.engines.dask import local_client
    >>> X = dask.array.random.default_rng(0).normal(size=(600, 4), chunks=(200, 4))
    >>> with local_client(2):
    ...     model = ODEFS(random_state=0).fit(X)
    >>> model.outlier_scores_.shape
    (600,)
    """
    with _kept_environment():
        client = _start(n_workers)
        try:
            yield client
        finally:
            cluster: Any = client.cluster
            client.close()
            cluster.close()


def _start(n_workers: int) -> "Client":
    import distributed

    start: Any = distributed
    with _kept_environment():
        # One thread per worker: a task keeps its core busy.
        return start.Client(
            start.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
        )


@contextmanager
def _kept_environment() -> Iterator[None]:
    """Restore the environment that distributed changes for the workers it starts.

    With ``OMP_NUM_THREADS=1``, all later fits in this process would use one thread.
    """
    from dask import config

    # Besides what its configuration lists, distributed sets PYTHONHASHSEED, which all processes
    # that are started later inherit.
    given = {**config.get("distributed.nanny.pre-spawn-environ", {}), "PYTHONHASHSEED": None}
    before = {name: os.environ.get(name) for name in given}
    try:
        yield
    finally:
        for name, value in before.items():
            if given[name] is not None and os.environ.get(name) != str(given[name]):
                continue  # changed by someone else
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
