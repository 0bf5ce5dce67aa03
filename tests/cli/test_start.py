"""What the commands import: scikit-learn and scipy take most of a start, and none needs them."""

import json
import os
import subprocess
import sys

import pytest

from odefs.datasets.transactions import transactions_path
from odefs.system.threads import usable_cores

SCRIPT = """
import json, sys
sys.argv = ["odefs", *sys.argv[1:]]
from odefs.cli.main import main
try:
    main()
except SystemExit as end:
    code = end.code
print(json.dumps({"code": code, "modules": sorted(sys.modules)}), file=sys.stderr)
"""
HEAVY = {
    *("sklearn", "scipy", "pandas", "rich", "altair", "matplotlib", "joblib"),
    *("duckdb", "adbc_driver_manager", "sqlite3", "odefs.tables.readers.sources.downloads"),
}


REVIEW = """
from odefs.review_page import server
async def show_one_row(listening, settings):
    listening.close()
    settings["session"].state()
server._serve = show_one_row
"""


def run(*arguments, cwd, before=""):
    line = [sys.executable, "-c", before + SCRIPT, *map(str, arguments)]
    done = subprocess.run(line, cwd=cwd, capture_output=True, text=True, check=True)
    return json.loads(done.stderr.splitlines()[-1])


@pytest.mark.parametrize("command", ["detect", "score", "explain", "report"])
def test_no_command_imports_what_it_does_not_need(command, tmp_path):
    first = run("detect", "--save", "m.odefs", "-o", "s.parquet", "--quiet", cwd=tmp_path)
    arguments = {
        "score": ("m.odefs", transactions_path(), "-o", "t.csv"),
        "explain": ("m.odefs", transactions_path()),
        "report": ("m.odefs", transactions_path(), "-o", "page.html"),
    }
    found = (
        first if command == "detect" else run(command, *arguments[command], "--quiet", cwd=tmp_path)
    )
    assert found["code"] in (0, None)
    assert HEAVY.isdisjoint(found["modules"])


def test_the_review_imports_no_more(tmp_path):
    found = run("review", "--no-browser", "--quiet", cwd=tmp_path, before=REVIEW)
    assert found["code"] in (0, None)
    assert HEAVY.isdisjoint(found["modules"])


BLAS_THREADS = """
import sys
sys.argv = ["odefs", "--version"]
import _odefs_start
try:
    _odefs_start.main()
except SystemExit:
    pass
import numpy
from threadpoolctl import threadpool_info
print(*(pool["num_threads"] for pool in threadpool_info() if pool["internal_api"] == "openblas"))
"""


@pytest.mark.parametrize("given", [None, "2"])
def test_threads_of_openblas_are_those_of_the_user_or_one(given, tmp_path):
    """They would wait in a busy loop next to the threads of odefs."""
    environment = {name: text for name, text in os.environ.items() if "NUM_THREADS" not in name}
    if given is not None:
        environment["OPENBLAS_NUM_THREADS"] = given
    line = [sys.executable, "-c", BLAS_THREADS]
    done = subprocess.run(
        line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    numbers = done.stdout.splitlines()[1].split()
    if not numbers:
        pytest.skip("NumPy has another BLAS here")
    # OpenBLAS starts no more threads than there are cores.
    expected = 1 if given is None else min(int(given), usable_cores())
    assert set(numbers) == {str(expected)}
