"""How many bytes a table may take: what is free on the machine and in the container, or what ``ODEFS_MEMORY`` says."""

import os
import re
from pathlib import Path

from odefs._ops.cgroups import ROOT, memory_left
from odefs._ops.physical_memory import available_memory

SHARE = 0.5
"""Of the memory that is free, so much is used; others are at work on the machine as well."""

UNKNOWN = 4 * 2**30
"""Free memory where the system does not tell."""

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def memory_budget(root: Path = ROOT) -> int:
    """Bytes that may be used."""
    named = os.environ.get("ODEFS_MEMORY", "").strip()
    return parse_bytes(named) if named else int(SHARE * free_memory(root))


def free_memory(root: Path = ROOT) -> int:
    """Bytes that are free on the machine, and not more than the container still allows."""
    left = memory_left(root)
    on_machine = available_memory(root) or UNKNOWN
    return on_machine if left is None else min(left, on_machine)


def parse_bytes(text: str) -> int:
    """A number of bytes such as ``800MB``, ``2GiB`` or ``1e9``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\d+)?)\s*([kmgt]?i?)b?", text.strip().lower())
    if found is None or found[2] not in UNITS:
        raise ValueError(f"ODEFS_MEMORY={text!r} is not a number of bytes: write 800MB, 2GiB or 1e9.")
    return int(float(found[1]) * UNITS[found[2]])
