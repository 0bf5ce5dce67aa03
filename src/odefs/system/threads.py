"""Thread counts, and single-threaded BLAS within our own threads.

Pinning BLAS is a process-wide setting, so it is counted under a lock: the first of several
concurrent fits sets it, the last one restores the old numbers.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from odefs._progress import report_progress
from odefs.system.cgroups import cpu_quota

Task = TypeVar("Task")
Result = TypeVar("Result")

_lock = threading.Lock()
_users = 0
_limit: Any = None


def available_threads(n_jobs: int | None = None) -> int:
    """Return the number of threads for ``n_jobs``; ``None`` means every core of this process.

    Affinity, container limits (:mod:`odefs.system.cgroups`) and two environment variables are
    respected: ``OMP_NUM_THREADS``, which process pools set for their workers to avoid
    oversubscription, and joblib's ``LOKY_MAX_CPU_COUNT``. Negative numbers count back from the
    available cores, as in scikit-learn.
    """
    if n_jobs == 0:
        raise ValueError(
            "n_jobs=0 is not allowed: use a positive number, -1 for all cores, or None."
        )
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    cores = usable_cores()
    quota = cpu_quota()
    if quota is not None:
        cores = min(cores, quota)
    for variable in ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
        allowed = os.environ.get(variable, "")
        if allowed.isdigit() and int(allowed) > 0:
            cores = min(cores, int(allowed))
    return cores if n_jobs is None else max(1, cores + 1 + n_jobs)


def usable_cores() -> int:
    """Return the number of cores that this process may run on.

    joblib counts them as well, but importing it takes a tenth of a short command.
    """
    allowed = getattr(os, "sched_getaffinity", None)  # Linux has it
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run the block with single-threaded BLAS, until the last such block of the process ends."""
    global _users
    counted = False
    try:
        with _lock:
            if _users == 0:
                _in_own_thread(_pin)
            _users += 1
            counted = True
        yield
    finally:
        with _lock:
            _users -= counted
            if _users == 0:
                _in_own_thread(_unpin)


