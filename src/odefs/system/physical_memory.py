"""Free physical memory, as reported by each operating system.

Container limits are read by :mod:`odefs.system.cgroups`.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from odefs.system.cgroups import ROOT

GIVES_WAY = ("free", "inactive", "speculative", "purgeable")
"""Kinds of pages that macOS can reclaim at once."""


def available_memory(root: Path = ROOT) -> int | None:
    """Return the free bytes of the machine, or ``None`` if the system does not report them.

    ``root`` is the folder that contains ``proc`` on Linux.
    """
    if sys.platform == "win32":
        from odefs.system import windows

        return windows.available_memory()
    if sys.platform == "darwin":
        return _on_macos()
    return _on_linux(root) or (_by_pages() if root == ROOT else None)


def _on_linux(root: Path) -> int | None:
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _on_macos() -> int | None:
    try:
        report = subprocess.run(
            ["vm_stat"], capture_output=True, text=True, check=True, timeout=10
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    size = re.search(r"page size of (\d+) bytes", report)
    pages = [re.search(rf"^Pages {kind}:\s+(\d+)\.", report, re.MULTILINE) for kind in GIVES_WAY]
    if size is None or pages[0] is None:
        return None
    return int(size[1]) * sum(int(found[1]) for found in pages if found is not None)


def _by_pages() -> int | None:
    """Return the free memory of other systems, if reported; cached files count as used there."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
