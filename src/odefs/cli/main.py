"""The entry point ``odefs``. Commands live in modules of their own and are imported when called, so that help comes at once."""

import os
import sys
from codecs import lookup
from importlib import import_module
from io import TextIOWrapper
from typing import Any

from odefs._extras import require_extra

COMMANDS = {
    "detect": "Find the outliers of a table and say which columns gave them away.",
    "score": "Score the rows of another table with a saved model.",
    "explain": "Say why rows stand out under a saved model.",
    "report": "Write the report page of a table under a saved model.",
    "datasets": "List, download and generate the paper's datasets.",
    "reproduce": "Run the paper's experiments again.",
}


def main() -> None:
    # First of all, for whoever calls this function without the console script.
    from odefs.cli.signals import leave_on_signals

    leave_on_signals()
    # Whoever starts it with an output closed wants nothing of what would be shown there.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # ASCII is what systems fall back to that know nothing about the terminal; others show the code of a character that they lack.
            encoding = "utf-8" if lookup(stream.encoding).name == "ascii" else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    try:
        with require_extra("the command line", "cli"):
            import click
    except ModuleNotFoundError as error:
        sys.exit(f"odefs: {error}")

    import odefs
    from odefs.cli.messages import choose_formats, usage_errors
    from odefs.cli.options import as_text

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
            return as_text(command)

    def show_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
        if not wanted or ctx.resilient_parsing:
            return
        if ctx.params["verbose"]:
            odefs.show_versions()
        else:
            click.echo(f"odefs, version {odefs.__version__}")
        ctx.exit()

    # An eager option is read before the others, so that the two may stand in either order.
    @click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
    @click.option(
        "--version",
        is_flag=True,
        expose_value=False,
        callback=show_version,
        help="Show the version and exit.",
    )
    @click.option(
        "--verbose",
        is_flag=True,
        is_eager=True,
        help="With --version: also show the versions of Python and the libraries, and which kernel is in use.",
    )
    def group(verbose: bool) -> None:
        """Find outliers in wide, noisy tables, and say which columns gave them away."""
        if verbose:
            raise click.UsageError(
                "--verbose goes with --version: use 'odefs --version --verbose'."
            )

    try:
        group(prog_name="odefs")
    except OSError as error:
        # Help and version are written before any command stands guard.
        sys.exit(f"odefs: {error.strerror or error}.")
