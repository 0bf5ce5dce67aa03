"""Which options were given on the command line, whatever their values."""

import click
from click.core import ParameterSource


def is_given(name: str) -> bool:
    """Whether the option of that parameter was given; its value may be the default."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def spelling(name: str) -> str:
    """The option of that parameter as it is written on the command line."""
    command = click.get_current_context().command
    return next(one.opts[-1] for one in command.params if one.name == name)
