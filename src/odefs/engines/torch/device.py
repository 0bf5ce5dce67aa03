"""Devices: which one is used, its memory budget, and smaller parts when memory runs out."""

import logging
from collections.abc import Callable

import torch

logger = logging.getLogger("odefs")

CPU_BYTES = 2**28
"""Memory for a part of the work on the CPU."""

FREE_SHARE = 0.4
"""Share of the free GPU memory for a part of the work; intermediate results need the rest."""


def find_device(name: str | None) -> torch.device:
    """The device of that name; without a name, the GPU if there is one."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise ValueError(
            f"engine='torch:{name}' is not a supported device: use 'cpu', 'cuda' or 'cuda:N'."
        )
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ValueError(
            f"engine='torch:{name}' is not available: PyTorch sees {torch.cuda.device_count()} "
            "CUDA devices; use 'torch' for the best device there is."
        )
    return device


def bytes_at_once(device: torch.device) -> int:
    """Memory for a part of the work."""
    if device.type == "cpu":
        return CPU_BYTES
    free, _ = torch.cuda.mem_get_info(device)
    # Memory that PyTorch's allocator has reserved and not given out counts as used by the driver.
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(FREE_SHARE * (free + unused))


def in_parts(n_items: int, at_once: int, task: Callable[[slice], None]) -> None:
    """Call ``task`` with slices that cover ``n_items``, halving them when memory runs out."""
    at_once, start = max(1, min(at_once, n_items)), 0
    while start < n_items:
        part = slice(start, min(start + at_once, n_items))
        if _fits(task, part):
            start = part.stop
            continue
        # Not in the handler: a live exception keeps the tensors of its frames alive.
        torch.cuda.empty_cache()
        at_once = (part.stop - part.start) // 2
        logger.info("out of device memory: continuing with %d at a time", at_once)


def _fits(task: Callable[[slice], None], part: slice) -> bool:
    try:
        task(part)
    except (MemoryError, RuntimeError) as error:
        # A single item cannot be halved: the error is the user's to see.
        if part.stop - part.start == 1 or not _is_lack_of_memory(error):
            raise
        return False
    return True


def _is_lack_of_memory(error: Exception) -> bool:
    """Whether memory ran out; on the CPU only PyTorch's message shows it."""
    return isinstance(
        error, MemoryError | torch.cuda.OutOfMemoryError
    ) or "DefaultCPUAllocator" in str(error)
