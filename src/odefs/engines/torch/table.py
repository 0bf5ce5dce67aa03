"""The distinct rows of a table on the device, scaled as by :meth:`odefs.scaling.Scaling.apply`.

They keep their own type. Duplicates are grouped by 64-bit hashes, then compared;
:mod:`odefs.kernels.duplicate_rows` does the same in memory.
"""

import logging
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from odefs.engines.torch.device import bytes_at_once
from odefs.kernels.duplicate_rows import WORTH_IT, Distinct
from odefs.scaling import LINEAR, Scaling, Tails

logger = logging.getLogger("odefs")

UPLOAD_BYTES = 2**26
"""Bytes of a block of rows that is sent to the device."""

AS_THEY_ARE = ("bool", "uint8", "int8", "int16")
"""Types that stay small on the device; others are sent as the type of the arithmetic."""

DTYPES = {np.dtype(np.float32): torch.float32, np.dtype(np.float64): torch.float64}


class DeviceTable:
    """The distinct rows of a table, on the device if they fit, otherwise sent block by block."""

    def __init__(
        self,
        X: np.ndarray,
        dtype: np.dtype,
        device: torch.device,
        repeats: bool,
        find_distinct: Callable[[], Distinct | None],
    ) -> None:
        """Keep or send the rows.

        ``repeats`` is whether to look for duplicates; ``find_distinct`` finds them where the
        device does not have enough memory.
        """
        self.X = X
        self.device = device
        self.working = DTYPES[dtype]
        self.n_rows, self.n_columns = X.shape
        self._stored = X.dtype.newbyteorder("=") if X.dtype.name in AS_THEY_ARE else dtype
        self._distinct: Distinct | None = None
        self._copy_of: Tensor | None = None
        self._resident = self._upload()
        if repeats and self._resident is None:
            self._distinct = find_distinct()
            if self._distinct is not None:
                self.n_rows = self._distinct.first.size
                self._copy_of = torch.from_numpy(self._distinct.copy_of).to(device)
        elif repeats and self._resident is not None:
            groups = _grouped(self._resident)
            if groups is not None:
                first, self._copy_of = groups
                self._resident = self._resident[first]
                self.n_rows = first.shape[0]

    def _upload(self) -> Tensor | None:
        """All rows, in blocks."""
        n_bytes = self.X.size * self._stored.itemsize
        if self.device.type != "cpu" and n_bytes > bytes_at_once(self.device):
            logger.info(
                "the table does not fit on %s: sending its rows block by block", self.device
            )
            return None
        try:
            return self._sent()
        except torch.cuda.OutOfMemoryError:
            return None

    def _sent(self) -> Tensor:
        height = max(1, UPLOAD_BYTES // (self.n_columns * self._stored.itemsize))
        blocks = [slice(start, start + height) for start in range(0, self.n_rows, height)]
        first = self._read(blocks[0])
        table = torch.empty(self.X.shape, dtype=first.dtype, device=self.device)
        for rows in blocks:
            table[rows] = first if rows is blocks[0] else self._read(rows)
        return table

    def _read(self, rows: slice | np.ndarray) -> Tensor:
        """Distinct rows from memory."""
        part = np.asarray(
            self.X[rows if self._distinct is None else self._distinct.first[rows]],
            dtype=self._stored,
        )
        # torch does not accept read-only arrays.
        return torch.from_numpy(np.require(part, requirements=["C", "W"]))

    def block(self, rows: slice, scaling: Scaling, dtype: torch.dtype) -> Tensor:
        """Some distinct rows, scaled."""
        part = self._read(rows).to(self.device) if self._resident is None else self._resident[rows]
        return self._scaled(part, scaling, dtype)

    def take(self, rows: np.ndarray, scaling: Scaling) -> Tensor:
        """Rows by their numbers in the table, in any shape, scaled: an axis of columns is added."""
        flat = rows.ravel()
        if self._resident is None:
            where = flat if self._distinct is None else self._distinct.copy_of[flat]
            part = self._read(where).to(self.device)
        else:
            index = torch.from_numpy(flat).to(self.device)
            part = self._resident[index if self._copy_of is None else self._copy_of[index]]
        return self._scaled(part, scaling, self.working).view(*rows.shape, self.n_columns)

    def counts(self, rows: np.ndarray | None) -> Tensor:
        """How often each distinct row occurs among the given rows (``None``: all)."""
        if self._copy_of is None:
            if rows is None:
                return torch.ones(self.n_rows, dtype=torch.float64, device=self.device)
            where = torch.from_numpy(rows).to(self.device)
        else:
            where = (
                self._copy_of
                if rows is None
                else self._copy_of[torch.from_numpy(rows).to(self.device)]
            )
        return torch.bincount(where, minlength=self.n_rows).to(torch.float64)

    def spread(self, values: Tensor) -> np.ndarray:
        """From values of the distinct rows (last axis) to values of all rows."""
        return np.asarray(
            (values if self._copy_of is None else values[..., self._copy_of]).cpu().numpy()
        )

    def _scaled(self, part: Tensor, scaling: Scaling, dtype: torch.dtype) -> Tensor:
        # Two casts, as on the CPU: InMemoryEngine.rows casts to the type of the fit, Scaling.apply
        # to that of the model.
        part = part.to(self.working)
        if (largest := torch.finfo(dtype).max) < torch.finfo(part.dtype).max:
            part = part.clamp(-largest, largest)
        part = part.to(dtype)
        if dtype == torch.float32 and scaling.safe_in_float32:
            scaled = part - self._tensor(scaling.low, dtype)
            scaled.div_(self._tensor(scaling.width, dtype))
        else:
            scaled = part.to(torch.float64) * scaling.factor
            scaled.sub_(self._tensor(scaling.low)).div_(self._tensor(scaling.width))
        if scaling.tails is not None:
            scaled = self._with_tails(scaled, scaling.tails)
        return scaled.clamp_(-scaling.clip, scaling.clip).to(dtype)

    def _with_tails(self, scaled: Tensor, tails: Tails) -> Tensor:
        """What :meth:`odefs.scaling.Tails.apply` does."""
        unit, slope = self._tensor(tails.unit), self._tensor(tails.slope)
        for limits, sign in ((tails.high, 1.0), (tails.low, -1.0)):
            rounded = self._tensor(limits, scaled.dtype)
            is_far = scaled > rounded if sign > 0 else scaled < rounded
            rows, columns = is_far.nonzero(as_tuple=True)
            if not rows.numel():
                continue
            beyond = (scaled[rows, columns].double() - rounded[columns].double()).abs()
            drawn_in = torch.where(
                unit[columns] < LINEAR, unit[columns] * torch.log1p(beyond / unit[columns]), beyond
            )
            moved = self._tensor(limits)[columns] + sign * slope[columns] * drawn_in
            scaled[rows, columns] = moved.to(scaled.dtype)
        return scaled

    def _tensor(self, values: np.ndarray, dtype: torch.dtype = torch.float64) -> Tensor:
        return torch.tensor(values, dtype=dtype, device=self.device)


def _grouped(table: Tensor) -> tuple[Tensor, Tensor] | None:
    """Groups of duplicates, or ``None`` if memory runs out: scores are the same, only slower."""
    try:
        return group_rows(table)
    except torch.cuda.OutOfMemoryError:
        return None


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
    # The lowest row number of each group, whatever order the device works in.
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
