"""Versions of installed packages and the kernel in use, for bug reports."""

import platform
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

PACKAGES = (
    "odefs",
    "numpy",
    "scipy",
    "scikit-learn",
    "threadpoolctl",
    "joblib",
    "click",
    "polars",
    "duckdb",
    "adbc-driver-postgresql",
    "pyod",
    "onnx",
    "onnxruntime",
    "shap",
    "torch",
)


@cache
def version_of(package: str) -> str:
    """Return the version of a package.

    Cached: whenever a folder of its path has changed, Python lists its packages again and keeps
    every list.
    """
    try:
        found = distribution(package)
    except PackageNotFoundError:
        return "not installed"
    # ``found.version`` parses all of the metadata as a mail, which takes milliseconds a package.
    line = re.search(r"^Version: *(\S+)", found.read_text("METADATA") or "", re.MULTILINE)
    return found.version if line is None else line[1]


def versions_of(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of packages, and of Python if it is among the names."""
    python = sys.version.split()[0]
    return {name: python if name == "python" else version_of(name) for name in names}


def collect_versions() -> dict[str, str]:
    """Return the versions of Python and packages, the BLAS and kernel in use, and the threads."""
    found = versions_of(["python"]) | {"platform": platform.platform()} | versions_of(PACKAGES)
    from threadpoolctl import threadpool_info

    from odefs.kernels.shared_library import describe_kernel
    from odefs.system.threads import available_threads

    import_module("numpy")  # its BLAS shows up only once it is loaded
    blas = {
        f"{pool['internal_api']} {pool['version']}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    found["blas"] = ", ".join(sorted(blas)) or "unknown"
    found["threads"] = str(available_threads())
    found["kernel"] = describe_kernel()
    return found


def processor_name() -> str:
    """Return the processor name that the system reports."""
    try:
        # platform.processor() is empty or only names the architecture on Linux.
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def show_versions() -> None:
    """Print the result of :func:`collect_versions`."""
    versions = collect_versions()
    width = max(map(len, versions))
    print("\n".join(f"{name:<{width}}  {value}" for name, value in versions.items()))
