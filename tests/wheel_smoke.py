"""Smoke test of an installed wheel with only the core dependencies, run by the wheel workflow.

``ODEFS_REQUIRE_KERNEL=1`` requires the compiled kernel. Run it outside the root of the repository,
whose ``src`` is not on the path.
"""

import importlib.metadata
import os
import tempfile
from pathlib import Path

import numpy as np

import odefs
from odefs.kernels.shared_library import describe_kernel


def outlier_scores(X: np.ndarray, kernel: str) -> np.ndarray:
    os.environ["ODEFS_KERNEL"] = kernel
    return odefs.LeSiNN(random_state=0).fit(X).outlier_scores_


def main() -> None:
    assert odefs.__version__ == importlib.metadata.version("odefs")
    kernel = describe_kernel()
    print(f"odefs {odefs.__version__}, kernel: {kernel}")

    X = np.random.default_rng(0).normal(size=(1000, 30))
    X[:10, 3] += 9
    if os.environ.get("ODEFS_REQUIRE_KERNEL") == "1":
        assert kernel.startswith("compiled"), kernel
        np.testing.assert_allclose(
            outlier_scores(X, "compiled"), outlier_scores(X, "numpy"), rtol=1e-6
        )
        del os.environ["ODEFS_KERNEL"]

    model = odefs.ODEFS(random_state=0).fit(X)
    assert set(np.argsort(-model.outlier_scores_)[:10]) == set(range(10))
    assert model.explain(X[:1]).reasons(0)[0][0].column == "x3"

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.odefs"
        model.save(path)
        np.testing.assert_array_equal(odefs.load(path).score_samples(X), model.score_samples(X))


if __name__ == "__main__":
    main()
