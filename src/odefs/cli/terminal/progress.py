"""Progress on standard error: one redrawn line on a terminal, occasional lines elsewhere."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from odefs._progress import listening
from odefs.cli.terminal.messages import logs_json, say_progress

# In seconds. Short work shows no progress. Lines in a log are rare, but a new stage does not wait
# as long as an update of the same one.
QUIET_SECONDS = 2.0
PLAIN_INTERVAL = 5.0
NEW_STAGE_INTERVAL = 1.0
TICK = 0.5


class _Progress:
    """Listener that shows the latest progress; a thread also shows stages without updates."""

    def __init__(self) -> None:
        self.begin = self.shown = time.monotonic()
        self.stage, self.stage_begin = "", self.begin
        self.done = self.total = 0
        self.drawn, self.drawn_stage = False, ""
        self.terminal = sys.stderr.isatty() and not logs_json()
        # Worker threads report progress too.
        self.lock, self.ended = threading.Lock(), threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def __call__(self, stage: str, done: int, total: int) -> None:
        with self.lock:
            # A stage may run more than once under its name: the estimate of the time left starts
            # again.
            if stage != self.stage or done <= 1:
                self.stage, self.stage_begin = stage, time.monotonic()
            self.done, self.total = done, total
            self._draw()

    def _watch(self) -> None:
        while not self.ended.wait(TICK):
            with self.lock:
                self._draw()

    def _draw(self) -> None:
        now = time.monotonic()
        interval = PLAIN_INTERVAL if self.stage == self.drawn_stage else NEW_STAGE_INTERVAL
        if self.terminal:
            interval = 0.2
        is_soon = now - self.begin < QUIET_SECONDS or (now - self.shown < interval and self.drawn)
        if is_soon or not self.stage:
            return
        self.shown, self.drawn, self.drawn_stage = now, True, self.stage
        left = self._seconds_left(now - self.stage_begin)
        line = self._line(left)
        if self.terminal:
            # \x1b[K erases the rest of the line, which a shorter text would leave.
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)
        else:
            say_progress(
                line, self.stage, self.done, self.total, None if left is None else round(left, 1)
            )

    def _seconds_left(self, spent: float) -> float | None:
        known = spent > 1 and 0 < self.done < self.total
        return spent / self.done * (self.total - self.done) if known else None

    def _line(self, left: float | None) -> str:
        if not self.total:
            return f"{self.stage} ..."
        return f"{self.stage}: {self.done / self.total:.0%}" + (
            "" if left is None else f", {left:.0f} s left"
        )

    def end(self) -> None:
        self.ended.set()
        self.thread.join()
        if self.drawn and self.terminal:
            click.echo("\r\x1b[K", nl=False, err=True)


@contextmanager
def progress(quiet: bool) -> Iterator[None]:
    """Show the progress of the block once it has taken two seconds."""
    if quiet:
        yield
        return
    shown = _Progress()
    try:
        with listening(shown):
            yield
    finally:
        shown.end()
