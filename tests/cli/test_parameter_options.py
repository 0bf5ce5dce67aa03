"""Options and settings of which one would have no effect are refused before any work."""

from dataclasses import fields

import pytest
from click.testing import CliRunner

from odefs import ODEFS
from odefs.cli import options
from odefs.cli.commands.detect import command as detect
from odefs.cli.commands.review import command as review

VALUES = {"contamination": "0.1", "max_false_flags": "3", "random_state": "2", "n_jobs": "1"}
OWN = {
    one.metadata["sets"]: f"--{one.name.replace('_', '-')}"
    for record in (options.Flagging, options.Training)
    for one in fields(record)
    if one.metadata["sets"]
}
RULES = [
    ("--max-false-flags", "50", "--flag", "5"),
    ("--max-false-flags", "50", "--threshold", "3"),
    ("--max-false-flags", "50", "--contamination", "5%"),
    ("--max-false-flags", "3", "--set", "contamination=0.2"),
    ("--contamination", "5%", "--set", "max_false_flags=3"),
    ("--threshold", "3", "--set", "contamination=paper"),
    ("--set", "max_false_flags=3", "--set", "contamination=0.2"),
]
COMPATIBLE = [
    ("--max-false-flags", "3", "--set", "contamination=auto"),
    ("--max-false-flags", "3", "--profile", "paper"),
    ("--flag", "5", "--profile", "paper"),
    ("--seed", "3", "--set", "n_jobs=1", "--set", "max_false_flags=3"),
]


def refused(command, *arguments):
    """Exit code and output of a command on a file that does not exist: 1 if that is noticed."""
    done = CliRunner().invoke(command, ["gone.csv", *arguments])
    return done.exit_code, " ".join(done.output.split())


def test_options_of_parameters_are_known():
    assert set(OWN) == set(VALUES) <= set(ODEFS().get_params())


@pytest.mark.parametrize(
    ("command", "parameter"),
    [(detect, one) for one in VALUES] + [(review, one) for one in VALUES if one != "contamination"],
)
def test_a_parameter_is_not_set_twice(command, parameter):
    option, value = OWN[parameter], VALUES[parameter]
    # Refused even if the values agree: one of them may be changed later.
    code, told = refused(command, option, value, "--set", f"{parameter}={value}")
    assert code == 2
    assert option in told
    assert f"--set {parameter}" in told


def test_the_default_of_an_option_is_not_given():
    assert refused(detect, "--set", "random_state=3")[0] == 1
    assert refused(detect, "--set", "random_state=3", "--seed", "0")[0] == 2


@pytest.mark.parametrize("arguments", RULES, ids=" ".join)
def test_rows_are_flagged_by_one_rule(arguments):
    assert refused(detect, *arguments)[0] == 2


@pytest.mark.parametrize("arguments", COMPATIBLE, ids=" ".join)
def test_what_does_not_contradict_is_taken(arguments):
    assert refused(detect, *arguments)[0] == 1
