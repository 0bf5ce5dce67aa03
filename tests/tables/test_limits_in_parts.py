"""Limits of containers, read from files of both versions of control groups."""

import os
import subprocess
import sys

import pytest

from odefs.system import memory
from odefs.system.cgroups import cpu_quota, memory_left


def fake(root, files):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


V2 = {
    "proc/self/cgroup": "0::/pod/box\n",
    "sys/fs/cgroup/pod/box/memory.max": "max\n",
    "sys/fs/cgroup/pod/box/memory.current": "50\n",
    "sys/fs/cgroup/pod/memory.max": "1000000\n",
    "sys/fs/cgroup/pod/memory.current": "400000\n",
    "sys/fs/cgroup/pod/memory.stat": "anon 1\ninactive_file 100000\n",
    "sys/fs/cgroup/pod/box/cpu.max": "250000 100000\n",
    "sys/fs/cgroup/pod/cpu.max": "max 100000\n",
}
V1 = {
    "proc/self/cgroup": "5:memory:/box\n4:cpu,cpuacct:/box\n0::/\n",
    "sys/fs/cgroup/memory/box/memory.limit_in_bytes": "2000000\n",
    "sys/fs/cgroup/memory/box/memory.usage_in_bytes": "500000\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "7\n",
    "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": "50000\n",
    "sys/fs/cgroup/cpu/box/cpu.cfs_period_us": "100000\n",
    "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
}
# Caches of child groups count too; the mount lists the controllers in another order, without a
# link.
V1_CHILDREN = {
    "proc/self/cgroup": "5:memory:/box\n4:cpuacct,cpu:/box\n",
    "sys/fs/cgroup/memory/box/memory.limit_in_bytes": "1000\n",
    "sys/fs/cgroup/memory/box/memory.usage_in_bytes": "900\n",
    "sys/fs/cgroup/memory/box/memory.stat": "inactive_file 10\ntotal_inactive_file 500\n",
    "sys/fs/cgroup/cpuacct,cpu/box/cpu.cfs_quota_us": "300000\n",
    "sys/fs/cgroup/cpuacct,cpu/box/cpu.cfs_period_us": "100000\n",
}
CONTAINER = {
    # The group's path is the host's, which the container does not see.
    "proc/self/cgroup": "0::/kubepods/burstable/pod1/abc\n",
    "sys/fs/cgroup/memory.max": "3000000\n",
    "sys/fs/cgroup/memory.current": "1000000\n",
    "sys/fs/cgroup/cpu.max": "400000 100000\n",
}


@pytest.mark.parametrize(
    ("files", "left", "cores"),
    [
        (V2, 700_000, 3),
        (V1, 1_500_000, 1),
        (V1_CHILDREN, 600, 3),
        (CONTAINER, 2 * 10**6, 4),
        ({}, None, None),
    ],
    ids=["v2", "v1", "v1-children", "container", "none"],
)
def test_limits(files, left, cores, tmp_path):
    root = fake(tmp_path, files)
    assert (memory_left(root), cpu_quota(root)) == (left, cores)


def test_the_budget(tmp_path, monkeypatch):
    monkeypatch.delenv("ODEFS_MEMORY", raising=False)
    assert memory.memory_budget(tmp_path) == memory.UNKNOWN // 2
    root = fake(tmp_path, {"proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable:    2000000 kB\n"})
    assert memory.memory_budget(root) == 1_024_000_000
    fake(root, V2 | {"sys/fs/cgroup/pod/memory.max": "1000400000\n"})
    assert memory.memory_budget(root) == (1_000_400_000 - 400_000 + 100_000) // 2
    fake(root, V2 | {"sys/fs/cgroup/pod/memory.max": "300000000\n"})
    assert memory.memory_budget(root) == 300_000_000 - 300_000 - memory.BASELINE, (
        "the libraries take most of it"
    )
    fake(root, {"proc/self/status": "RssAnon:\t    1000 kB\n"})
    assert memory.available_memory(root) == 300_000_000 - 300_000 + 1_024_000, (
        "what this process has is its own"
    )
    monkeypatch.setenv("ODEFS_MEMORY", "280MB")
    assert memory.available_memory(root) == 280_000_000
    assert memory.memory_budget(root) == 280_000_000 - memory.BASELINE
    monkeypatch.setenv("ODEFS_MEMORY", "800MB")
    assert memory.available_memory(root) == 300_724_000, "a limit cannot be raised"
    assert [memory.parse_bytes(text) for text in ("1e3", "2 GiB", "1.5k")] == [1000, 2**31, 1500]
    with pytest.raises(ValueError, match="is not a number of bytes"):
        memory.parse_bytes("a lot")
    for text in ("0", "0.5", "1e40"):
        with pytest.raises(ValueError, match="must be between"):
            memory.parse_bytes(text)


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system has no affinity of processes"
)
def test_affinity_counts():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    code += "from odefs.system.threads import available_threads; print(available_threads())"
    settings = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=settings, check=True
    )
    assert done.stdout.strip() == "1"
