"""Duplicate rows of a table on the device: grouped by 64-bit hashes, then compared.

:mod:`odefs.kernels.duplicate_rows` does the same in memory.
"""

import numpy as np
import torch
from torch import Tensor

from odefs.kernels.duplicate_rows import WORTH_IT

BLOCK_ROWS = 2**16


def group_rows(table: Tensor) -> tuple[Tensor, Tensor] | None:
    """The first row of each group of equal rows, and the group of every row.

    ``None`` if there are too few duplicates to help.
    """
    n_rows = table.shape[0]
    blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, n_rows, BLOCK_ROWS)]
    hashes = torch.cat([_hashes(table[rows]) for rows in blocks])
    distinct, copy_of = torch.unique(hashes, return_inverse=True)
    if distinct.shape[0] > WORTH_IT * n_rows:
        return None
    first = torch.full(distinct.shape, n_rows, device=table.device)
    first.scatter_reduce_(0, copy_of, torch.arange(n_rows, device=table.device), "amin")
    same = [(table[rows] == table[first[copy_of[rows]]]).all() for rows in blocks]
    return (first, copy_of) if bool(torch.stack(same).all()) else None


def _hashes(rows: Tensor) -> Tensor:
    """A 64-bit hash of each row's bytes; products wrap around."""
    n_bytes = rows.shape[1] * rows.element_size()
    padded = torch.zeros(
        (rows.shape[0], -(-n_bytes // 8) * 8), dtype=torch.uint8, device=rows.device
    )
    padded[:, :n_bytes] = rows.contiguous().view(torch.uint8)
    words = padded.view(torch.int64)
    factors = (
        np.random.default_rng(1).integers(-(2**63), 2**63, size=(2, words.shape[1]), dtype=np.int64)
        | 1
    )
    first, second = torch.from_numpy(factors).to(rows.device)
    # Round numbers have zeros in the low bits, which a product would shift out: mix first.
    words = (words ^ (words >> 32)) * first
    return ((words ^ (words >> 29)) * second).sum(dim=1)
