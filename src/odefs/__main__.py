"""``python -m odefs`` is the command line."""

from odefs.cli.main import main

main()
