"""Options on the content of output files are refused if no such file is written."""

import pytest

from command import messages, odefs
from odefs.datasets.transactions import transactions_path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "t.csv").write_bytes(transactions_path().read_bytes())
    done = odefs(
        *("detect", "t.csv", "--save", "m.odefs", "--no-report", "--quiet"),
        *("--set", "n_estimators=2"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return folder


COMMANDS = {
    "detect": ("detect", "t.csv", "--no-report", "--set", "n_estimators=2"),
    "score": ("score", "m.odefs", "t.csv"),
}
LACKING = [
    ("--with-data",),
    ("--reasons", "all"),
    ("--reasons", "none"),
    ("--excel",),
    ("--raw",),
    ("--raw", "-o", "o.parquet"),
    ("--excel", "-o", "o.ndjson"),
    ("--excel", "-o", "o.xlsx"),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("options", LACKING, ids=" ".join)
def test_an_option_without_its_output_is_refused(command, options, folder):
    before = set(folder.iterdir())
    done = odefs(*COMMANDS[command], *options, cwd=folder)
    assert done.returncode == 2
    assert any(options[0] in line for line in messages(done))
    assert done.stdout == ""
    assert set(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("detect", ("--raw", "--excel", "--checks-out", "c.csv", "-o", "o.parquet")),
        ("detect", ("--raw", "--reasons", "none", "--with-data", "-o", "-")),
        ("score", ("--excel", "--raw", "--reasons", "none", "-o", "o.TSV")),
    ],
)
def test_an_option_with_its_output_is_taken(command, options, folder):
    done = odefs(*COMMANDS[command], "--force", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
