"""Every recorded run again: facts must equal the record (``tests/frozen``).

Sentences may be reworded and are not compared.
"""

import pytest

from frozen.differences import run_differences
from frozen.execute import execute
from frozen.record import read_record
from frozen.runs import RUNS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def record():
    return read_record()


def test_every_run_is_recorded(record):
    assert list(record) == list(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_run_gives_what_is_recorded(name, record):
    found = execute(RUNS[name])
    if "skipped" in found:
        pytest.skip(f"needs {found['skipped']}")
    different = [
        f"{path}: {before!r} -> {after!r}"
        for path, before, after in run_differences(record[name], found)
    ]
    assert not different, "\n".join(different[:20])
