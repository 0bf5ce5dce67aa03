"""An interrupt ends threaded work after the tasks that are running, not after all that wait."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from functools import partial

import pytest

from odefs._progress import listening
from odefs.system.threads import run_tasks


def test_an_interrupt_drops_the_tasks_that_wait():
    begun = []
    lock = threading.Lock()

    def task(number):
        with lock:
            begun.append(number)
        time.sleep(0.01)

    def interrupt(stage, done, total):
        if done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(interrupt):
        run_tasks(task, range(500), n_threads=2)
    assert len(begun) < 100


def test_a_thread_that_cannot_start_ends_the_work(monkeypatch):
    """The first thread works already when the second cannot be had."""
    done, starts = [], []
    start = threading.Thread.start

    def start_once(thread):
        starts.append(thread)
        if len(starts) > 1:
            raise RuntimeError("can't start new thread")
        start(thread)

    def task(number):
        time.sleep(0.002)
        done.append(number)

    monkeypatch.setattr(threading.Thread, "start", start_once)
    with pytest.raises(RuntimeError, match="can't start"):
        run_tasks(task, range(100), n_threads=3, calls_blas=False)
    at_once = len(done)
    time.sleep(0.1)
    assert len(done) == at_once < 100


INTERRUPTED = """
import random, signal, sys, time
import numpy, scipy.linalg
from threadpoolctl import threadpool_info
from odefs.system.threads import run_tasks

signal.signal(signal.SIGALRM, signal.default_int_handler)
def blas():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

before, left, interrupts = blas(), 0, 0
run_tasks(lambda number: None, range(4), 1)
until = time.monotonic() + 5
while time.monotonic() < until:
    try:
        signal.setitimer(signal.ITIMER_REAL, random.random() * 0.004 + 1e-5)
        for _ in range(200):
            run_tasks(lambda number: None, range(1), 1)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        interrupts += 1
        left += blas() != before
print(interrupts, left)
"""


def test_an_interrupt_leaves_blas_as_it_was():
    """Pinning and releasing threads, interrupted at random, except in Python's own locks."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
    )
    interrupts, left = map(int, done.stdout.split())
    assert interrupts > 10
    assert left < interrupts / 10


@pytest.mark.skipif(sys.platform != "linux", reason="the threads of a process are read from /proc")
def test_a_failing_task_is_told_and_the_threads_are_gone():
    before = len(os.listdir("/proc/self/task"))

    def task(number):
        if number == 2:
            raise ValueError("two")

    with pytest.raises(ValueError, match="two"):
        run_tasks(task, range(50), n_threads=2, calls_blas=False)
    # A thread that has told its end still has to leave.
    until = time.monotonic() + 5
    while len(os.listdir("/proc/self/task")) > before and time.monotonic() < until:
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/task")) <= before


def test_results_come_in_order_and_every_task_runs_once():
    runs = []

    def task(number):
        runs.append(number)
        time.sleep(0.001 * (number % 3))
        return number * number

    assert run_tasks(task, range(100), n_threads=4) == [number * number for number in range(100)]
    assert sorted(runs) == list(range(100))


def test_every_task_is_told_once():
    told = []
    with listening(lambda stage, done, total: told.append((done, total))):
        run_tasks(lambda number: time.sleep(0.001), range(20), n_threads=3)
    assert told == [(done, 20) for done in range(1, 21)]


@pytest.mark.parametrize("n_interrupts", [1, 3])
def test_an_interrupt_while_the_last_task_runs_waits_for_it(n_interrupts):
    """The task writes to arrays of the caller, who may press Ctrl-C again."""
    finished = threading.Event()
    caller = threading.get_ident()
    both = threading.Barrier(2)
    # A test run in the background inherits that interrupts are ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def task(number):
        both.wait()
        if number == 0:
            time.sleep(0.2)
            for _ in range(n_interrupts):
                signal.pthread_kill(caller, signal.SIGINT)
                time.sleep(0.1)
            finished.set()

    try:
        with pytest.raises(KeyboardInterrupt):
            run_tasks(task, range(2), n_threads=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert finished.is_set()


def test_a_failing_task_leaves_no_arrays_behind():
    """Without a garbage collection: large arrays must go as soon as the error is handled."""

    class Large:
        pass

    def fail(number, held):
        raise ValueError("no")

    held = Large()
    is_there = weakref.ref(held)
    gc.disable()
    try:
        with contextlib.suppress(ValueError):
            run_tasks(partial(fail, held=held), range(4), n_threads=2, calls_blas=False)
        del held
        assert is_there() is None
    finally:
        gc.enable()
