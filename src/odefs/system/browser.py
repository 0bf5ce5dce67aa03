"""The browser of this machine."""

import os
import sys
import threading
import webbrowser
from pathlib import Path


def has_screen() -> bool:
    """Whether a browser can open a window; otherwise one for terminals might start."""
    if sys.platform in ("win32", "darwin") or os.environ.get("BROWSER"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_file(file: Path) -> None:
    """Open a file in the browser, and return at once."""
    # Some browsers return only when they are closed.
    threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
