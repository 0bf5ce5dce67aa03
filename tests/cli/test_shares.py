"""Options that take a share of rows take percentages too."""

import click
import pytest

from odefs.cli.commands.check import command as check
from odefs.cli.commands.detect import command as detect
from odefs.cli.commands.score import command as score

OPTIONS = [
    (detect, "contamination", ["0", "0.6", "60%"]),
    (score, "contamination", ["0", "0.6", "60%"]),
    (score, "level", ["0%", "1", "100%"]),
    (check, "max_drift", ["-0.1", "1.1", "101%"]),
]


def type_of(command, name):
    return next(one.type for one in command.params if one.name == name)


@pytest.mark.parametrize(("command", "name", "refused"), OPTIONS)
def test_a_share_is_a_number_or_a_percentage(command, name, refused):
    kind = type_of(command, name)
    assert [kind.convert(text, None, None) for text in ("0.05", "5%", " 5 % ")] == [0.05] * 3
    for text in (*refused, "nan", "nan%", "inf", "", "%", "5%%", "5 rows"):
        with pytest.raises(click.BadParameter):
            kind.convert(text, None, None)
