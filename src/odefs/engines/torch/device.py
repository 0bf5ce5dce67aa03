"""Which device is used, how much memory a part of the work may take there, and what happens where it does not fit: halve the part and go on."""

import logging
from collections.abc import Callable

import torch

logger = logging.getLogger("odefs")

CPU_BYTES = 2**28
"""What a part of the work may take where the device is the processor."""

FREE_SHARE = 0.4
"""Share of the free memory of a GPU that a part of the work may take: products and minima need room beside what is counted."""


def find_device(name: str | None) -> torch.device:
    """The device of that name; without a name the GPU where there is one."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise ValueError(
            f"engine='torch:{name}' names no device that odefs runs on; use 'cpu', 'cuda' or 'cuda:N'."
        )
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ValueError(
            f"engine='torch:{name}': PyTorch sees {torch.cuda.device_count()} CUDA devices here; use 'torch' for whatever there is."
        )
    return device


def bytes_at_once(device: torch.device) -> int:
    """What a part of the work may take."""
    if device.type == "cpu":
        return CPU_BYTES
    free, _ = torch.cuda.mem_get_info(device)
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(FREE_SHARE * (free + unused))


def in_parts(n_items: int, at_once: int, task: Callable[[slice], None]) -> int:
    """Call ``task`` with slices that cover ``n_items``; a slice that does not fit into memory is halved, and so are those after it.

    Returns the size that fitted.
    """
    at_once, start = max(1, min(at_once, n_items)), 0
    while start < n_items:
        part = slice(start, min(start + at_once, n_items))
        if _fits(task, part):
            start = part.stop
            continue
        # Outside of the handler: a live exception holds the tensors of the frames it went through.
        torch.cuda.empty_cache()
        at_once = (part.stop - part.start) // 2
        logger.info("out of device memory: going on with %d at once", at_once)
    return at_once


def _fits(task: Callable[[slice], None], part: slice) -> bool:
    try:
        task(part)
    except (MemoryError, RuntimeError) as error:
        if part.stop - part.start == 1 or not _is_lack_of_memory(error):
            raise
        return False
    return True


def _is_lack_of_memory(error: Exception) -> bool:
    """On the processor PyTorch says it in words only."""
    return isinstance(
        error, MemoryError | torch.cuda.OutOfMemoryError
    ) or "DefaultCPUAllocator" in str(error)
