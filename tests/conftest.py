"""Shared data, and the package as it is built.

Tests that need the paper's datasets skip if ``ODEFS_DATA`` does not name their folder.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from building import copy_sources, run
from odefs.kernels.shared_library import check_kernel_request

# Workers of a local cluster start late on a busy machine. Set before Dask is imported, and for the
# processes of its workers.
for _timeout in ("CONNECT", "TCP"):
    os.environ.setdefault(f"DASK_DISTRIBUTED__COMM__TIMEOUTS__{_timeout}", "300s")


def pytest_configure():
    """Under a kernel that cannot run here every other test would fail: one sentence instead."""
    try:
        check_kernel_request()
    except ValueError as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)


@pytest.fixture
def noisy():
    """500 rows, 30 columns of noise, 15 rows that differ in columns 3 and 4."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 30))
    X[:15, 3:5] += 8
    return X


@pytest.fixture(scope="session")
def dataset():
    """A function from a dataset's name to ``(X, y)``."""
    folder = os.environ.get("ODEFS_DATA")
    if not folder:
        pytest.skip("ODEFS_DATA does not name the folder with the paper's datasets")

    def load(name):
        with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as arrays:
            return arrays["X"], arrays["y"].astype(int)

    return load


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Wheel and sdist."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    copy_sources(source)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source, cwd=out)
    return next(out.glob("*.whl")), next(out.glob("*.tar.gz"))
