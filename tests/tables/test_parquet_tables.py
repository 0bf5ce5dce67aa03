"""Parquet files that a table must refuse: repeated names, and small files that become large."""

import os
from threading import Thread

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import odefs
from command import odefs as odefs_command
from odefs.datasets.transactions import transactions_path
from odefs.exceptions import TableError
from odefs.tables.encoder import learning
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.readers.open import open_table
from odefs.tables.table import table_of

LONG = "x" * 100_000
N = 6000


@pytest.mark.parametrize("folder", [False, True])
def test_two_columns_of_one_name_are_refused(folder, tmp_path):
    column = pa.array([1.0, 2.0, 3.0])
    pq.write_table(pa.table([column, column], names=["v", "v"]), tmp_path / "t.parquet")
    with pytest.raises(TableError, match="'v'"):
        open_table(tmp_path / "t.parquet", folder=tmp_path if folder else None)


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([[LONG]] * N),
        pa.array([{"a": LONG}] * N),
        pa.array([LONG.encode()] * N),
        pa.array([LONG.encode()] * N, pa.binary(len(LONG))),
    ],
    ids=["list", "struct", "binary", "fixed"],
)
def test_one_long_value_in_every_row_is_refused(cells, tmp_path):
    numbers = pa.array(np.arange(N) % 7)
    pq.write_table(pa.table({"n": numbers, "t": cells}), tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 200_000
    with pytest.raises(TableError, match="times the size of the file"):
        open_table(tmp_path / "t.parquet")


def test_values_that_repeat_in_the_table_are_not_free_text_in_a_sample(monkeypatch):
    monkeypatch.setattr(learning, "SAMPLE_ROWS", 300)
    n = 3000
    customers = [f"c{k % 1000:04}" for k in range(n)]
    notes = [f"note {k}" for k in range(n)]
    table = table_of(pa.table({"customer": customers, "note": notes, "x": np.arange(n) % 11}))
    encoder = ColumnEncoder()
    learning.learn_encoder(encoder, table, table.names, 0)
    assert encoder.columns == ["customer", "x"]
    assert encoder.left_out_["note"].kind == "unique_text"


@pytest.mark.parametrize("id", ["", 0])
def test_an_id_that_no_column_has_is_refused(id):
    with pytest.raises(TableError, match="there is no column"):
        odefs.detect(pa.table({"a": np.arange(9.0), "b": np.arange(9.0)}), id=id)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_read_at_once_even_where_files_are_read_in_parts(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(
        target=lambda: (tmp_path / "pipe").write_bytes(transactions_path().read_bytes()),
        daemon=True,
    )
    writer.start()
    done = odefs_command("detect", "pipe", "--no-report", cwd=tmp_path, ODEFS_IN_PARTS="1")
    assert done.returncode == 0, done.stderr
    writer.join(10)