def _pin() -> None:
    global _limit
    _unpin()
    limit = _controller(len(sys.modules)).limit(limits=1, user_api="blas")
    limit.__enter__()
    _limit = limit


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Return a controller of all loaded BLAS libraries.

    Cached by the number of imported modules: the lookup takes milliseconds, and an import may load
    another BLAS library (scipy has its own).
    """
    return ThreadpoolController()


def _unpin() -> None:
    global _limit
    if _limit is not None:
        _limit.__exit__(None, None, None)
        _limit = None


def _after_fork() -> None:
    """Reset the lock and the count: a forked process has none of its parent's other threads.

    Their setting remains in ``_limit`` and is restored by the next thread that uses BLAS.
    """
    global _lock, _users
    _lock, _users = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Once:
    """Runs an action once, however many threads call it."""

    def __init__(self, action: Callable[[], None]) -> None:
        self.is_done = False
        self._action = action
        self._lock = threading.Lock()

    def __call__(self) -> None:
        with self._lock:
            if not self.is_done:
                try:
                    self._action()
                finally:
                    self.is_done = True


def _in_own_thread(action: Callable[[], None]) -> None:
    """Run an action that sets or restores the BLAS limit in a thread that ends afterwards.

    threadpoolctl lets only the thread that set OpenBLAS's limit change it, as long as that thread
    lives, and the last user need not be the first. An interrupt must not leave BLAS on one thread:
    it is held back until the action is done. A thread whose ``start()`` is interrupted may never
    run, so another one is started; only one of them acts.
    """
    once = _Once(action)
    threads: list[threading.Thread] = []
    interrupt: KeyboardInterrupt | None = None
    while not once.is_done or any(thread.is_alive() for thread in threads):
        try:
            _start_and_join(once, threads)
        except KeyboardInterrupt as error:
            interrupt = error
        except RuntimeError as error:
            # An interrupted lock of Python may raise this in place of the interrupt.
            if not isinstance(error.__context__, KeyboardInterrupt):
                raise
            interrupt = error.__context__
    if interrupt is not None:
        raise interrupt


def _start_and_join(once: _Once, threads: list[threading.Thread]) -> None:
    """Start a thread unless the action is done, and wait for all that were started."""
    if not once.is_done:
        threads.append(threading.Thread(target=once, daemon=True))
        threads[-1].start()
    for thread in threads:
        if thread.is_alive():
            thread.join()


def run_tasks(
    task: Callable[[Task], Result],
    arguments: Sequence[Task],
    n_threads: int,
    calls_blas: bool = True,
) -> list[Result]:
    """Return ``[task(a) for a in arguments]``, on threads with single-threaded BLAS.

    Tasks that do not use BLAS can skip this: changing its threads takes as long as scoring a few
    rows.
    """
    with one_blas_thread() if calls_blas else nullcontext():
        if n_threads == 1 or len(arguments) <= 1:
            return _with_progress(map(task, arguments), len(arguments))
        return share_tasks(task, arguments, n_threads, report_progress)


def share_tasks(
    task: Callable[[Task], Result],
    arguments: Sequence[Task],
    n_threads: int,
    told_to: Callable[[int, int], None] = lambda done, total: None,
) -> list[Result]:
    """Return ``[task(a) for a in arguments]``, computed on ``n_threads`` threads.

    One of them is the calling thread, which reports how many tasks are done. It keeps the memory
    that it has freed, while that of a new thread goes back to the system: with new threads alone a
    fit has twenty times as many page faults. When a task fails or the caller is interrupted, no
    further task starts, and running ones are waited for.
    """
    total = len(arguments)
    waiting = deque(enumerate(arguments))
    results: dict[int, Result] = {}
    futures: list[Future[None]] = []
    n_reported = 0

    def work(report: Callable[[], None] = lambda: None) -> None:
        try:
            while waiting:
                try:
                    number, argument = waiting.popleft()
                except IndexError:  # Another thread took the last one.
                    return
                results[number] = task(argument)
                report()
        except BaseException:
            waiting.clear()
            raise

    def report() -> None:
        nonlocal n_reported
        # One call per task, also for those that other threads have finished meanwhile. Only this
        # thread reports: the listener is a context variable, which other threads do not see.
        while n_reported < len(results):
            n_reported += 1
            told_to(n_reported, total)

    n_helpers = min(n_threads, total) - 1
    try:
        with stoppable(ThreadPoolExecutor(max(1, n_helpers)), futures) as pool:
            try:
                futures.extend(pool.submit(work) for _ in range(n_helpers))
            except BaseException:  # The system refuses another thread, or an interrupt.
                waiting.clear()
                raise
            work(report)
            for future in futures:
                future.result()
            report()
            return [results[number] for number in range(total)]
    finally:
        # The error of a task holds this frame. If the frame held the error in turn, the arrays of
        # the caller would stay until the next garbage collection.
        future = None  # type: ignore[assignment]
        futures.clear()


@contextmanager
def stoppable(
    pool: ThreadPoolExecutor, futures: Sequence[Future] = ()
) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool whose waiting tasks are dropped when the block fails or is interrupted.

    Ctrl-C then takes the time of one task and not that of all. The running ``futures`` are waited
    for even if the user presses it again, because they write to arrays of the caller.
    """
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        _wait_for(futures)
        pool.shutdown()
        raise
    pool.shutdown()


def _wait_for(futures: Sequence[Future]) -> None:
    # Threads cannot be joined again after an interrupted join (Python 3.11), futures can be waited
    # for. Cancelled ones never count as done.
    running = [future for future in futures if not future.cancelled()]
    while True:
        try:
            wait(running)
            return
        except KeyboardInterrupt:
            continue


def _with_progress(results: Iterable[Result], total: int) -> list[Result]:
    """Collect all results, reporting after each how many there are."""
    found = []
    for result in results:
        found.append(result)
        report_progress(len(found), total)
    return found
