"""Entry point ``odefs``: a command group whose commands are imported when they run.

Help and version are therefore shown without loading NumPy or polars.
"""

import os
import sys
from codecs import lookup
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING

from odefs._extras import require_extra
from odefs._known_options import suggestion

if TYPE_CHECKING:
    import click

COMMANDS = ("detect", "review", "score", "check", "explain", "report", "datasets", "reproduce")
"""Names of the modules with the commands, in the order of the help text."""


def main() -> None:
    # Before anything else, for callers that do not use the console script.
    from odefs.cli.signals import leave_on_signals

    leave_on_signals()
    _prepare_streams()
    try:
        with require_extra("the command line", "cli"):
            import_module("click")
    except ModuleNotFoundError as error:
        sys.exit(f"odefs: {error}")
    try:
        _group()(prog_name="odefs")
    except OSError as error:
        # Help and version are written outside the error handling of the commands, for example to
        # a full disk.
        sys.exit(f"odefs: {error.strerror or error}.")


def _prepare_streams() -> None:
    """Make standard output and error usable if they are closed or cannot encode all characters."""
    # Python sets a stream to None if its descriptor is closed at the start, as with >&- in a shell.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A caller may have replaced the streams by objects that cannot be reconfigured.
        if isinstance(stream, TextIOWrapper):
            # Systems that know nothing about the terminal fall back to ASCII. Other encodings
            # stay, with an escape for characters that they lack.
            encoding = "utf-8" if lookup(stream.encoding).name == "ascii" else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _group() -> "click.Group":
    """The command group; click is imported here because it is an optional dependency."""
    import click

    from odefs.cli.option_records import as_text
    from odefs.cli.terminal.messages import choose_formats, usage_errors

    class LazyGroup(click.Group):
        # click parses the options of a subcommand while it invokes the group, so usage errors are
        # raised by both methods.
        def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
            choose_formats(args)
            with usage_errors():
                return super().parse_args(ctx, args)

        def invoke(self, ctx: click.Context) -> object:
            with usage_errors():
                return super().invoke(ctx)

        def list_commands(self, ctx: click.Context) -> list[str]:
            return list(COMMANDS)

        def resolve_command(
            self, ctx: click.Context, args: list[str]
        ) -> tuple[str | None, click.Command | None, list[str]]:
            if args and args[0] not in COMMANDS and not args[0].startswith("-"):
                raise click.UsageError(
                    f"there is no command {args[0]!r}.{suggestion(args[0], COMMANDS)}", ctx
                )
            return super().resolve_command(ctx, args)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            if cmd_name not in COMMANDS:
                return None
            # 'odefs --help' calls this for every command to list its summary. It stays fast only
            # as long as modules of commands import NumPy and polars inside functions.
            command: click.Command = import_module(f"odefs.cli.commands.{cmd_name}").command
            return as_text(command)

    # --verbose is eager, that is, parsed first: the two options may be given in either order.
    @click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
    @click.option(
        "--version",
        is_flag=True,
        expose_value=False,
        callback=_show_version,
        help="Show the version and exit.",
    )
    @click.option(
        "--verbose",
        is_flag=True,
        is_eager=True,
        help="With --version: also show the versions of Python and of the libraries, and the "
        "kernel in use.",
    )
    def group(verbose: bool) -> None:
        """Find outliers in wide, noisy tables and the columns that reveal them."""
        if verbose:
            raise click.UsageError("--verbose requires --version: use 'odefs --version --verbose'.")

    return group


def _show_version(ctx: "click.Context", param: "click.Parameter", requested: bool) -> None:
    import click

    import odefs

    # click runs callbacks during shell completion as well, where they must not print or exit.
    if not requested or ctx.resilient_parsing:
        return
    if ctx.params["verbose"]:
        odefs.show_versions()
    else:
        click.echo(f"odefs, version {odefs.__version__}")
    ctx.exit()
