"""What is installed and in use, for bug reports."""

import platform
import sys
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "odefs",
    "numpy",
    "scipy",
    "scikit-learn",
    "threadpoolctl",
    "joblib",
    "click",
    "rich",
    "polars",
    "pyod",
    "onnx",
    "onnxruntime",
    "shap",
    "torch",
)


def collect_versions() -> dict[str, str]:
    """Versions of Python and the packages, the BLAS and the kernel in use, and the number of threads."""
    found = {"python": sys.version.split()[0], "platform": platform.platform()}
    for package in PACKAGES:
        found[package] = _version(package)
    from threadpoolctl import threadpool_info

    from odefs._ops.kernel import describe_kernel
    from odefs._ops.threads import available_threads

    import_module("numpy")  # its BLAS shows up only once it is loaded
    blas = {f"{pool['internal_api']} {pool['version']}" for pool in threadpool_info() if pool["user_api"] == "blas"}
    found["blas"] = ", ".join(sorted(blas)) or "unknown"
    found["threads"] = str(available_threads())
    found["kernel"] = describe_kernel()
    return found


@cache
def _version(package: str) -> str:
    """Looked up once: it reads and parses a file, and every detection asks."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def processor_name() -> str:
    """The processor as the system names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def show_versions() -> None:
    """Print what :func:`collect_versions` finds."""
    versions = collect_versions()
    width = max(map(len, versions))
    print("\n".join(f"{name:<{width}}  {value}" for name, value in versions.items()))
