"""``odefs detect`` and ``score`` on a csv file in parts: memory hardly grows with the rows."""

import sys

import numpy as np
import polars as pl
import pytest

from command import odefs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc"),
]

COLUMNS = 20
FEW, MANY = 300_000, 1_200_000
"""The smaller file fills the buffers of a pass already."""

WATCHED = """
import sys, threading, time
from odefs.cli.main import main

peak = 0

def watch():
    global peak
    while True:
        now = next(line for line in open("/proc/self/status") if line.startswith("RssAnon:"))
        peak = max(peak, int(now.split()[1]) * 1024)
        time.sleep(0.005)

threading.Thread(target=watch, daemon=True).start()
try:
    main()
finally:
    print("peak", peak)
"""


def make_file(n_rows, folder):
    rng = np.random.default_rng(0)
    name = f"{n_rows}.csv"
    pl.DataFrame({f"c{i}": rng.normal(size=n_rows).round(3) for i in range(COLUMNS)}).write_csv(
        folder / name
    )
    return name


def peak_of(n_rows, folder, command, *options):
    """Bytes of memory without file pages, which the system can drop."""
    arguments = (
        *command,
        make_file(n_rows, folder),
        "--quiet",
        "-o",
        f"{n_rows}.out.csv",
        *options,
    )
    # Allocator arenas, many threads and read-ahead of polars take up to 400 MB for a file of 200
    # MB, more than the effect under test.
    settings = {
        "ODEFS_IN_PARTS": "1",
        "MALLOC_ARENA_MAX": "1",
        "OMP_NUM_THREADS": "2",
        "POLARS_MAX_THREADS": "2",
        "POLARS_CSV_CHUNK_SIZE": "2000000",
    }
    done = odefs("-c", WATCHED, *arguments, command=(sys.executable,), cwd=folder, **settings)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


def require_flat(few, many):
    in_memory = 8 * COLUMNS * (MANY - FEW)
    assert many - few < in_memory / 2, (few, many)


def test_four_times_the_rows_take_hardly_more_memory(tmp_path):
    require_flat(*(peak_of(n_rows, tmp_path, ("detect",), "--no-report") for n_rows in (FEW, MANY)))


def test_the_same_under_a_saved_model(tmp_path):
    trained = make_file(5000, tmp_path)
    done = odefs("detect", trained, "--save", "m.odefs", "--quiet", "--no-report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    require_flat(
        *(
            peak_of(n_rows, tmp_path, ("score", "m.odefs"), "--reasons", "none")
            for n_rows in (FEW, MANY)
        )
    )
