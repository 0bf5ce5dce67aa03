"""A progress bar in the output of a notebook cell, redrawn in place and empty at the end."""

import sys
import time
from importlib import import_module
from typing import Any

INTERVAL = 0.1
"""Seconds between two redraws."""


def in_notebook() -> bool:
    """Whether the code runs in the kernel of a notebook; IPython in a terminal has no kernel."""
    # A kernel has imported IPython already; importing it elsewhere would only cost time.
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """Listener of ``odefs._progress`` that shows the latest stage.

    A stage may consist of several passes, such as rounds of learning, of which each counts its own
    parts. How many passes there are is not known in advance: from the second one on, the bar has no
    length.
    """

    def __init__(self) -> None:
        self.handle: Any = None
        self.drawn, self.stage = 0.0, ""
        self.share, self.is_first_pass = 0.0, True

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        is_new = stage != self.stage
        if is_new:
            self.stage, self.share, self.is_first_pass = stage, 0.0, True
        share = done / total if total else self.share
        self.is_first_pass &= share >= self.share
        self.share = share
        if not is_new and now - self.drawn < INTERVAL:
            return
        self.drawn = now
        self._show(bar(stage, done, total if self.is_first_pass else 0))

    def end(self) -> None:
        """Leave an empty output: only all outputs of a cell could be removed."""
        if self.handle is not None:
            self._show({"text/plain": "", "text/html": ""})

    def _show(self, bundle: dict[str, str]) -> None:
        if self.handle is None:
            display = import_module("IPython.display").display
            self.handle = display(bundle, raw=True, display_id=True)
        else:
            self.handle.update(bundle, raw=True)


def bar(stage: str, done: int, total: int) -> dict[str, str]:
    """Return one state of the bar; a stage whose parts are not counted has no length.

    Names of stages are texts of this library and contain no markup.
    """
    if not total:
        return {
            "text/plain": f"{stage} ...",
            "text/html": f"<div><progress></progress> {stage} ...</div>",
        }
    share = min(max(done / total, 0.0), 1.0)
    text = f"{stage}: {share:.0%}"
    return {
        "text/plain": text,
        "text/html": f'<div><progress value="{share:.3f}"></progress> {text}</div>',
    }
