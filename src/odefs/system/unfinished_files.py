"""Files and folders that must not outlive the process: removed by whoever ends it without unwinding the stack.

Each is registered where it is made and removed there as a rule; a signal handler that cannot raise an exception removes the rest.
"""

import contextlib
import os
import shutil
from pathlib import Path

ATTEMPTS = 5
"""Other threads may write into a folder while it is removed."""

_paths: dict[Path, int] = {}


def register(path: Path) -> None:
    """Note a temporary file or folder of this process."""
    _paths[path] = os.getpid()


def forget(path: Path) -> None:
    """Take back what was noted: the path was removed or renamed."""
    _paths.pop(path, None)


def remove_unfinished() -> None:
    """Remove every registered path of this process; a forked child leaves those of its parent alone."""
    for path, maker in list(_paths.items()):
        if maker == os.getpid():
            _remove(path)
            forget(path)


def _remove(path: Path) -> None:
    for _ in range(ATTEMPTS):
        with contextlib.suppress(OSError):
            if not path.is_dir():
                path.unlink()
                return
            shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path):
            return
