"""Waiting for a cluster in bounded time, and errors that name the remedy where it cannot finish the work.

A scheduler that is gone or does not answer, workers that are all gone or paused, and partitions that kill every worker they
are given to end a fit with :class:`~odefs.exceptions.ClusterError`. Errors of the tasks themselves pass unchanged.
"""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from odefs.exceptions import ClusterError

POLL_SECONDS = 5.0
"""Time between two looks at scheduler and workers while a result is awaited."""
DEFAULT_TIMEOUT = 120.0

SMALLER = (
    "use smaller partitions (`frame.repartition(partition_size='100MB')`, `array.rechunk({0: 100_000})`, smaller row groups of parquet files) "
    "or give each worker more memory (`memory_limit`)"
)


def timeout_seconds() -> float:
    """How long to wait for a scheduler that does not answer, or for workers where none can work: ``ODEFS_DASK_TIMEOUT``, by default 120."""
    given = os.environ.get("ODEFS_DASK_TIMEOUT", "")
    try:
        seconds = float(given) if given else DEFAULT_TIMEOUT
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"ODEFS_DASK_TIMEOUT={given!r} must be a positive number of seconds.")
    return seconds


def wait_for(client: Any, future: Any) -> Any:
    """The result of a future; the cluster is looked at now and then while it is not there."""
    limit = timeout_seconds()
    _wait_until_done(client, future, limit)
    attempts = 0
    while True:
        attempts += 1
        try:
            # A result that is there still has to come through the network: every further attempt gets more time.
            return future.result(timeout=limit * attempts)
        except TimeoutError:
            if future.status == "error":
                raise  # the task's own
            _workers(client, limit)  # or the scheduler is lost
        except CancelledError as error:
            raise ClusterError(_lost(client, error)) from error
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise ClusterError(
                    f"workers died repeatedly while they computed one partition, most likely because it does not fit into their memory: {SMALLER}."
                ) from error
            if future.status == "error":
                raise
            raise ClusterError(_lost(client, error)) from error


def _wait_until_done(client: Any, future: Any, limit: float) -> None:
    """By an event: a timeout of ``result`` leaves its exception in a cycle with the future, and rows with the workers until that is collected."""
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    if not future.done() and client not in _had_workers:
        _workers(client, limit)
    idle_since: float | None = None
    while not done.wait(POLL_SECONDS) and not future.done():
        reason = _idle_reason(_workers(client, limit))
        # Batch systems and clusters that adapt to the work may take any time to start the first worker.
        if reason is None or client not in _had_workers:
            idle_since = None
            continue
        idle_since = idle_since or time.monotonic()
        if time.monotonic() - idle_since > limit:
            raise ClusterError(
                f"the Dask cluster did no work for {limit:.0f} s (ODEFS_DASK_TIMEOUT): {reason}."
            )


_had_workers: WeakSet[Any] = WeakSet()
"""Clients whose cluster has had a worker."""


def _workers(client: Any, limit: float) -> list[dict[str, Any]]:
    try:
        workers = list(
            client.sync(client.scheduler.identity, callback_timeout=limit)["workers"].values()
        )
    except Exception as error:
        raise ClusterError(_lost(client, error)) from error
    if workers:
        _had_workers.add(client)
    return workers


def _idle_reason(workers: list[dict[str, Any]]) -> str | None:
    """Why no worker can make progress; None where one can."""
    if not workers:
        return f"no worker is connected to the scheduler; see the workers' logs for why they ended, and if that was for memory, {SMALLER}"
    if all(worker.get("status") == "paused" for worker in workers):
        return f"all workers are paused because their memory is nearly full; {SMALLER}"
    return None


@contextmanager
def connected(client: Any) -> Iterator[None]:
    """Requests to the scheduler that fail because it is gone."""
    from distributed.comm.core import CommClosedError

    try:
        yield
    except (CommClosedError, CancelledError, TimeoutError) as error:
        raise ClusterError(_lost(client, error)) from error
    except Exception as error:
        if type(error).__name__ != "ClosedClientError":
            raise
        raise ClusterError(_lost(client, error)) from error


def _lost(client: Any, error: BaseException) -> str:
    address = getattr(getattr(client, "scheduler", None), "address", None) or "its address"
    return (
        f"the connection to the Dask scheduler at {address} was lost ({type(error).__name__}), or the work was cancelled there: "
        "see that it runs (its memory and its log), connect a new Client and fit again; "
        "distributed.comm.timeouts.connect and ODEFS_DASK_TIMEOUT say how long to wait for it."
    )
