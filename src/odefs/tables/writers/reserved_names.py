"""File names that Windows reserves: devices, with any suffix, and special characters."""

import re
import sys
from pathlib import Path

from odefs.exceptions import TableError

DEVICE = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\..*)?", re.IGNORECASE | re.DOTALL
)
CHARACTERS = re.compile(r'[<>:"|?*\x00-\x1f]')


def require_nameable(path: Path) -> None:
    """Raise if Windows would shorten the name, or take it for a device or an alternate stream."""
    reason = _reserved(path.name) if sys.platform == "win32" else None
    if reason:
        raise TableError(f"{path}: cannot be written ({reason} on Windows); choose another name.")


def _reserved(name: str) -> str | None:
    if DEVICE.fullmatch(name):
        return f"{name.partition('.')[0].strip()} is the name of a device"
    if found := CHARACTERS.search(name):
        return f"file names cannot contain {found[0]!r}"
    if name.endswith((".", " ")):
        return "file names cannot end in a dot or a space"
    return None
