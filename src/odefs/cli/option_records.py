"""Options of a command as typed records: click fills the fields of dataclasses.

A command then takes one argument per concern, or one record for all of them, instead of a
dictionary of options.
"""

import functools
from collections.abc import Callable
from dataclasses import field, fields
from typing import Any, TypeVar

import click

Command = Callable[..., object]
Decorator = Callable[[Command], Command]
Record = TypeVar("Record")


def option(*names: str, sets: str | None = None, **settings: object) -> Any:
    """A field that click fills; by default the option has the name of the field.

    ``sets`` is the parameter of the model that the option sets, which ``--set`` can set too.
    """
    return field(metadata={"names": names, "sets": sets, "settings": settings})


def argument(name: str, record: type) -> Decorator:
    """Decorator of a command: the options of ``record`` in the one argument ``name``."""

    def decorate(command: Command) -> Command:
        # wraps() copies the function's attributes, and with them __click_params__, the list in
        # which click's decorators collect the options.
        @functools.wraps(command)
        def collected(**chosen: object) -> object:
            taken = {one.name: chosen.pop(one.name) for one in fields(record)}
            return command(**chosen, **{name: record(**taken)})

        decorated: Command = collected
        # Decorators are applied from the bottom up: reversed, the help lists options in the order
        # of the fields.
        for one in reversed(fields(record)):
            names = one.metadata["names"] or (f"--{one.name.replace('_', '-')}",)
            # click takes a name without dashes as that of the parameter.
            decorated = click.option(*names, one.name, **one.metadata["settings"])(decorated)
        return decorated

    return decorate


def as_record(record: type[Record]) -> Callable[[Callable[[Record], object]], Command]:
    """Decorator of a command that takes all its arguments and options in one record."""

    def decorate(command: Callable[[Record], object]) -> Command:
        @functools.wraps(command)
        def collected(**chosen: object) -> object:
            return command(record(**chosen))

        return collected

    return decorate


class _Text(click.types.StringParamType):
    """Column names and cell values: UTF-8 regardless of the locale."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        from odefs.tables.polars_names import readable

        # With an ASCII locale, Python keeps other bytes of an argument as surrogates, and a column
        # name would match none of the table.
        return readable(super().convert(value, param, ctx))


def as_text(command: click.Command) -> click.Command:
    """Decode text options of the command as UTF-8; file names stay as the system passes them."""
    for option in command.params:
        if isinstance(option, click.Option) and option.type is click.STRING:
            option.type = _Text()
    return command
