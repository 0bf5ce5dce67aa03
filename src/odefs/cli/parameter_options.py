"""Parameters of the model that options set: no parameter is set twice, and one rule flags rows."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

import click

from odefs.cli import options
from odefs.cli.given_options import is_given, spelling

RULES = ("contamination", "threshold", "flag", "max_false_flags")
"""Options of which each is a rule of its own for what is flagged."""


def require_one_source(settings: Sequence[str]) -> None:
    """Reject options and ``settings``, those of ``--set``, of which one would have no effect."""
    from odefs.cli.run import parse_settings

    parsed = parse_settings(settings)
    _require_set_once(parsed)
    _require_one_rule(parsed)


def _require_set_once(settings: Mapping[str, object]) -> None:
    """Reject parameters that are set by ``--set`` and by their own option."""
    for record in (options.Flagging, options.Training):
        for one in fields(record):
            parameter = one.metadata["sets"]
            if parameter in settings and is_given(one.name):
                _refuse([spelling(one.name), f"--set {parameter}"])


def _require_one_rule(settings: Mapping[str, object]) -> None:
    """Reject more than one rule for what is flagged, whether an option or a setting gives it."""
    given = [spelling(name) for name in RULES if is_given(name)]
    # With "auto", a number of false flags is the rule.
    given += [f"--set {name}" for name in RULES if settings.get(name, "auto") != "auto"]
    if len(given) > 1:
        _refuse(given)


def _refuse(given: list[str]) -> None:
    raise click.UsageError(f"{' and '.join(given)} are mutually exclusive: give only one of them.")
