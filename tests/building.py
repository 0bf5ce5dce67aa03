"""Building the package from a copy of the sources, so that the tree stays as it is."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*command, cwd, **kwargs):
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        **kwargs,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copy_sources(folder):
    """The tracked and new files."""
    names = run(
        "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=ROOT
    ).split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())


def build_wheel(source, out, **environment):
    """The finished process; the wheel is in ``out``."""
    line = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source]
    environment = {**os.environ, **environment}
    return subprocess.run(
        [str(part) for part in line],
        env=environment,
        cwd=out,
        capture_output=True,
        text=True,
        check=False,
    )
