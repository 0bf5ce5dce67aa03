"""Temporary folders: deleted with their owner, not by child processes, and after a kill."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

from odefs.engines.out_of_core import Folder
from odefs.system.tempfile_owner import machine, owner
from odefs.system.tempfiles import folder_of, temporary_folder


class Holder:
    """Something that a folder can live as long as."""


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_a_folder_goes_with_its_holder_and_its_block(tmp_path):
    holder = Holder()
    held = folder_of(holder)
    (held / "inside").write_text("x")
    with temporary_folder() as folder:
        assert {held, folder} == set(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == [held]
    del holder
    gc.collect()
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_that_ends_leaves_its_parents_folder(tmp_path):
    script = f"""
import os, sys, tempfile
tempfile.tempdir = {str(tmp_path)!r}
import numpy as np
from odefs import ODEFS
from odefs.engines.stream import RowBlocks
blocks = RowBlocks.from_arrays([np.random.default_rng(0).normal(size=(400, 5))])
model = ODEFS(n_estimators=2, random_state=0).fit(blocks)
child = os.fork()
if child == 0:
    del model
    sys.exit(0)
os.waitpid(child, 0)
assert len(os.listdir({str(tmp_path)!r})) == 1, os.listdir({str(tmp_path)!r})
assert model.outlier_scores_.shape == (400,) and float(model.outlier_scores_.sum()) > 0
files = os.listdir(os.path.join({str(tmp_path)!r}, os.listdir({str(tmp_path)!r})[0]))
assert files, "the child took the parent's files"
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="processes cannot be asked after here")
def test_what_a_killed_process_left_goes_with_the_next_folder(tmp_path):
    script = f"""
import os, signal, tempfile
tempfile.tempdir = {str(tmp_path)!r}
from odefs.engines.out_of_core import Folder
array = Folder().array((1000,), float)
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert killed.returncode < 0
    (left,) = tmp_path.iterdir()
    array = Folder().array((10,), np.float64)
    (now,) = tmp_path.iterdir()
    assert now != left
    assert array.size == 10


@pytest.mark.skipif(os.name != "posix", reason="processes cannot be asked after here")
def test_folders_of_others_stay(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    others = [
        tmp_path / f"odefs-{owner()}-abc",  # of this process
        tmp_path / f"odefs-elsewhere-{gone.pid}-abc",
        tmp_path / "odefs-notes",
        tmp_path / f"mine-odefs-{machine()}-{gone.pid}-abc",
    ]
    for other in others:
        other.mkdir()
    link = tmp_path / f"odefs-{machine()}-{gone.pid}-link"
    link.symlink_to(others[2], target_is_directory=True)
    (tmp_path / f"odefs-{machine()}-{gone.pid}-left").mkdir()
    with temporary_folder() as folder:
        assert set(tmp_path.iterdir()) == {*others, link, folder}
