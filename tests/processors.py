"""Arithmetic tests as on other processors: ``python -m tests.processors``, ``make processors``.

OpenBLAS can be told to use the kernels of an older processor, odefs to use any of its instruction
sets. The tests of kernels, distances, determinism and engines are run under each, and next to two
busy processes: they must not notice.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
PRODUCTS = (
    "kernels/test_stable_products",
    "kernels/test_distances",
    "ensemble/test_determinism",
    "engines/test_stream",
)
KERNELS = (
    *("kernels/test_stable_products", "kernels/test_distances", "kernels/test_kernel"),
    "engines/test_stream",
)
"""Tests that depend on BLAS, and on the compiled kernel, which try all instruction sets."""

CORE_TYPES = (
    *(
        "Prescott",
        "Nehalem",
        "Sandybridge",
        "Haswell",
        "Zen",
        "SkylakeX",
        "Cooperlake",
        "Sapphirerapids",
    ),
    *("ARMV8", "NEOVERSEN1", "NEOVERSEV1"),
)
BUSY_PROCESSES = 2

PROBE = """
import json, numpy, threadpoolctl
for dtype in "fd":
    a = numpy.random.default_rng(0).random((200, 200)).astype(dtype)
    assert numpy.allclose(a @ a, numpy.einsum("ij,jk->ik", a, a), rtol=1e-3)
pools = threadpoolctl.threadpool_info()
print(json.dumps([pool.get("architecture") for pool in pools if pool["user_api"] == "blas"]))
"""


def core_types() -> list[str]:
    """Core types that OpenBLAS can emulate here: the probe runs, with kernels not seen before."""
    found: dict[str, str] = {}
    for name in CORE_TYPES:
        probe = subprocess.run(
            [sys.executable, "-c", PROBE],
            env={**os.environ, "OPENBLAS_CORETYPE": name},
            capture_output=True,
            text=True,
            check=False,
        )
        # An instruction that the processor lacks ends the probe.
        if probe.returncode == 0:
            architectures = [one for one in json.loads(probe.stdout) if one]
            if architectures:
                found.setdefault(architectures[0], name)
    return list(found.values())


def settings() -> Iterator[tuple[str, str, bool, tuple[str, ...]]]:
    """Core type, kernel, whether the machine is kept busy, and the tests, for each run."""
    from odefs.kernels.shared_library import levels_here

    for core_type in core_types():
        yield core_type, "numpy", False, PRODUCTS
    for kernel in levels_here():
        yield "", kernel, False, ("ensemble/test_determinism",)
    for kernel in ("numpy", "auto"):
        yield "", kernel, True, KERNELS


@contextmanager
def busy(n_processes: int) -> Iterator[None]:
    """Processes that compute for nobody."""
    processes = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_processes)
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main() -> int:
    line = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "auto",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
    ]
    failed = 0
    for core_type, kernel, is_busy, tests in settings():
        files = [str(ROOT / "tests" / f"{name}.py") for name in tests]
        environment = {**os.environ, "ODEFS_KERNEL": kernel}
        if core_type:
            environment["OPENBLAS_CORETYPE"] = core_type
        start = time.monotonic()
        with busy(BUSY_PROCESSES if is_busy else 0):
            done = subprocess.run(
                [*line, *files],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
        summary = done.stdout.strip().splitlines()[-1:] or [done.stderr.strip()]
        described = (
            f"OpenBLAS {core_type or 'as it is'}, kernel "
            f"{kernel}{', busy machine' if is_busy else ''}"
        )
        print(
            f"{described}: {summary[0].strip('= ')} [{time.monotonic() - start:.0f} s]", flush=True
        )
        if done.returncode:
            failed += 1
            print(done.stdout + done.stderr, flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
