"""What the commands import: scikit-learn and scipy take most of a start, and none needs them."""

import json
import subprocess
import sys

import pytest

from odefs.datasets.transactions import transactions_path

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
    *("sklearn", "scipy", "pandas", "altair", "matplotlib", "joblib"),
    *("duckdb", "adbc_driver_manager", "sqlite3", "odefs.tables.readers.remote_files"),
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
