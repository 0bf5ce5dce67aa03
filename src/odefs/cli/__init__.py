"""The command line: one file per command, loaded when it is called."""

from odefs.cli.main import main

__all__ = ["main"]
