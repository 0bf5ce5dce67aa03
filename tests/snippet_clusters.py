"""Clusters of the page on large tables: Dask's on this machine, and stand-ins of Spark and Ray."""

import json
import os
import sys
from contextlib import contextmanager

import numpy as np
import polars as pl

import odefs
from locations import TESTS
from snippet_files import folder_of_parquet, sales
from snippet_settings import Setting, background


@contextmanager
def spark(folder):
    shared = _shared(folder / "of_spark")
    variables = {"ROWS": str(shared / "rows"), "PYTHONPATH": _with_stand_ins()}
    yield Setting(variables, {"/shared": str(shared)}, first="from spark import df\n")


@contextmanager
def ray(folder):
    shared = _shared(folder / "of_ray")
    replaced = {"/shared": str(shared), "s3://bucket/rows": str(shared / "rows")}
    yield Setting({"PYTHONPATH": _with_stand_ins()}, replaced)


def _with_stand_ins():
    return os.pathsep.join([str(TESTS / "stand_ins"), os.environ.get("PYTHONPATH", "")])


def _shared(folder):
    """A folder with parquet files of rows, and a model of such rows."""
    folder.mkdir()
    folder_of_parquet(folder / "rows")
    odefs.detect(sales(), id="key", random_state=0).save(folder / "model.odefs")
    return folder


@contextmanager
def dask(folder):
    """A scheduler and two workers, started by the commands of Dask as the page says."""
    rows, file = folder / "numbers", folder / "scheduler.json"
    rows.mkdir()
    rng = np.random.default_rng(0)
    for number in range(4):
        pl.DataFrame(rng.normal(size=(300, 8))).write_parquet(rows / f"{number}.parquet")
    local = ["--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard"]
    scheduler = [sys.executable, "-m", "dask", "scheduler", "--port", "0", *local]
    options = ["--nthreads", "1", "--nworkers", "2"]
    worker = [sys.executable, "-m", "dask", "worker", *options, *local]
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "300s"}
    with (
        background(scheduler, folder, environment, lambda: _is_complete(file)),
        background(worker, folder, environment, lambda: True),
    ):
        address = json.loads(file.read_text())["address"].removeprefix("tcp://")
        yield Setting(replaced={"scheduler:8786": address, "s3://bucket/rows": str(rows)})


def _is_complete(file):
    try:
        return "address" in json.loads(file.read_text())
    except (OSError, ValueError):
        return False
