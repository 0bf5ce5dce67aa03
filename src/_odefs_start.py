"""Entry point of the ``odefs`` command: what must happen before the imports.

From here on, SIGINT ends the command with exit code 130 and SIGTERM with 143, without a traceback.
This module is next to the package, not inside it: Python runs ``odefs/__init__.py`` before any
module of the package, and ``import odefs`` must not change a program's signal handlers.
"""

# Built into the interpreter; ``signal`` imports other modules first, and an interrupt during those
# imports would end with a traceback.
import _signal  # type: ignore[import-not-found]
import os


def _leave(number: int, frame: object) -> None:
    # No output is open yet, and an exception raised within an import may be swallowed or replaced.
    os._exit(128 + number)


for _number in (_signal.SIGINT, _signal.SIGTERM):
    # A signal that the parent process ignores (nohup) stays ignored.
    if _signal.getsignal(_number) in (_signal.SIG_DFL, _signal.default_int_handler):
        _signal.signal(_number, _leave)


def main() -> None:
    """Run the command line."""
    # OpenBLAS starts a thread for each core when NumPy is imported, and each waits for work in a
    # busy loop, which takes a third of the processor time of a short command. The threads are not
    # needed: odefs has its own, each with single-threaded BLAS (odefs.system.threads).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from odefs.cli.main import main as command_line

    command_line()
