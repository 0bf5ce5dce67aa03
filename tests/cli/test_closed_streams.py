"""The command with closed standard streams, as under cron, and with an invalid screen width."""

import shutil
import subprocess

import pytest

from command import ODEFS, messages, odefs, read

sh = pytest.mark.skipif(shutil.which("sh") is None, reason="streams are closed by a shell")


def in_shell(command, cwd):
    return subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=False, cwd=cwd
    )


@sh
@pytest.mark.parametrize("closed", [">&-", "--quiet >&-", "--quiet >&- 2>&-"])
def test_a_closed_output_fails_no_run(closed, tmp_path):
    done = in_shell(f'"{ODEFS}" detect --no-report -o s.csv {closed}', tmp_path)
    assert (done.returncode, "Error" in done.stderr) == (0, False)
    assert len(read(tmp_path / "s.csv")) > 100


@sh
def test_a_closed_input_is_told_in_a_sentence(tmp_path):
    done = in_shell(f'"{ODEFS}" detect - <&-', tmp_path)
    assert done.returncode == 1
    assert messages(done) == [
        "odefs: standard input is closed: name a file, or pass the table through a pipe."
    ]


@pytest.mark.slow
@pytest.mark.parametrize("width", ["0", "-5", "wide"])
def test_a_width_that_is_none_counts_as_unset(width, tmp_path):
    done = odefs("detect", "--no-report", cwd=tmp_path, COLUMNS=width)
    assert done.returncode == 0
    assert "distance_km = 9500.3" in done.stdout
    assert max(map(len, done.stdout.splitlines())) > 120, "what reads a pipe wants whole lines"
