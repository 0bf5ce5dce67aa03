"""The first lines of the ``odefs`` command: from here on an interrupt ends it with 130 and SIGTERM with 143, without a traceback.

A module next to the package and not inside it: Python runs ``odefs/__init__.py`` before any module of the package, and
``import odefs`` must leave the signal handlers of a program alone.
"""

# Built into the interpreter; ``signal`` would import other modules first, in which an interrupt ends with a traceback.
import _signal  # type: ignore[import-not-found]
import os


def _leave(number: int, frame: object) -> None:
    # Nothing is half-written yet, and an exception raised within an import may be swallowed or replaced.
    os._exit(128 + number)


for _number in (_signal.SIGINT, _signal.SIGTERM):
    # A signal that was ignored by whoever started the command (nohup) stays ignored.
    if _signal.getsignal(_number) in (_signal.SIG_DFL, _signal.default_int_handler):
        _signal.signal(_number, _leave)


def main() -> None:
    """Run the command line."""
    from odefs.cli.main import main as command_line

    command_line()
