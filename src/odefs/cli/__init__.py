"""Command line of odefs: one module per command, imported when the command runs."""

from odefs.cli.main import main

__all__ = ["main"]
