"""Clusters that cannot finish: partitions too large for workers, lost scheduler or workers.

Each ends in a ClusterError, in bounded time.
"""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from odefs.exceptions import ClusterError

pytest.importorskip("distributed")
waiting = pytest.importorskip("odefs.engines.dask.waiting")

LONGEST = 400
"""Seconds for starting and losing a cluster on a busy machine; a hanging fit takes longer."""

FIT = """
import json, os, sys, time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from odefs import ODEFS


def too_large(block):
    kept = np.ones(200_000_000)
    time.sleep(60)
    return block + 0 * kept[0]


def slow(block):
    time.sleep(1)
    return block


def fit(change):
    X = da.random.default_rng(0).normal(size=(3000, 12), chunks=(100, 12))
    X = X.map_blocks(change, dtype=float, meta=np.empty((0, 0)))
    try:
        ODEFS(random_state=0).fit(X)
        error = None
    except Exception as caught:
        error = caught
    print(json.dumps([type(error).__name__, str(error)]), flush=True)
    # What is lost or stopped cannot be closed.
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "local":
        cluster = LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="1GB", dashboard_address=None
        )
        client = Client(cluster)
        print("ready", flush=True)
        fit(too_large)
    else:
        client = Client(scheduler_file=sys.argv[1])
        client.wait_for_workers(1)
        print("ready", flush=True)
        fit(slow)
"""


def outcome(running):
    out, errors = running.communicate(timeout=LONGEST)
    assert out.strip(), errors[-3000:]
    return json.loads(out.splitlines()[-1])


def start(*line, cwd, **environment):
    return subprocess.Popen(
        [sys.executable, *map(str, line)],
        cwd=cwd,
        env={
            **os.environ,
            **{f"DASK_DISTRIBUTED__COMM__TIMEOUTS__{of}": "20s" for of in ("CONNECT", "TCP")},
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def end(process):
    """The process and those that it started."""
    if process.poll() is None:
        os.kill(process.pid, signal.SIGCONT)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
def test_a_partition_that_no_worker_can_hold(tmp_path):
    (tmp_path / "fit.py").write_text(FIT)
    few = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    running = start("fit.py", "local", cwd=tmp_path, ODEFS_DASK_TIMEOUT="60", **few)
    try:
        name, message = outcome(running)
    finally:
        end(running)
    assert name == "ClusterError", message
    assert "repartition" in message
    assert "memory_limit" in message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lost", "how"),
    [("scheduler", signal.SIGKILL), ("scheduler", signal.SIGSTOP), ("worker", signal.SIGKILL)],
    ids=["scheduler killed", "scheduler stopped", "only worker killed"],
)
def test_a_part_of_the_cluster_is_lost(lost, how, tmp_path):
    (tmp_path / "fit.py").write_text(FIT)
    file = tmp_path / "scheduler.json"
    options = ("--scheduler-file", file, "--no-dashboard")
    parts = {
        "scheduler": start(
            "-m", "distributed.cli.dask_scheduler", *options, "--port", "0", cwd=tmp_path
        ),
        "worker": start(
            "-m",
            "distributed.cli.dask_worker",
            *options,
            "--no-nanny",
            "--nthreads",
            "1",
            cwd=tmp_path,
        ),
    }
    running = start("fit.py", file, cwd=tmp_path, ODEFS_DASK_TIMEOUT="10")
    try:
        assert running.stdout.readline() == "ready\n", running.communicate()
        time.sleep(3)
        os.kill(parts[lost].pid, how)
        name, message = outcome(running)
    finally:
        for process in (running, *parts.values()):
            end(process)
    assert name == "ClusterError", message
    assert lost in message


LATE = """
import time, threading
import dask.array as da
from distributed import Client, LocalCluster
from odefs import ODEFS

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None)
    client = Client(cluster)
    later = threading.Timer(8, lambda: cluster.scale(1))
    later.start()
    ODEFS(random_state=0).fit(da.random.default_rng(0).normal(size=(600, 4), chunks=(200, 4)))
    print('["fitted", ""]', flush=True)
    client.close()
    cluster.close()
"""


@pytest.mark.slow
def test_workers_that_start_late_are_waited_for(tmp_path):
    (tmp_path / "late.py").write_text(LATE)
    running = start("late.py", cwd=tmp_path, ODEFS_DASK_TIMEOUT="2")
    try:
        assert outcome(running)[0] == "fitted"
    finally:
        end(running)


@pytest.mark.parametrize("given", ["0", "-1", "inf", "nan", "soon"])
def test_a_timeout_that_is_none(given, monkeypatch):
    monkeypatch.setenv("ODEFS_DASK_TIMEOUT", given)
    with pytest.raises(ValueError, match="ODEFS_DASK_TIMEOUT"):
        waiting.timeout_seconds()


def slowly(block):
    time.sleep(0.5)
    return block


def test_workers_let_go_of_rows_that_were_waited_for(monkeypatch):
    """At once, not when Python happens to collect cycles: these may hold the rows of a table."""
    import dask.array as da

    from odefs import ODEFS
    from odefs.engines.dask import local_client

    monkeypatch.setattr(waiting, "POLL_SECONDS", 0.01)
    with local_client(1) as client:
        gc.collect()
        gc.disable()
        try:
            rows = (
                da.random.default_rng(0)
                .normal(size=(600, 4), chunks=(300, 4))
                .map_blocks(slowly, dtype=float)
            )
            ODEFS(random_state=0, n_estimators=2).fit(rows)
            deadline = time.monotonic() + 60
            while any(client.has_what().values()) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not any(client.has_what().values())
        finally:
            gc.enable()


class Future:
    """One whose task raised an error of its own."""

    def __init__(self, error):
        self.error, self.status = error, "error"

    def done(self):
        return True

    def add_done_callback(self, function):
        function(self)

    def result(self, timeout):
        raise self.error


@pytest.mark.parametrize(
    "error", [ValueError("x"), OSError("x"), TimeoutError("x")], ids=lambda e: type(e).__name__
)
def test_errors_of_a_task_are_its_own(error):
    with pytest.raises(type(error)) as raised:
        waiting.wait_for(None, Future(error))
    assert raised.value is error
    assert not isinstance(raised.value, ClusterError)
