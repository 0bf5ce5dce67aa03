"""Container limits: memory and CPU limits of Linux control groups, versions 1 and 2.

A process is in a tree of groups, and every group above it may limit it too, so all of them are
read. Inside a container the tree often starts at the container's own group; paths that do not exist
there are skipped.
"""

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path("/")


def memory_left(root: Path = ROOT) -> int | None:
    """Return the bytes that may still be used before the first limit is reached.

    File pages in the cache can be reclaimed and do not count as used.
    """
    left = []
    for folder, name in _memory_files(root, ("memory.max", "memory.limit_in_bytes")):
        limit = _number(folder / name)
        used = _number(
            folder / ("memory.current" if name == "memory.max" else "memory.usage_in_bytes")
        )
        # Version 1 writes "no limit" as a number near 2^63.
        if limit is not None and limit < 2**60 and used is not None:
            left.append(max(0, limit - used + _cache(folder / "memory.stat")))
    return min(left, default=None)


@cache
def cpu_quota(root: Path = ROOT) -> int | None:
    """Return the CPU limit of this process in cores, rounded up; ``None`` if unlimited.

    Cached, because every call that scores rows reads it.
    """
    found = [*_quotas_of_version_2(root), *_quotas_of_version_1(root)]
    # Rounded up: half a core still needs one thread, and 1.5 cores keep two busy.
    return max(1, math.ceil(min(found))) if found else None


def _quotas_of_version_2(root: Path) -> Iterator[float]:
    for folder in _folders(root, ""):
        # "max 100000" has no limit, "200000 100000" two cores.
        words = _text(folder / "cpu.max").split()
        if len(words) == 2 and words[0].isdigit() and int(words[1]) > 0:
            yield int(words[0]) / int(words[1])


def _quotas_of_version_1(root: Path) -> Iterator[float]:
    for controller in ("cpu", "cpu,cpuacct", "cpuacct,cpu"):
        for folder in _folders(root, controller):
            quota = _number(folder / "cpu.cfs_quota_us")
            period = _number(folder / "cpu.cfs_period_us")
            if quota is not None and quota > 0 and period:
                yield quota / period


def _memory_files(root: Path, names: tuple[str, str]) -> Iterator[tuple[Path, str]]:
    for kind, name in zip(("", "memory"), names, strict=True):
        for folder in _folders(root, kind):
            yield folder, name


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """Yield the group of this process and all groups above it.

    ``controller`` is ``""`` for version 2, or the name of a controller of version 1.
    """
    base = root / "sys/fs/cgroup" / controller
    for line in _text(root / "proc/self/cgroup").splitlines():
        # Lines are number:controllers:path; paths may contain colons.
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        is_listed = (
            set(controller.split(",")) <= set(controllers.split(","))
            if controller
            else number == "0"
        )
        if is_listed:
            group = PurePosixPath(path.lstrip("/"))
            for part in (group, *group.parents):
                if (base / part).is_dir():
                    yield base / part
            return
    if base.is_dir():
        yield base


def _cache(path: Path) -> int:
    """Return the bytes of reclaimable file pages, including those of the groups below, as usage
    does.

    Version 1 has a separate name for this sum.
    """
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
