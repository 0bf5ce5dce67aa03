"""How much physical memory is free, as each system tells it; what containers allow is found in :mod:`odefs.system.cgroups`."""

import os
import re
import subprocess
import sys
from pathlib import Path

from odefs.system.cgroups import ROOT

GIVES_WAY = ("free", "inactive", "speculative", "purgeable")
"""Pages that macOS hands to whoever asks for memory."""


def available_memory(root: Path = ROOT) -> int | None:
    """Bytes that are free on the machine; ``None`` where the system does not tell. ``root`` is where Linux keeps its ``proc``."""
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
        told = subprocess.run(["vm_stat"], capture_output=True, text=True, check=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    size = re.search(r"page size of (\d+) bytes", told)
    pages = [re.search(rf"^Pages {kind}:\s+(\d+)\.", told, re.MULTILINE) for kind in GIVES_WAY]
    if size is None or pages[0] is None:
        return None
    return int(size[1]) * sum(int(found[1]) for found in pages if found is not None)


def _by_pages() -> int | None:
    """Other systems, where they tell; files in the cache count as used there."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
