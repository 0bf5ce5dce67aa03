"""Writes interrupted by a real signal, and concurrent writes of one file."""

import errno
import os
import signal
import subprocess
import sys
import threading
from itertools import product

import numpy as np
import polars as pl
import pytest

import odefs as odefs_library
from command import ODEFS, odefs
from odefs import LeSiNN, load
from odefs.datasets.transactions import transactions_path
from odefs.exceptions import TableError
from odefs.system.atomic_write import atomic_write, delete_leftovers
from odefs.tables.model_files.tables import load_table_model
from odefs.tables.scoring.batches import BatchScorer
from odefs.tables.scoring.folder import score_partitions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX"),
]

WAITS = """
import os, stat, sys, time
flush, files, number = os.fsync, [], int(sys.argv[1])

def wait(descriptor):
    flush(descriptor)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        files.append(descriptor)
    if len(files) == number:
        print("writing", flush=True)
        time.sleep(120)

os.fsync = wait
sys.argv = ["odefs", *sys.argv[2:]]
from odefs.cli.main import main
main()
"""
"""The command, paused when the n-th file has its temporary name and is not yet renamed."""

TARGETS = {"o.csv": 1, "m.odefs": 2, "r.html": 3}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
CODES = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}
QUICK = {(signal.SIGINT, "o.csv"), (signal.SIGTERM, "m.odefs"), (signal.SIGKILL, "r.html")}
CASES = [
    pytest.param(
        *case, marks=() if case in QUICK else pytest.mark.slow, id=f"{case[0].name} {case[1]}"
    )
    for case in product(SIGNALS, TARGETS)
]


def stop(kill, number, arguments, folder):
    """Run the command, send the signal while it writes; its exit code and what it said."""
    line = [sys.executable, "-c", WAITS, str(number), *map(str, arguments)]
    with subprocess.Popen(
        line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout.readline() == "writing\n"
        assert any(path.name.endswith(".part") for path in folder.rglob("*"))
        running.send_signal(kill)
        _, said = running.communicate(timeout=60)
    return running.returncode, said


def assert_stopped(kill, code, said):
    if kill is signal.SIGKILL:
        assert code == -signal.SIGKILL
    else:
        expected, word = CODES[kill]
        assert code == expected
        assert said.splitlines()[-1] == f"odefs: {word}; nothing half-written is left."
        assert "Traceback" not in said


@pytest.mark.parametrize(("kill", "target"), CASES)
def test_the_old_file_stays_until_the_new_one_is_whole(kill, target, tmp_path):
    for name in TARGETS:
        (tmp_path / name).write_text("old")
    arguments = ("detect", "--force", "-o", "o.csv", "--save", "m.odefs", "--report", "r.html")
    code, said = stop(kill, TARGETS[target], arguments, tmp_path)
    assert_stopped(kill, code, said)
    for name, number in TARGETS.items():
        assert ((tmp_path / name).read_bytes() == b"old") == (number >= TARGETS[target])
    left = {path.name for path in tmp_path.iterdir()} - TARGETS.keys()
    assert len(left) == (kill is signal.SIGKILL), (
        "nothing can be cleared away after SIGKILL, and all else is"
    )
    if left:
        assert odefs(*arguments, cwd=tmp_path).returncode == 0
        assert {path.name for path in tmp_path.iterdir()} == TARGETS.keys(), (
            "the next run clears it away"
        )


@pytest.mark.slow
@pytest.mark.parametrize("kill", SIGNALS, ids=lambda s: s.name)
def test_a_folder_of_scores(kill, tmp_path):
    frame = pl.read_csv(transactions_path())
    (tmp_path / "in").mkdir()
    for name in "abc":
        frame.write_parquet(tmp_path / "in" / f"{name}.parquet")
    assert odefs("detect", "--save", "m.odefs", "--no-report", cwd=tmp_path).returncode == 0
    arguments = ("score", "m.odefs", "in", "-o", "out")
    code, said = stop(kill, 2, arguments, tmp_path)
    assert_stopped(kill, code, said)
    assert {path.name for path in (tmp_path / "out").glob("*.parquet")} == {"a.parquet"}
    done = odefs(*arguments, cwd=tmp_path)
    assert "2 files written, 1 already there" in done.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "a.parquet",
        "b.parquet",
        "c.parquet",
    ]
    first, *others = (pl.read_parquet(tmp_path / "out" / f"{name}.parquet") for name in "abc")
    assert all(first.equals(other) for other in others)


