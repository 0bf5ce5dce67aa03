"""Registry of temporary files and folders that must not outlive the process.

Each is registered when it is created, and normally removed by its creator. A signal handler that
cannot raise an exception removes the rest before it ends the process.
"""

import contextlib
import os
import shutil
from pathlib import Path

ATTEMPTS = 5
"""Number of attempts: other threads may write into a folder while it is removed."""

_paths: dict[Path, int] = {}


def register(path: Path) -> None:
    """Register a temporary file or folder of this process."""
    _paths[path] = os.getpid()


def forget(path: Path) -> None:
    """Unregister a path that was removed or renamed."""
    _paths.pop(path, None)


def remove_unfinished() -> None:
    """Remove every registered path of this process; a forked child leaves its parent's alone."""
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
