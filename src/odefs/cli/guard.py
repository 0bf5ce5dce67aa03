"""What stands between the user and a traceback: errors become one sentence and an exit code; long work shows how far it is.

0 done, 1 the data cannot be used, 2 wrong usage, 3 more rows flagged than allowed, 130 interrupted.
"""

import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from odefs._progress import listening

QUIET_SECONDS = 2.0
PLAIN_INTERVAL = 5.0


@contextmanager
def guarded(debug: bool) -> Iterator[None]:
    """Turn errors into a sentence on standard error and an exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (click.ClickException, SystemExit, click.exceptions.Exit):
        raise
    except KeyboardInterrupt:
        _say("interrupted; nothing half-written is left.")
        raise SystemExit(130) from None
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        sys.stderr.close()
        raise SystemExit(0) from None
    except Exception as error:
        if debug:
            raise
        from odefs.tables.columns import TableError

        if isinstance(error, TableError | ValueError):
            _say(str(error))
        elif isinstance(error, MemoryError):
            _say("there is not enough memory for this table.")
        else:
            _say(f"{type(error).__name__}: {error} (--debug shows where)")
        raise SystemExit(1) from None


def _say(sentence: str) -> None:
    click.echo(f"odefs: {' '.join(sentence.split())}", err=True)


class _Progress:
    """One line on standard error: redrawn on a terminal, now and then elsewhere."""

    def __init__(self) -> None:
        self.begin = self.shown = time.monotonic()
        self.stage, self.stage_begin = "", self.begin
        self.drawn = False
        self.terminal = sys.stderr.isatty()

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self.stage or done <= 1:
            self.stage, self.stage_begin = stage, now
        interval = 0.2 if self.terminal else PLAIN_INTERVAL
        if now - self.begin < QUIET_SECONDS or (now - self.shown < interval and self.drawn):
            return
        self.shown, self.drawn = now, True
        spent = now - self.stage_begin
        left = f", {spent / done * (total - done):.0f} s left" if spent > 1 and done < total else ""
        line = f"{stage}: {done / total:.0%}{left}"
        click.echo(f"\r\x1b[K{line}" if self.terminal else line, nl=not self.terminal, err=True)

    def clear(self) -> None:
        if self.drawn and self.terminal:
            click.echo("\r\x1b[K", nl=False, err=True)


@contextmanager
def progress(quiet: bool) -> Iterator[None]:
    """Show how far the work inside the block is, once it has taken two seconds."""
    if quiet:
        yield
        return
    shown = _Progress()
    try:
        with listening(shown):
            yield
    finally:
        shown.clear()