WRITER = """
import sys, warnings
from pathlib import Path
import numpy as np
from odefs import LeSiNN
from odefs.tables.writers.files import write_table
seed = int(sys.argv[1])
warnings.simplefilter("ignore")
model = LeSiNN(random_state=seed).fit(np.random.default_rng(0).normal(size=(200, 20)))
model.save(f"m{seed}.odefs")
write_table(Path(f"t{seed}.csv"), [{"a": [seed] * 5000}])
print("ready", flush=True)
sys.stdin.readline()
for _ in range(15):
    model.save("m.odefs")
    write_table(Path("t.csv"), [{"a": [seed] * 5000}])
"""


def test_processes_that_write_one_file(tmp_path):
    """Readers always find a complete file, and the last one is one of those written."""
    line = [sys.executable, "-c", WRITER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen([*line, str(seed)], cwd=tmp_path, **pipes) for seed in range(3)]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    whole = [
        {(tmp_path / f"{kind[0]}{seed}{kind[1:]}").read_bytes() for seed in range(3)}
        for kind in ("m.odefs", "t.csv")
    ]
    assert [len(contents) for contents in whole] == [3, 3]
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    seen = 0
    while any(process.poll() is None for process in running):
        if (tmp_path / "t.csv").exists():
            assert (tmp_path / "m.odefs").read_bytes() in whole[0]
            assert (tmp_path / "t.csv").read_bytes() in whole[1]
            seen += 1
    assert [process.wait() for process in running] == [0, 0, 0]
    assert seen
    assert (tmp_path / "m.odefs").read_bytes() in whole[0]
    assert (tmp_path / "t.csv").read_bytes() in whole[1]
    names = {f"{kind}" for seed in range(3) for kind in (f"m{seed}.odefs", f"t{seed}.csv")} | {
        "m.odefs",
        "t.csv",
    }
    assert {path.name for path in tmp_path.iterdir()} == names
    for process in running:
        process.stdin.close()
        process.stdout.close()


@pytest.mark.slow
def test_commands_that_write_one_output(tmp_path):
    line = [
        str(ODEFS),
        "detect",
        "--force",
        "--quiet",
        "-o",
        "o.csv",
        "--save",
        "m.odefs",
        "--report",
        "r.json",
    ]
    running = [
        subprocess.Popen([*line, "--seed", str(seed)], cwd=tmp_path) for seed in (0, 0, 1, 1)
    ]
    assert [process.wait(timeout=300) for process in running] == [0] * 4
    last = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert last.keys() == {"o.csv", "m.odefs", "r.json"}
    alone = []
    for seed in (0, 1):
        assert (
            subprocess.run([*line, "--seed", str(seed)], cwd=tmp_path, check=True).returncode == 0
        )
        alone.append({name: (tmp_path / name).read_bytes() for name in last})
    assert all(last[name] in (alone[0][name], alone[1][name]) for name in last)


