"""An interrupt ends threaded work after the tasks that are running, not after all that wait."""

import threading
import time

import pytest

from odefs._ops.threads import run_tasks
from odefs._progress import listening


def test_an_interrupt_drops_the_tasks_that_wait():
    begun = []
    lock = threading.Lock()

    def task(number):
        with lock:
            begun.append(number)
        time.sleep(0.01)

    def interrupt(stage, done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(interrupt):
        run_tasks(task, range(500), n_threads=2)
    assert len(begun) < 100


def test_a_failing_task_is_told_and_the_pool_is_gone():
    before = threading.active_count()

    def task(number):
        if number == 2:
            raise ValueError("two")

    with pytest.raises(ValueError, match="two"):
        run_tasks(task, range(50), n_threads=2)
    assert threading.active_count() == before
