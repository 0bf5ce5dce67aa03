"""A full disk: a small file system if namespaces are allowed, otherwise a file size limit.

Every failed write gives one message and exit code 1, leaves nothing half-written, and keeps the old
file.
"""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import odefs as library
from command import ODEFS, messages, odefs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux", reason="file systems in namespaces and /dev/full are Linux"
    ),
]

MOUNTED = """
mount -t tmpfs -o size=8k none disk && cp -a old/. disk && cd disk && "$@"
code=$?; cd ..; cp -a disk/. left; exit $code
"""
LIMITED = (
    'cp -a old/. disk; cd disk; ulimit -f 2; "$@"; code=$?; cd ..; cp -a disk/. left; exit $code'
)


def mounts():
    done = subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"],
        check=False,
        capture_output=True,
        text=True,
    )
    return done.returncode == 0


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A csv file, and beside it a folder with a parquet file and a model."""
    folder = tmp_path_factory.mktemp("table")
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"c{j}": rng.normal(size=3000) for j in range(9)})
    frame.write_csv(folder / "t.csv")
    (folder / "parts").mkdir()
    frame.write_parquet(folder / "parts" / "p.parquet")
    model = library.ODEFS(n_estimators=2, random_state=0, scaling="none")
    library.detect(frame, model=model).save(folder / "m.odefs")
    return folder / "t.csv"


@pytest.fixture(params=["mounted", pytest.param("limited", marks=pytest.mark.slow)])
def run(request, tmp_path):
    """A function that runs a command on a full disk with the given old files."""
    mounted = request.param == "mounted" and mounts()
    prefix = ["unshare", "-rm", "bash", "-c", MOUNTED] if mounted else ["bash", "-c", LIMITED]

    def run(*command, old=()):
        for folder in ("old", "disk", "left"):
            (tmp_path / folder).mkdir()
        for name in old:
            (tmp_path / "old" / name).write_text("old")
        done = odefs(*command, command=(*prefix, "bash"), cwd=tmp_path)
        left = {path.name: path.read_bytes() for path in (tmp_path / "left").iterdir()}
        assert left == dict.fromkeys(old, b"old"), "old files intact, nothing half-written left"
        return done

    run.says = "No space left on device" if mounted else "File too large"
    return run


@pytest.mark.parametrize("target", ["-o o.csv", "--save m.odefs", "--report r.html"])
def test_the_command_says_it_in_one_sentence(run, target, table):
    name = target.split()[1]
    page = () if "--report" in target else ("--no-report",)
    done = run(ODEFS, "detect", table, *target.split(), *page, "--force", "--quiet", old=[name])
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(messages(done)) == 1
    assert f"{name}: " in done.stderr
    assert run.says in done.stderr


EVERYTHING = """
import sys, warnings
from pathlib import Path
import numpy as np, polars as pl
import odefs
from odefs.tables.scoring.batches import BatchScorer
from odefs.tables.model_files.tables import load_table_model
from odefs.tables.scoring.folder import score_partitions
from odefs.tables.writers.files import WRITABLE, write_table

warnings.simplefilter("ignore")
table = Path(sys.argv[1])
model = odefs.ODEFS(n_estimators=2, random_state=0, scaling="none")
found = odefs.detect(pl.read_csv(table), model=model)
columns = {name: np.random.default_rng(0).normal(size=4000) for name in "ab"}
loaded = load_table_model(table.parent / "m.odefs")
rows = odefs.LeSiNN(random_state=0).fit(np.random.default_rng(0).normal(size=(900, 30)))
ways = {
    suffix: lambda suffix=suffix: write_table(Path(f"t{suffix}"), [columns]) for suffix in WRITABLE
}
ways["model"] = lambda: rows.save("m.odefs")
ways["table model"] = lambda: found.save("m.odefs")
ways["graph"] = lambda: odefs.export_onnx(rows, "m.onnx")
ways["page"] = lambda: found.report().save("r.html")
ways["summary"] = lambda: found.report().save("r.json")
scorer = BatchScorer(loaded.model, loaded.encoder)
ways["folder"] = lambda: score_partitions(scorer, table.parent / "parts", Path("."))
for name, write in ways.items():
    try:
        write()
        print(name, "was written")
    except (OSError, ValueError) as error:
        if sys.argv[2] not in str(error):
            print(name, "says", repr(error))
    if list(Path(".").iterdir()):
        print(name, "leaves", list(Path(".").iterdir()))
print("all tried")
"""


def test_every_kind_of_file(run, table, tmp_path):
    (tmp_path / "everything.py").write_text(EVERYTHING)
    done = run(sys.executable, tmp_path / "everything.py", table, run.says)
    assert done.stdout == "all tried\n", done.stderr


@pytest.mark.parametrize(
    "arguments", ["detect --no-report -o - --quiet", "--version", "detect --help"]
)
def test_standard_output(arguments, tmp_path):
    line = f"{ODEFS} {arguments} > /dev/full"
    done = odefs("-c", line, command=("bash",), cwd=tmp_path)
    assert done.returncode == 1
    assert messages(done) == ["odefs: No space left on device."]


WORKING = """
import os, sys
import numpy as np
import odefs
from odefs.engines.out_of_core import Folder

os.environ["TMPDIR"] = os.getcwd()
try:
    Folder().array((4000,), float)[:] = 1.0
except OSError as error:
    print(error.strerror)
"""


def test_the_folder_for_work_in_progress(run, tmp_path):
    """Arrays in files are memory-mapped, where a full disk would kill the process by a signal."""
    (tmp_path / "working.py").write_text(WORKING)
    done = run(sys.executable, tmp_path / "working.py")
    assert (done.returncode, done.stdout.strip()) == (
        0,
        f"{run.says} (TMPDIR names another folder)",
    ), done.stderr


@pytest.mark.slow
def test_a_file_that_is_turned_into_another_on_the_way(run, table):
    done = run("env", "ODEFS_IN_PARTS=1", "TMPDIR=.", ODEFS, "detect", table, "--quiet")
    assert done.returncode == 1
    assert run.says in done.stderr
    assert len(messages(done)) == 1
    assert f"{table}: " in done.stderr