def test_threads_that_write_one_file(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 5))
    models = [LeSiNN(random_state=seed).fit(X) for seed in range(4)]
    threads = [
        threading.Thread(target=lambda model=model: [model.save(tmp_path / "m") for _ in range(20)])
        for model in models
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert any(
        np.array_equal(load(tmp_path / "m").outlier_scores(X), model.outlier_scores_)
        for model in models
    )


def test_what_others_still_write_is_left_to_them(tmp_path):
    """Temporary files of processes that run, and of other machines, are not leftovers."""
    with atomic_write(tmp_path / "m") as mine:
        mine.write_bytes(b"mine")
        elsewhere = tmp_path / f".m.elsewhere-{os.getpid()}-00000000.part"
        gone = tmp_path / mine.name.replace(f"-{os.getpid()}-", "-4194305-")
        of_another_file = tmp_path / gone.name.replace(".m.", ".m.csv.")
        for path in (elsewhere, gone, of_another_file):
            path.write_bytes(b"")
        with atomic_write(tmp_path / "m") as other:
            other.write_bytes(b"other")
        assert {path.name for path in tmp_path.iterdir()} == {
            "m",
            mine.name,
            elsewhere.name,
            of_another_file.name,
        }
        delete_leftovers(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {"m", mine.name, elsewhere.name}
    assert (tmp_path / "m").read_bytes() == b"mine"


def test_hidden_files_of_others_are_none_of_ours(tmp_path):
    with atomic_write(tmp_path / "o.csv") as mine:
        mine.write_bytes(b"")
    machine = mine.name.removeprefix(".o.csv.").split("-")[0]
    ends = (
        "my-own-file.v1",
        "a-b-c",
        f"{machine}-x-00000000",
        f"{machine}-{10**30}-00000000",
        f"{machine}-4194305-0",
        "--",
    )
    names = {f".o.csv.{end}.part" for end in ends} | {".a.b-c-d.e.part", "o.csv"}
    for name in names:
        (tmp_path / name).write_bytes(b"theirs")
    delete_leftovers(tmp_path)
    with atomic_write(tmp_path / "o.csv") as mine:
        mine.write_bytes(b"new")
    assert {path.name for path in tmp_path.iterdir()} == names
    assert (tmp_path / "o.csv").read_bytes() == b"new"


SWEEPS = (
    "import sys; from pathlib import Path; from odefs.system.atomic_write import *; "
    "delete_leftovers(Path(sys.argv[1]))"
)


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces of processes are Linux")
def test_containers_of_one_name(tmp_path):
    """Who has no process of the writer's number among its own does not take the writer for dead."""
    apart = ["unshare", "-rpf"]
    if subprocess.run([*apart, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this system does not allow namespaces")
    with atomic_write(tmp_path / "m") as mine:
        mine.write_bytes(b"mine")
        gone = tmp_path / mine.name.replace(f"-{os.getpid()}-", "-4194305-")
        gone.write_bytes(b"")
        subprocess.run([*apart, sys.executable, "-c", SWEEPS, tmp_path], check=True)
        assert {path.name for path in tmp_path.iterdir()} == {mine.name, gone.name}
        subprocess.run([sys.executable, "-c", SWEEPS, tmp_path], check=True)
        assert {path.name for path in tmp_path.iterdir()} == {mine.name}
    assert (tmp_path / "m").read_bytes() == b"mine"


def test_errors_of_reading_are_not_put_on_the_output(tmp_path):
    inputs = (
        PermissionError(errno.EACCES, "Permission denied", "in.csv"),
        OSError("Couldn't deserialize thrift"),
        OSError(errno.EIO, "Input/output error"),
    )
    for error in inputs:
        with (
            pytest.raises(OSError, match=r"Perm|thrift|Input") as met,
            atomic_write(tmp_path / "o.csv"),
        ):
            raise error
        assert met.value is error
    for text in (str(tmp_path), "(os error 28)"):
        with (
            pytest.raises(OSError, match=r"o\.csv") as met,
            atomic_write(tmp_path / "o.csv") as partial,
        ):
            raise OSError(f"Failed to open local file {partial if text == str(tmp_path) else text}")
        assert met.value.filename == str(tmp_path / "o.csv")
    with pytest.raises(OSError, match=r"o\.csv"), atomic_write(tmp_path / "o.csv"):
        pass  # nothing was written
    assert not list(tmp_path.iterdir())


def test_a_damaged_part_is_named(tmp_path):
    frame = pl.read_csv(transactions_path())
    (tmp_path / "in").mkdir()
    part = tmp_path / "in" / "a.parquet"
    frame.write_parquet(part, compression="uncompressed")
    model = odefs_library.ODEFS(n_estimators=2, random_state=0, scaling="none")
    found = odefs_library.detect(frame, model=model)
    found.save(tmp_path / "m.odefs")
    loaded = load_table_model(tmp_path / "m.odefs")
    content = bytearray(part.read_bytes())
    content[4 : len(content) // 2] = b"\xff" * (len(content) // 2 - 4)
    part.write_bytes(content)
    with pytest.raises(TableError) as told:
        score_partitions(BatchScorer(loaded.model, loaded.encoder), part.parent, tmp_path / "out")
    assert str(told.value).startswith(f"{part}: ")
    assert "cannot be written" not in str(told.value)
    assert not list((tmp_path / "out").iterdir())
