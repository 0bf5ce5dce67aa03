"""What the container allows: limits that the kernel's control groups set, of either version, read from their files.

A process lies in a tree of groups and every group above it may limit it too, so all of them are looked at. Inside a container the tree often begins at the
container's own group; paths that do not exist there are passed over.
"""

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path("/")


def memory_left(root: Path = ROOT) -> int | None:
    """Bytes that may still be used before the first limit is met; files in the page cache give way and do not count."""
    left = []
    for folder, name in _memory_files(root, ("memory.max", "memory.limit_in_bytes")):
        limit = _number(folder / name)
        used = _number(folder / ("memory.current" if name == "memory.max" else "memory.usage_in_bytes"))
        # Version 1 writes "no limit" as a number near 2^63.
        if limit is not None and limit < 2**60 and used is not None:
            left.append(max(0, limit - used + _cache(folder / "memory.stat")))
    return min(left, default=None)


@cache
def cpu_quota(root: Path = ROOT) -> int | None:
    """Cores' worth of time that this process's groups may use, rounded up; ``None`` without a limit. Read once: every scored row asks for it."""
    found = []
    for folder in _folders(root, ""):
        words = _text(folder / "cpu.max").split()
        if len(words) == 2 and words[0].isdigit() and int(words[1]) > 0:
            found.append(int(words[0]) / int(words[1]))
    for folder in (part for kind in ("cpu", "cpu,cpuacct", "cpuacct,cpu") for part in _folders(root, kind)):
        quota, period = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
        if quota is not None and quota > 0 and period:
            found.append(quota / period)
    return max(1, math.ceil(min(found))) if found else None


def _memory_files(root: Path, names: tuple[str, str]) -> Iterator[tuple[Path, str]]:
    for kind, name in zip(("", "memory"), names, strict=True):
        for folder in _folders(root, kind):
            yield folder, name


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """The process's group and all above it, for version 2 (``""``) or one controller of version 1."""
    base = root / "sys/fs/cgroup" / controller
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        ours = set(controller.split(",")) <= set(controllers.split(",")) if controller else number == "0"
        if ours:
            place = PurePosixPath(path.lstrip("/"))
            for part in (place, *place.parents):
                if (base / part).is_dir():
                    yield base / part
            return
    if base.is_dir():
        yield base


def _cache(path: Path) -> int:
    """With that of the groups below, as usage is counted: version 1 has a name of its own for it."""
    found = dict(line.split(" ", 1) for line in _text(path).splitlines() if " " in line)
    value = found.get("total_inactive_file", found.get("inactive_file", "")).strip()
    return int(value) if value.isdigit() else 0


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.lstrip("-").isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeError):
        return ""
