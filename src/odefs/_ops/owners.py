"""Which process made a temporary file or folder, told by its name: what a killed process left behind can then be taken away."""

import os
import re
import socket

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

    Containers may have one name and different processes, so the number of the namespace stands behind the name where the system has such.
    """
    name = re.sub(r"[^A-Za-z0-9]", "", socket.gethostname())[:40]
    try:
        return f"{name}n{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return name


def _is_running(process: int) -> bool:
    if os.name != "posix":
        return True  # to ask would be to interrupt it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
