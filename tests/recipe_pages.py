"""Pages of ``docs/how-to/recipes`` as steps that can be run in a folder.

A block whose first line is a comment with a file name is written to that file. Blocks marked ``sh``
are run; of blocks marked ``console``, the lines after ``$`` are run, and their standard output must
be what the page shows. Each is run by a shell of its own, with the variables that earlier blocks
export.
"""

import os
import re
import subprocess
from dataclasses import dataclass

from locations import ROOT

FOLDER = ROOT / "docs/how-to/recipes"
SETUP = FOLDER / "index.md"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path != SETUP)
ENVIRONMENT = ROOT / ".venv-recipes"

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
FILE_NAME = re.compile(r"(?:#|--) ([\w/-]+\.\w+)\n")
COMMANDS = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", flags=re.MULTILINE)


@dataclass(frozen=True)
class File:
    name: str
    text: str

    def run(self, folder):
        path = folder / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text, encoding="utf-8")


@dataclass(frozen=True)
class Command:
    line: str
    output: str | None
    """What the page shows; ``None`` if it shows nothing."""

    def run(self, folder):
        done = subprocess.run(
            ["bash", "-ec", self.line],
            cwd=folder,
            env=environment(folder),
            capture_output=True,
            text=True,
            check=False,
        )
        shown = f"{self.line}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == 0, shown
        if self.output is not None:
            assert done.stdout.splitlines() == self.output.splitlines(), shown


def environment(folder):
    """Variables of a process: the environment of the recipes, and a home folder without settings.

    The packages send no statistics of their use.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AIRFLOW_", "DBT_", "MLFLOW_", "PYTEST_", "PYTHON"))
    }
    return kept | {
        "PATH": os.pathsep.join([str(ENVIRONMENT / "bin"), kept["PATH"]]),
        "HOME": str(folder),
        "OPENBLAS_NUM_THREADS": "1",
        "DO_NOT_TRACK": "1",
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "GX_ANALYTICS_ENABLED": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }


def steps_of(page):
    """Files and commands of a page, in their order."""
    found = []
    exports = ""
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        name = FILE_NAME.match(text)
        if name:
            found.append(File(name[1], text))
        elif language == "console":
            commands = COMMANDS.findall(text)
            assert commands, f"{page.name}: a block of commands without '$'"
            found += [Command(exports + line, output) for line, output in commands]
        else:
            assert language == "sh", f"{page.name}: a block without a file name: {text[:60]}"
            found.append(Command(exports + text, None))
            exports += "".join(re.findall(r"^export .*\n", text, flags=re.MULTILINE))
    return found
