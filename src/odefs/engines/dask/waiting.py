"""Waiting for a Dask cluster in bounded time, with errors that suggest what to do.

A scheduler that is gone or does not answer, workers that are all gone or paused, and partitions
that kill every worker end a fit with :class:`~odefs.exceptions.ClusterError`. Errors of the tasks
themselves are raised unchanged.
"""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from odefs.exceptions import ClusterError

if TYPE_CHECKING:
    from distributed import Client, Future

POLL_SECONDS = 5.0
"""Time between two checks of scheduler and workers while waiting for a result."""
DEFAULT_TIMEOUT = 120.0

SMALLER = (
    "use smaller partitions (`frame.repartition(partition_size='100MB')`, "
    "`array.rechunk({0: 100_000})`, smaller row groups of parquet files) "
    "or give each worker more memory (`memory_limit`)"
)


def timeout_seconds() -> float:
    """Time to wait for an unresponsive scheduler, or while no worker can work.

    Set by ``ODEFS_DASK_TIMEOUT``, 120 by default.
    """
    given = os.environ.get("ODEFS_DASK_TIMEOUT", "")
    try:
        seconds = float(given) if given else DEFAULT_TIMEOUT
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"ODEFS_DASK_TIMEOUT={given!r} must be a positive number of seconds.")
    return seconds


def wait_for(client: "Client", future: "Future") -> Any:
    """The result of a future; meanwhile the cluster is checked regularly."""
    limit = timeout_seconds()
    _wait_until_done(client, future, limit)
    attempts = 0
    while True:
        attempts += 1
        try:
            # The finished result must still be transferred: each further attempt gets more time.
            return future.result(timeout=limit * attempts)
        except TimeoutError:
            if future.status == "error":
                raise  # raised by the task
            _workers(client, limit)  # raises if the scheduler is lost
        except CancelledError as error:
            raise ClusterError(_lost(client, error)) from error
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise ClusterError(
                    "workers died repeatedly while computing one partition, most likely because "
                    f"it does not fit into their memory: {SMALLER}."
                ) from error
            if future.status == "error":
                raise
            raise ClusterError(_lost(client, error)) from error


def _wait_until_done(client: "Client", future: "Future", limit: float) -> None:
    """Wait for an event, not with a timeout of ``result``.

    That would leave its exception in a reference cycle with the future, and rows on the workers
    until the cycle is collected.
    """
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    if not future.done() and client not in _had_workers:
        _workers(client, limit)
    idle_since: float | None = None
    while not done.wait(POLL_SECONDS) and not future.done():
        reason = _idle_reason(_workers(client, limit))
        # Batch systems and adaptive clusters may take any time to start the first worker.
        if reason is None or client not in _had_workers:
            idle_since = None
            continue
        idle_since = idle_since or time.monotonic()
        if time.monotonic() - idle_since > limit:
            raise ClusterError(
                f"the Dask cluster did no work for {limit:.0f} s (ODEFS_DASK_TIMEOUT): {reason}."
            )


_had_workers: "WeakSet[Client]" = WeakSet()
"""Clients whose cluster has had a worker."""


def _workers(client: "Client", limit: float) -> list[dict[str, object]]:
    scheduler: Any = client.scheduler
    try:
        found = client.sync(scheduler.identity, callback_timeout=limit)
        workers = list(found["workers"].values())
    except Exception as error:
        raise ClusterError(_lost(client, error)) from error
    if workers:
        _had_workers.add(client)
    return workers


def _idle_reason(workers: list[dict[str, object]]) -> str | None:
    """Why no worker can make progress; None where one can."""
    if not workers:
        return (
            "no worker is connected to the scheduler; the workers' logs show why they ended, and "
            f"if they ran out of memory, {SMALLER}"
        )
    if all(worker.get("status") == "paused" for worker in workers):
        return f"all workers are paused because their memory is nearly full; {SMALLER}"
    return None


@contextmanager
def connected(client: "Client") -> Iterator[None]:
    """Turn failed requests to a lost scheduler into :class:`ClusterError`."""
    from distributed.comm.core import CommClosedError

    try:
        yield
    except (CommClosedError, CancelledError, TimeoutError) as error:
        raise ClusterError(_lost(client, error)) from error
    except Exception as error:
        if type(error).__name__ != "ClosedClientError":
            raise
        raise ClusterError(_lost(client, error)) from error


def _lost(client: "Client", error: BaseException) -> str:
    address = getattr(getattr(client, "scheduler", None), "address", None) or "its address"
    return (
        f"the connection to the Dask scheduler at {address} was lost ({type(error).__name__}), or "
        "the work was cancelled there: check that it runs (memory, log), connect a new Client and "
        "fit again; distributed.comm.timeouts.connect and ODEFS_DASK_TIMEOUT set how long to wait."
    )
