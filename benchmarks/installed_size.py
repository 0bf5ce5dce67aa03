"""Size of ``odefs[cli,report]`` with all its dependencies, installed into a fresh environment."""

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

from benchmarks.result import Result

ROOT = Path(__file__).parent.parent
SOURCES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
EXTRAS = "cli,report"
MAX_MEGABYTES = 650
INSTALLERS = frozenset(["pip", "setuptools", "wheel"])
"""Packages that the environment brings with it."""
NAMED = 8
"""Number of packages to list."""


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        sizes = package_sizes(_installed(Path(folder)))
    total = sum(sizes.values()) / 2**20
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:NAMED]
    named = ", ".join(f"{name} {n_bytes / 2**20:.0f}" for name, n_bytes in largest)
    return [
        Result(
            f"installed size of odefs[{EXTRAS}] with its {len(sizes) - 1} dependencies",
            f"{total:.0f} MB ({named})",
            f"under {MAX_MEGABYTES} MB",
            total < MAX_MEGABYTES,
        )
    ]


def _installed(folder: Path) -> Path:
    """Install a copy of the sources, so that the checkout gets no build files."""
    source, environment = folder / "source", folder / "environment"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    for name in SOURCES:
        shutil.copy(ROOT / name, source)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    command = [python, "-m", "pip", "install", "--quiet", f"{source}[{EXTRAS}]"]
    subprocess.run(command, check=True)
    return next(environment.rglob("site-packages"))


def package_sizes(site_packages: Path) -> dict[str, int]:
    """Bytes on disk of each installed package, compiled files included, without installers."""
    found = {}
    for package in distributions(path=[str(site_packages)]):
        name = package.metadata["Name"]
        if name not in INSTALLERS:
            files = {Path(str(package.locate_file(file))) for file in package.files or []}
            found[name] = sum(_on_disk(file) for file in files if file.is_file())
    return found


def _on_disk(file: Path) -> int:
    """Size in whole blocks, as ``du`` counts it, where the system knows them."""
    status = file.stat()
    blocks = getattr(status, "st_blocks", None)
    return status.st_size if blocks is None else 512 * blocks
