"""Columns' shares on the device against those on the processor."""

import numpy as np
import pytest

from odefs.detectors import LeSiNNDetector
from odefs.ensemble.model import Component
from odefs.kernels.nearest_members import total_shares

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'odefs[gpu]'")

from odefs.engines.torch import nearest_members  # noqa: E402


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_shares_of_components_of_any_width_are_found_together(dtype, metric, monkeypatch):
    """All widths, weights and numbers of references; a device with little memory takes parts."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 40)).astype(dtype)
    components = []
    for width in (40, 1, 3, 12, 11, 13, 12, 30):
        detector = LeSiNNDetector(n_subsets=10 if width == 30 else 20, metric=metric)
        columns = np.sort(rng.permutation(40)[:width])
        state = detector.prepare(X[detector.sample(400, rng)][:, columns], rng)
        components.append(
            Component(columns, rng.random(width) if width % 2 else None, state, 1.0, 1.0, 0.0)
        )
    root = metric == "euclidean"
    rows = torch.from_numpy(X[:300])
    together = nearest_members.total_shares(rows, components, root)
    monkeypatch.setattr(nearest_members, "bytes_at_once", lambda device: 1)
    for component, found, alone in zip(
        components, together, nearest_members.total_shares(rows, components, root), strict=True
    ):
        x, r = X[:300, component.columns].astype(float), component.state.rows.astype(float)
        expected = total_shares(x, r, component.state.n_subsets, component.w, root)
        assert (expected is None) == (found is None) == (alone is None)
        if expected is not None:
            np.testing.assert_allclose(found, expected, rtol=1e-9)
            np.testing.assert_allclose(alone, found, rtol=1e-12)
    assert sum(found is not None for found in together) >= 6
