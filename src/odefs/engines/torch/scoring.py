"""LeSiNN scores of blocks of rows on the device.

Rows of zeros and ones are multiplied in half precision with sums in float32, which is exact for
them and the fastest on GPUs. All others are multiplied in float64: the expanded square then keeps
the digits that float32 would lose (see :mod:`odefs.kernels.distances`), at the same speed on an
H200.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from odefs.detectors.lesinn import LeSiNNDetector
from odefs.ensemble.model import Component
from odefs.kernels.distances import CANCELLATION_SHARE, SNAP, smallest_gap

MOST_EXACT_COLUMNS = 1000
"""Up to this width, sums of products of zeros and ones, times two, are exact in half precision.

Half precision is exact up to 2048.
"""

PADDING = 128
"""Rows per program of the fused kernel."""

DIRECT_PAIRS = 2**16
"""Pairs of row and subset that are recomputed at a time."""

LOST = CANCELLATION_SHARE[np.dtype(np.float64)]


@dataclass(frozen=True)
class DeviceReferences:
    """A component's references on the device, for products with rows that end with a 1.

    They are laid out as ``[-2 r, |r|^2]``.
    """

    columns: Tensor
    """Numbers of the columns, then that of the line of ones."""
    rows: Tensor
    product: Tensor
    centre: Tensor | None
    root: Tensor | None
    n_subsets: int
    exact: bool
    grid: tuple[Tensor, Tensor] | None = None
    """The two values of each column, if all columns have two and products are not exact."""
    gap: float = np.inf


def is_exact(component: Component) -> bool:
    """Whether products with rows of zeros and ones are exact in half precision."""
    rows = component.state.rows
    return (
        component.w is None
        and rows.shape[1] <= MOST_EXACT_COLUMNS
        and bool(np.all((rows == 0) | (rows == 1)))
    )


def send_references(
    component: Component, n_columns: int, device: torch.device, exact: bool
) -> DeviceReferences:
    """Copy a component's references to the device."""
    rows = torch.from_numpy(np.array(component.state.rows)).to(device, _dtype(device, exact))
    columns = torch.from_numpy(np.append(component.columns, n_columns)).to(device)
    centre = root = None
    if not exact:
        centre = rows.mean(dim=0)
        rows = rows - centre
        if component.w is not None:
            root = torch.from_numpy(np.sqrt(component.w)).to(device)
            rows = rows * root
    norms = rows.square().sum(dim=1, keepdim=True)
    product = torch.cat([rows * -2, norms], dim=1)
    low, high = rows.amin(dim=0), rows.amax(dim=0)
    grid = (
        (low[:, None], high[:, None])
        if not exact and bool(((rows == low) | (rows == high)).all())
        else None
    )
    steps = None if grid is None else (low.cpu().numpy(), high.cpu().numpy())
    return DeviceReferences(
        columns,
        rows,
        product,
        centre,
        root,
        component.state.n_subsets,
        exact,
        grid,
        smallest_gap(steps),
    )


def lay_rows_out(X: Tensor, exact: bool) -> Tensor:
    """Lay rows out column-major, so that a component's columns are gathered as whole lines.

    A line of ones and one of zeros come last. Lines are padded with zeros to a multiple of
    ``PADDING``.
    """
    n_rows, n_columns = X.shape
    shape = (n_columns + 2, -(-n_rows // PADDING) * PADDING)
    lines = torch.zeros(shape, dtype=_dtype(X.device, exact), device=X.device)
    lines[:n_columns, :n_rows] = X.t()
    lines[n_columns] = 1
    return lines


def _dtype(device: torch.device, exact: bool) -> torch.dtype:
    """The type of products; CPUs have no half-precision units."""
    if not exact:
        return torch.float64
    return torch.float16 if device.type == "cuda" else torch.float32


def raw_scores(lines: Tensor, references: DeviceReferences, detector: LeSiNNDetector) -> Tensor:
    """Mean distance to the nearest of each subset, float64, for laid-out rows with padding."""
    picked = _picked(lines, references)
    rows = picked[:-1]
    distances = torch.mm(references.product, picked)
    nearest = distances.view(-1, references.n_subsets, distances.shape[1]).amin(dim=0)
    if references.exact:
        # Before |x|^2 is added, |r|^2 - 2 x.r is an integer within the exact range of half
        # precision. The sum of zeros and ones is |x|^2.
        nearest = nearest.to(torch.float32) + rows.sum(dim=0, dtype=torch.float32)
    else:
        norms = rows.square().sum(dim=0)
        nearest += norms
        _mend(nearest, norms, rows, references)
    if detector.metric == "euclidean":
        nearest = nearest.sqrt_()
    return nearest.sum(dim=0, dtype=torch.float64).div_(references.n_subsets)


def bytes_per_row(detector: LeSiNNDetector, n_columns: int, n_components: int) -> int:
    """Memory for :func:`raw_scores`, the rows themselves and the scores."""
    return 8 * (2 * detector.n_subsets * detector.subset_size + 5 * n_columns + 2 * n_components)


def _picked(lines: Tensor, references: DeviceReferences) -> Tensor:
    """The component's columns on the scale of its references, and the line of ones."""
    picked = lines.index_select(0, references.columns)
    if references.centre is not None:
        picked[:-1].sub_(references.centre[:, None])
        if references.root is not None:
            picked[:-1].mul_(references.root[:, None])
    return picked


def _mend(nearest: Tensor, norms: Tensor, rows: Tensor, references: DeviceReferences) -> None:
    """Recompute squares that lost digits directly.

    Where all columns have two values, rounding noise around zero becomes zero.
    """
    # As in odefs.kernels.distances: squares below this share of |x|^2 have lost too many digits.
    lost = nearest < LOST * norms
    if references.grid is not None:
        low, high = references.grid
        limits = SNAP * rows.shape[0] * norms
        noise = (
            (nearest <= limits)
            & (limits < references.gap / 2)
            & ((rows == low) | (rows == high)).all(dim=0)
        )
        nearest[noise] = 0
        lost &= ~noise
    subset, which = torch.nonzero(lost, as_tuple=True)
    members = references.rows.view(-1, references.n_subsets, references.rows.shape[1])
    for start in range(0, which.shape[0], DIRECT_PAIRS):
        part = slice(start, start + DIRECT_PAIRS)
        x = rows[:, which[part]].t()
        squares = [(member[subset[part]] - x).square().sum(dim=1) for member in members]
        nearest[subset[part], which[part]] = torch.stack(squares).amin(dim=0)
