"""Whether a table is read at once, in parts, or rejected, depending on the memory.

Measured in containers if these can be created.
"""

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from command import messages
from measured import control_group, measured
from odefs.cli.run import is_large, require_memory
from odefs.exceptions import TableError
from odefs.tables.readers.memory_estimate import bytes_in_memory, least_memory

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="limits and peaks are those of Linux"
)

KEPT = 1.25
"""Peaks stay below this many times the limit."""


def make_file(path, n_rows, n_columns=10):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"c{k}": rng.normal(size=n_rows).round(4) for k in range(n_columns)})
    getattr(frame, f"write_{path.suffix[1:]}")(path)
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A csv file of 78 MB."""
    return make_file(tmp_path_factory.mktemp("plan") / "t.csv", 1_000_000)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("100MB", None), ("370MB", None), ("400MB", True), ("600MB", True), ("1GB", False)],
)
def test_plans(limit, expected, table, monkeypatch):
    monkeypatch.setattr("odefs.system.memory.reduce_reader_memory", lambda kept=0: None)
    monkeypatch.setenv("ODEFS_MEMORY", limit)
    if expected is None:
        with pytest.raises(
            TableError, match=r"needs at least 3\d\d MB of memory.* by ODEFS_MEMORY"
        ):
            is_large(str(table))
    else:
        assert is_large(str(table)) is expected


def test_containers_count(table, monkeypatch):
    monkeypatch.delenv("ODEFS_MEMORY", raising=False)
    monkeypatch.setattr("odefs.system.memory.reduce_reader_memory", lambda kept=0: None)
    monkeypatch.setattr("odefs.system.memory.resident_memory", lambda root: 10**6)
    for left, expected in ((300, None), (420, True), (3000, False)):
        monkeypatch.setattr("odefs.system.memory.memory_left", lambda root, left=left: left * 10**6)
        if expected is None:
            with pytest.raises(TableError, match="only 301 MB are available"):
                is_large(str(table))
        else:
            assert is_large(str(table)) is expected


def test_files_that_cannot_be_read_in_parts_need_more(table, monkeypatch):
    monkeypatch.setenv("ODEFS_MEMORY", "500MB")
    require_memory(str(table))
    with pytest.raises(TableError, match="this run needs about"):
        require_memory(str(table), whole=True)


def test_estimates(table, tmp_path):
    """A run in memory took 35 bytes a cell beyond the libraries."""
    assert bytes_in_memory(table) >= 35 * 10**7
    wide = make_file(tmp_path / "wide.csv", 10_000, 100)
    assert least_memory(wide) < least_memory(table) < 400 * 10**6, "small tables are read at once"
    assert bytes_in_memory(make_file(tmp_path / "t.parquet", 1000)) == 35 * 10_000


def test_small_files_that_become_large_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setenv("ODEFS_MEMORY", "100GB")
    pl.DataFrame({"a": np.zeros(4_000_000), "b": np.zeros(4_000_000)}).write_parquet(
        tmp_path / "t.parquet"
    )
    assert is_large(str(tmp_path / "t.parquet"))
    make_file(tmp_path / "u.parquet", 100_000)
    assert not is_large(str(tmp_path / "u.parquet"))


def test_the_command_says_so(tmp_path):
    make_file(tmp_path / "t.csv", 1000)
    done = measured("detect", "t.csv", "--no-report", cwd=tmp_path, ODEFS_MEMORY="100MB")
    assert (done.returncode, done.stdout) == (1, "")
    assert len(messages(done)) == 1
    needs = "t.csv: this run needs at least 261 MB of memory"
    assert f"{needs}, but only 100 MB are allowed by ODEFS_MEMORY." in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("limit", [200, 300, 400])
def test_a_container_gets_an_answer_or_a_sentence(limit, table, tmp_path):
    try:
        with control_group(limit * 10**6) as group:
            done = measured(
                "detect",
                table,
                "--quiet",
                "-o",
                "out.csv",
                "--no-report",
                cwd=tmp_path,
                group=group,
            )
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    if limit >= 400:
        assert done.returncode == 0, done
        assert len(Path(tmp_path / "out.csv").read_text().splitlines()) == 1_000_001
    else:
        assert done.returncode == 1, done
        assert "this run needs at least" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet", "ndjson"])
@pytest.mark.parametrize("limit", [400, 600, 1000])
def test_the_limit_is_kept(suffix, limit, tmp_path):
    make_file(tmp_path / f"t.{suffix}", 600_000)
    done = measured(
        "detect", f"t.{suffix}", "--quiet", "--no-report", cwd=tmp_path, ODEFS_MEMORY=f"{limit}MB"
    )
    assert done.returncode == 0, done
    assert done.peak < KEPT * limit * 10**6, done.peak
