"""Which process made a temporary file or folder, told by its name: what a killed process left behind can then be taken away."""

import contextlib
import os
import re
import socket
import sys
import zlib
from pathlib import Path

OWNER = r"(?P<machine>[A-Za-z0-9]*)-(?P<process>[0-9]{1,9})"
"""The pattern of :func:`owner`."""


def owner() -> str:
    """This process, as names of files have it."""
    return f"{machine()}-{os.getpid()}"


def is_left_behind(found: re.Match[str]) -> bool:
    """Whether a name that matched ``OWNER`` is of a process of this machine that is gone."""
    return found["machine"] == machine() and not _is_running(int(found["process"]))


def machine() -> str:
    """Folders may be shared by machines and by containers, and a number of a process means something only where it was given.

    Machines may have one name, and containers one name and different processes, so the machine's own number and that of the namespace stand behind the name where the
    system has such.
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
            raise OSError("the system does not tell its number")
        return found.raw
    return Path("/etc/machine-id").read_bytes()


def _is_running(process: int) -> bool:
    if sys.platform == "win32":
        from odefs.system import windows

        return windows.is_running(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
