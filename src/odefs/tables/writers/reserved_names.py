"""Names that Windows gives to no file: those of devices, whatever the suffix, and characters with a meaning of their own."""

import re
import sys
from pathlib import Path

from odefs.exceptions import TableError

DEVICE = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\..*)?", re.IGNORECASE | re.DOTALL
)
CHARACTERS = re.compile(r'[<>:"|?*\x00-\x1f]')


def require_nameable(path: Path) -> None:
    """Refuse an output whose name Windows would cut, or take for a device or a stream of another file."""
    reason = _reserved(path.name) if sys.platform == "win32" else None
    if reason:
        raise TableError(f"{path}: cannot be written ({reason} on Windows); choose another name.")


def _reserved(name: str) -> str | None:
    if DEVICE.fullmatch(name):
        return f"{name.partition('.')[0].strip()} is the name of a device"
    if found := CHARACTERS.search(name):
        return f"names of files do not hold {found[0]!r}"
    if name.endswith((".", " ")):
        return "names of files do not end in a dot or a space"
    return None
