"""Permissions: replaced files keep mode and owner, new models are private, others follow umask."""

import os
import stat
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from command import ODEFS, odefs
from odefs import LeSiNN
from odefs.datasets.transactions import transactions_path
from odefs.system.atomic_write import atomic_write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")

OUTPUTS = ("o.csv", "o.csv.gz", "o.parquet", "o.arrow", "o.ndjson", "o.xlsx")
AS_ROOT = pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives files away"
)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def detect(cwd, output, *more):
    arguments = (
        "detect",
        "-o",
        output,
        "--save",
        "m.odefs",
        "--report",
        "r.html",
        "--set",
        "n_estimators=2",
    )
    done = odefs(
        *arguments, *more, command=("sh", "-c", f'umask 022; exec "{ODEFS}" "$@"', "sh"), cwd=cwd
    )
    assert done.returncode == 0, done.stderr


def test_new_files_follow_the_umask_and_new_models_are_private(tmp_path):
    detect(tmp_path, "o.csv")
    assert {path.name: mode(path) for path in tmp_path.iterdir()} == {
        "o.csv": 0o644,
        "r.html": 0o644,
        "m.odefs": 0o600,
    }


@pytest.mark.parametrize(
    "output", [OUTPUTS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in OUTPUTS[1:])]
)
def test_replaced_files_keep_their_mode(output, tmp_path):
    modes = {output: 0o600, "r.html": 0o640, "m.odefs": 0o664}
    for name, given in modes.items():
        (tmp_path / name).write_text("old")
        (tmp_path / name).chmod(given)
    detect(tmp_path, output, "--force")
    assert {path.name: mode(path) for path in tmp_path.iterdir()} == modes
    assert all((tmp_path / name).read_bytes() != b"old" for name in modes)


@AS_ROOT
def test_replaced_files_keep_their_owner(tmp_path):
    for name in ("o.csv", "r.html", "m.odefs"):
        (tmp_path / name).write_text("old")
        os.chown(tmp_path / name, 12345, 23456)
    detect(tmp_path, "o.csv", "--force")
    assert {(path.stat().st_uid, path.stat().st_gid) for path in tmp_path.iterdir()} == {
        (12345, 23456)
    }


@pytest.mark.slow
def test_a_folder_of_scores(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    for name in ("a.parquet", "b.parquet"):
        pl.read_csv(transactions_path()).write_parquet(tmp_path / "in" / name)
    detect(tmp_path, "o.csv")
    score = ("score", "m.odefs", "in", "-o", "out", "--force")
    assert odefs(*score, cwd=tmp_path).returncode == 0
    (tmp_path / "out" / "a.parquet").chmod(0o600)
    (tmp_path / "out" / "b.parquet").chmod(0o604)
    assert odefs(*score, cwd=tmp_path).returncode == 0
    assert [mode(tmp_path / "out" / name) for name in ("a.parquet", "b.parquet")] == [0o600, 0o604]


def test_a_saved_estimator_is_private_and_keeps_a_mode_that_was_chosen(tmp_path):
    model, path = (
        LeSiNN(random_state=0).fit(np.random.default_rng(0).normal(size=(60, 5))),
        tmp_path / "m",
    )
    model.save(path)
    assert mode(path) == 0o600
    path.chmod(0o644)
    model.save(path)
    assert mode(path) == 0o644


def test_what_is_being_written_is_no_more_readable_than_what_it_replaces(tmp_path):
    (tmp_path / "o.csv").write_text("old")
    (tmp_path / "o.csv").chmod(0o600)
    with atomic_write(tmp_path / "o.csv") as partial:
        partial.write_text("new")
        assert mode(partial) == 0o600
    assert mode(tmp_path / "o.csv") == 0o600
    with pytest.raises(OSError, match=r"o\.csv"), atomic_write(tmp_path / "o.csv"):
        pass  # nothing was written
    assert (tmp_path / "o.csv").read_text() == "new"


def test_a_link_stays_one_and_its_target_is_replaced(tmp_path):
    (tmp_path / "kept").mkdir()
    target = tmp_path / "kept" / "o.csv"
    target.write_text("old")
    target.chmod(0o600)
    (tmp_path / "link.csv").symlink_to(target)
    with atomic_write(tmp_path / "link.csv") as partial:
        partial.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (target.read_text(), mode(target)) == ("new", 0o600)


OTHER_USER = """
import os, sys
from pathlib import Path
from odefs.system.atomic_write import atomic_write
os.setgroups([]); os.setgid(34567); os.setuid(34567); os.umask(0o022)
with atomic_write(Path(sys.argv[1])) as partial:
    partial.write_text("new")
"""


@AS_ROOT
def test_who_may_not_give_files_away_opens_them_to_no_other_group(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "o.csv").write_text("old")
    (folder / "o.csv").chmod(0o664)
    for parent in [folder, *folder.parents]:
        if not os.stat(parent).st_mode & 0o001:
            parent.chmod(mode(parent) | 0o011)
    done = subprocess.run(
        [sys.executable, "-c", OTHER_USER, folder / "o.csv"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "Permission" in done.stderr:
        pytest.skip("another user cannot run this Python")
    assert done.returncode == 0, done.stderr
    assert ((folder / "o.csv").read_text(), (folder / "o.csv").stat().st_uid) == ("new", 34567)
    assert mode(folder / "o.csv") == 0o604


READ_ONLY = """
import os, sys
from pathlib import Path
from odefs.system.atomic_write import atomic_write
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
os.chdir(sys.argv[1])
path = Path("o.csv")
path.write_text("old")
path.chmod(0o444)
with atomic_write(path) as partial:
    partial.write_text("new")
"""


def test_a_read_only_file_is_replaced_and_stays_read_only(tmp_path):
    """By a user whom modes bind: root may write everywhere."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    for parent in folder.parents:
        if not os.stat(parent).st_mode & 0o001:
            parent.chmod(mode(parent) | 0o011)
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert ((folder / "o.csv").read_text(), mode(folder / "o.csv")) == ("new", 0o444)
    assert [path.name for path in folder.iterdir()] == ["o.csv"]
