"""Launching the fused kernel: components of zeros and ones, laid out for one or two launches."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from odefs.engines.torch.scoring import PADDING
from odefs.ensemble.model import Component

BLOCK_ROWS = PADDING
FEWEST_COLUMNS, BLOCK_COLUMNS = 16, 128
"""Bounds between which widths are rounded up to a power of two, above to a multiple of the second.

Every such width is a separate kernel, compiled on first use.
"""

MOST_SUBSETS = 64
"""More would not fit into registers."""

WARPS = 4

PROOF_ROWS = 32 * PADDING
"""Rows on which a newly compiled kernel is verified."""

logger = logging.getLogger("odefs")


@cache
def has_triton() -> bool:
    """Whether Triton is installed; PyTorch includes it in CUDA builds on Linux."""
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True


def can_fuse(device: torch.device, n_subsets: int) -> bool:
    """Whether the device can run the kernel: it needs half-precision matrix units."""
    if device.type != "cuda" or n_subsets > MOST_SUBSETS or not has_triton():
        return False
    return torch.cuda.get_device_capability(device) >= (7, 0)


@dataclass(frozen=True)
class FusedReferences:
    """References of the components at ``places``, whose widths round up to the same number.

    Shape ``(components, members, lines, columns)``. Lines beyond the subsets are 0; columns beyond
    a component's point to a line of zeros of the table.
    """

    places: Tensor
    columns: Tensor
    products: Tensor
    norms: Tensor
    n_subsets: int

    def kind(self, root: bool) -> tuple[object, ...]:
        """Components of one kind share a compiled kernel."""
        return (
            str(self.norms.device),
            self.columns.shape[1],
            *self.products.shape[1:3],
            self.n_subsets,
            root,
        )


def lay_out_fused(
    components: Sequence[Component], places: Sequence[int], zeros: int, device: torch.device
) -> list[FusedReferences]:
    """The components at ``places`` by rounded width; ``zeros`` is the number of the zero line."""
    by_width: dict[int, list[int]] = {}
    for place in places:
        by_width.setdefault(_rounded(components[place].columns.size), []).append(place)
    return [
        _lay_out(components, group, width, zeros, device)
        for width, group in sorted(by_width.items())
    ]


def _rounded(n_columns: int) -> int:
    if n_columns > BLOCK_COLUMNS:
        return -(-n_columns // BLOCK_COLUMNS) * BLOCK_COLUMNS
    return max(FEWEST_COLUMNS, 1 << (n_columns - 1).bit_length())


def _lay_out(
    components: Sequence[Component], places: list[int], width: int, zeros: int, device: torch.device
) -> FusedReferences:
    state = components[places[0]].state
    members, n_subsets = state.rows.shape[0] // state.n_subsets, state.n_subsets
    # Sizes of tiles are powers of two, and tl.dot needs at least 16.
    lines = max(16, 1 << (n_subsets - 1).bit_length())
    columns = np.full((len(places), width), zeros, dtype=np.int32)
    rows = np.zeros((len(places), members, lines, width), dtype=np.int8)
    for i, place in enumerate(places):
        chosen = components[place].columns
        columns[i, : chosen.size] = chosen
        rows[i, :, :n_subsets, : chosen.size] = components[place].state.rows.reshape(
            members, n_subsets, -1
        )
    sent = torch.from_numpy(rows).to(device)
    return FusedReferences(
        torch.tensor(places, device=device),
        torch.from_numpy(columns).to(device),
        sent.to(torch.float16).mul_(-2),
        sent.sum(dim=3, dtype=torch.int32).to(torch.float32),
        n_subsets,
    )


def fused_scores(table: Tensor, references: FusedReferences, root: bool) -> Tensor:
    """Mean distances to the nearest, ``(components, rows)``.

    The table is in half precision with columns as lines, a multiple of ``BLOCK_ROWS`` long.
    """
    from odefs.engines.torch.triton_kernel import sum_of_nearest

    n_components, width = references.columns.shape
    members, lines = references.products.shape[1:3]
    n_rows = table.shape[1]
    out = torch.empty((n_components, n_rows), dtype=torch.float32, device=table.device)
    with torch.cuda.device(table.device):
        sum_of_nearest[n_rows // BLOCK_ROWS, n_components](
            table,
            table.stride(0),
            references.columns,
            references.products,
            references.norms,
            out,
            out.stride(0),
            WIDTH=width,
            MEMBERS=members,
            SUBSETS=references.n_subsets,
            LINES=lines,
            BLOCK_COLUMNS=min(width, BLOCK_COLUMNS),
            BLOCK_ROWS=BLOCK_ROWS,
            ROOT=root,
            num_warps=WARPS,
            # No software pipelining, which gave wrong sums (see triton_kernel).
            num_stages=1,
        )
    return out.to(torch.float64).div_(references.n_subsets)


_proven: dict[tuple[object, ...], bool] = {}


def is_proven(
    table: Tensor, references: FusedReferences, root: bool, expected: Callable[[Tensor], Tensor]
) -> bool:
    """Whether the compiled kernel returns the ``expected`` scores of the group's first component.

    Checked once per kernel on the first rows, because compilers differ between installations.
    """
    kind = references.kind(root)
    if kind not in _proven:
        rows = table[:, :PROOF_ROWS]
        try:
            found = fused_scores(rows, references, root)[0]
            _proven[kind] = torch.allclose(found, expected(rows), rtol=1e-5, atol=0)
        # Not a verdict on the kernel: the caller repeats with fewer rows.
        except torch.cuda.OutOfMemoryError:
            raise
        except Exception as error:  # compilers may raise anything
            logger.info("the fused kernel does not run here: %s", error)
            _proven[kind] = False
        if not _proven[kind]:
            logger.info("rows are scored without the fused kernel for %s", kind)
    return _proven[kind]
