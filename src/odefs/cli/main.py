"""The entry point ``odefs``. Commands live in modules of their own and are imported when called, so that help comes at once."""

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any

from odefs._extras import needed_by

COMMANDS = {
    "detect": "Find the outliers of a table and say which columns gave them away.",
    "score": "Score the rows of another table with a saved model.",
    "explain": "Say why rows stand out under a saved model.",
    "report": "Write the report page of a table under a saved model.",
    "datasets": "List, download and generate the paper's datasets.",
    "reproduce": "Run the paper's experiments again.",
}


def main() -> None:
    # Whoever starts it with an output closed wants nothing of what would be shown there.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    # A terminal or pipe that cannot show a character shows its code.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with needed_by("the command line", "cli"):
            import click
    except ModuleNotFoundError as error:
        sys.exit(f"odefs: {error}")

    import odefs
    from odefs.cli.guard import leave_at_once_when_interrupted
    from odefs.cli.messages import choose_formats, usage_errors

    # Most of the start goes by in imports of other packages, some of which swallow the interrupt and then fail in odd ways.
    leave_at_once_when_interrupted()

    class LazyGroup(click.Group):
        def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
            choose_formats(args)
            with usage_errors():
                return super().parse_args(ctx, args)

        def invoke(self, ctx: click.Context) -> Any:
            with usage_errors():
                return super().invoke(ctx)

        def list_commands(self, ctx: click.Context) -> list[str]:
            return list(COMMANDS)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            if cmd_name not in COMMANDS:
                return None
            command: click.Command = import_module(f"odefs.cli.{cmd_name}").command
            return command

    @click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
    @click.version_option(odefs.__version__, prog_name="odefs")
    def group() -> None:
        """Find outliers in wide, noisy tables, and say which columns gave them away."""

    try:
        group(prog_name="odefs")
    except OSError as error:
        # Help and version are written before any command stands guard.
        sys.exit(f"odefs: {error.strerror or error}.")
