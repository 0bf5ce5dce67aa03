"""What a benchmark returns, and how it is timed."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Result(NamedTuple):
    """One measured number beside its target."""

    what: str
    measured: str
    target: str
    met: bool


def best_of(repeats: int, task: Callable[[], Any]) -> float:
    """Shortest of several runs in seconds: the machine may be shared."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)
