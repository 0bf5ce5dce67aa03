"""Memory budget of a run: free memory of the machine and the container, or ``ODEFS_MEMORY``."""

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

from odefs.system.cgroups import ROOT, memory_left

TABLE_SHARE = 0.5
"""Share of the free memory that a table may use; other programs need some as well."""

UNKNOWN = 4 * 2**30
"""Assumed free memory if the system does not report it."""

BASELINE = 260 * 10**6
"""Resident memory of a process that has loaded the libraries and read a small table."""

UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}

FRUGAL = {
    "POLARS_MAX_THREADS": "1",
    "POLARS_CSV_CHUNK_SIZE": "500000",
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Settings of the readers that trade speed for memory: each thread reads ahead, and each allocator
retains freed pages.
"""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""Parameters of ``mallopt`` in glibc."""


def memory_budget(root: Path = ROOT) -> int:
    """Return the bytes that a table may use, in addition to the libraries."""
    free = free_memory(root)
    if configured_limit() is not None:
        return max(0, available_memory(root) - BASELINE)
    # The second bound matters if little is free and the libraries are not loaded yet.
    return max(0, min(int(TABLE_SHARE * free), free + resident_memory(root) - BASELINE))


def available_memory(root: Path = ROOT) -> int:
    """Return the bytes that this process may use in total, including what it already uses."""
    named = configured_limit()
    free = free_memory(root) + resident_memory(root)
    return free if named is None else min(named, free)


def configured_limit() -> int | None:
    """Return the limit set by ``ODEFS_MEMORY``, or ``None``."""
    named = os.environ.get("ODEFS_MEMORY", "").strip()
    return parse_bytes(named) if named else None


def free_memory(root: Path = ROOT) -> int:
    """Return the free memory of the machine in bytes, at most what the container still allows."""
    left = memory_left(root)
    on_machine = free_on_machine(root) or UNKNOWN
    return on_machine if left is None else min(left, on_machine)


def resident_memory(root: Path = ROOT) -> int:
    """Return this process's anonymous memory in bytes (no files); 0 if the system does not report
    it.
    """
    return _kilobytes(root / "proc/self/status", "RssAnon:") or 0


def parse_bytes(text: str) -> int:
    """Parse a number of bytes such as ``800MB``, ``2GiB`` or ``1e9``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\d+)?)\s*([kmgt]?i?)b?", text.strip().lower())
    if found is None or found[2] not in UNITS:
        raise ValueError(
            f"ODEFS_MEMORY={text!r} is not a number of bytes: write 800MB, 2GiB or 1e9."
        )
    n_bytes = float(found[1]) * UNITS[found[2]]
    if not 1 <= n_bytes < 2**63:
        raise ValueError(
            f"ODEFS_MEMORY={text!r} must be between 1 byte and 8 EiB: write 800MB, 2GiB or 1e9."
        )
    return int(n_bytes)


def reduce_reader_memory(kept: int = 2**19) -> None:
    """Make this process use less memory, above all its file readers.

    Freed memory goes back to the system in pieces of more than ``kept`` bytes: the fewer, the less
    memory is used, and the more often the system must clear it.

    Environment variables that are already set are kept; libraries that are already loaded are
    configured directly.
    """
    for name, value in FRUGAL.items():
        os.environ.setdefault(name, value)
    if "pyarrow" in sys.modules and os.environ["ARROW_DEFAULT_MEMORY_POOL"] == "system":
        pyarrow = sys.modules["pyarrow"]
        pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        for parameter, most in (
            # One heap for all threads, since each keeps freed pages for itself.
            (M_ARENA_MAX, 1),
            (M_MMAP_THRESHOLD, kept),
            (M_TRIM_THRESHOLD, kept),
        ):
            if mallopt is not None:
                mallopt(parameter, most)


def _kilobytes(path: Path, field: str) -> int | None:
    try:
        for line in path.read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


GIVES_WAY = ("free", "inactive", "speculative", "purgeable")
"""Kinds of pages that macOS can reclaim at once."""


def free_on_machine(root: Path = ROOT) -> int | None:
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
