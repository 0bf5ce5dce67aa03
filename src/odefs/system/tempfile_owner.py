"""Temporary files and folders of a process: its name in theirs, and a registry of unfinished ones.

Files left behind by a killed process can then be recognised and deleted.
"""

import contextlib
import os
import re
import shutil
import socket
import sys
import zlib
from pathlib import Path

OWNER = r"(?P<machine>[A-Za-z0-9]*)-(?P<process>[0-9]{1,9})"
"""Pattern of the names that :func:`owner` returns."""


def owner() -> str:
    """Return the name of this process for use in file names."""
    return f"{machine()}-{os.getpid()}"


def is_left_behind(found: re.Match[str]) -> bool:
    """Return whether a match of ``OWNER`` names a process of this machine that has ended."""
    return found["machine"] == machine() and not _is_running(int(found["process"]))


def machine() -> str:
    """Return a name for the machine, and for the container if there is one.

    Folders may be shared by machines and containers, and a process number is meaningful only where
    it was assigned. Host names are not unique, and containers with one host name may have separate
    processes, so the machine id and the process namespace are appended if the system has them.
    """
    name = re.sub(r"[^A-Za-z0-9]", "", socket.gethostname())[:40]
    with contextlib.suppress(OSError, AttributeError):
        name += f"m{zlib.crc32(_machine_id()):08x}"
    with contextlib.suppress(OSError):
        name += f"n{os.stat('/proc/self/ns/pid').st_ino}"
    return name


def _machine_id() -> bytes:
    if sys.platform == "win32":
        from odefs.system import windows

        return windows.machine_id()
    if sys.platform == "darwin":
        import ctypes

        found, no_limit = ctypes.create_string_buffer(16), (ctypes.c_long * 2)(1, 0)
        if ctypes.CDLL(None).gethostuuid(found, no_limit):
            raise OSError("the system does not report a machine id")
        return found.raw
    return Path("/etc/machine-id").read_bytes()


def _is_running(process: int) -> bool:
    if sys.platform == "win32":
        from odefs.system import windows

        return windows.is_running(process)
    try:
        # Signal 0 only checks. An error other than ProcessLookupError means that the process exists
        # and belongs to another user.
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


ATTEMPTS = 5
"""Number of attempts: other threads may write into a folder while it is removed."""

_paths: dict[Path, int] = {}


def register(path: Path) -> None:
    """Register a temporary file or folder of this process, which must not outlive it.

    Its creator normally removes it. A signal handler that cannot raise an exception removes the
    rest before it ends the process.
    """
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
