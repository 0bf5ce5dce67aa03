"""Branches for other systems, with stand-ins for their answers.

Includes a run on a system without the POSIX features that Python may lack.
"""

import ctypes
import errno
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from odefs.exceptions import TableError
from odefs.system import memory, tempfile_owner, windows
from odefs.system.atomic_write import atomic_write, error_number
from odefs.system.memory import UNKNOWN, free_memory
from odefs.tables.writers.files import check_target


class Kernel:
    """A stand-in for kernel32: processes by number, and what waiting for them gives."""

    def __init__(self, processes=(), error=87):
        self.processes, self.error, self.closed = dict(processes), error, []

        def open_process(access, inherit, number):
            return 1000 + number if number in self.processes else None

        self.OpenProcess = open_process

    def WaitForSingleObject(self, handle, milliseconds):
        assert milliseconds == 0
        return self.processes[handle.value - 1000]

    def CloseHandle(self, handle):
        self.closed.append(handle.value)

    def GlobalMemoryStatusEx(self, status):
        found = ctypes.cast(status, ctypes.POINTER(windows._MemoryStatus)).contents
        assert found.dwLength == ctypes.sizeof(windows._MemoryStatus) == 64
        found.ullTotalPhys, found.ullAvailPhys = 8 * 2**30, 3 * 2**30
        return 1


@pytest.fixture
def on_windows(monkeypatch):
    """A function that makes this Windows with some processes."""

    def pretend(**options):
        kernel = Kernel(**options)
        monkeypatch.setattr(sys, "platform", "win32")
        monkeypatch.setattr(ctypes, "WinDLL", lambda name, use_last_error: kernel, raising=False)
        monkeypatch.setattr(ctypes, "get_last_error", lambda: kernel.error, raising=False)
        # Ends the process there, with this number as its exit code.
        monkeypatch.setattr(os, "kill", None)
        return kernel

    return pretend


def test_processes_on_windows(on_windows):
    kernel = on_windows(processes={7: 0x102, 8: 0})
    assert [tempfile_owner._is_running(number) for number in (7, 8, 9)] == [True, False, False]
    assert kernel.closed == [1007, 1008]
    kernel.error = 5
    assert tempfile_owner._is_running(9), "of another user, whom one may not ask after"


def test_what_is_left_behind_on_windows(on_windows, tmp_path, monkeypatch):
    on_windows(processes={os.getpid(): 0x102})
    registry = SimpleNamespace(HKEY_LOCAL_MACHINE=1, KEY_READ=2, KEY_WOW64_64KEY=4)
    registry.OpenKey = lambda *arguments: nullcontext()
    registry.QueryValueEx = lambda opened, name: (f"{name} 1", 1)
    monkeypatch.setitem(sys.modules, "winreg", registry)
    machine = tempfile_owner.machine()
    assert re.search("m[0-9a-f]{8}", machine)
    pattern = re.compile(tempfile_owner.OWNER)
    assert not tempfile_owner.is_left_behind(pattern.fullmatch(f"{machine}-{os.getpid()}"))
    assert tempfile_owner.is_left_behind(pattern.fullmatch(f"{machine}-99999"))
    registry.QueryValueEx = lambda opened, name: (f"{name} 2", 1)
    assert tempfile_owner.machine() != machine


def test_memory_on_windows_and_macos(on_windows, monkeypatch, tmp_path):
    on_windows()
    assert memory.free_on_machine() == 3 * 2**30
    assert free_memory(tmp_path) == 3 * 2**30
    monkeypatch.setattr(sys, "platform", "darwin")
    told = (
        "Mach Virtual Memory Statistics: (page size of 16384 bytes)\nPages free: 10.\nPages "
        "active: 99.\nPages inactive: 20.\nPages speculative: 5.\n"
    )
    monkeypatch.setattr(subprocess, "run", lambda *line, **options: SimpleNamespace(stdout=told))
    assert memory.free_on_machine() == 35 * 16384

    def fails(*line, **options):
        raise FileNotFoundError(errno.ENOENT, "vm_stat")

    monkeypatch.setattr(subprocess, "run", fails)
    assert free_memory(tmp_path) == UNKNOWN


def test_the_number_of_a_mac(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")

    class Library:
        def gethostuuid(self, found, no_limit):
            found[:4] = b"uuid"
            return 0

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    assert tempfile_owner._machine_id() == b"uuid" + bytes(12)
    assert tempfile_owner.machine().count("m")


@pytest.mark.parametrize(
    "name", ["CON", "aux.csv", "nul.tar.csv", "Com1.csv", "a:b.csv", "a?.csv", "o.csv.", "o.csv "]
)
def test_names_that_windows_gives_to_no_file(name, tmp_path, monkeypatch):
    check_target(tmp_path / name, force=False)
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(TableError, match="Windows"):
        check_target(tmp_path / name, force=False)
    for other in ("console.csv", "com.csv", "auxiliary", "o.csv", "com12.csv"):
        check_target(tmp_path / other, force=False)


def test_a_file_that_another_program_has_open_on_windows(tmp_path, monkeypatch):
    (tmp_path / "o.csv").write_text("old")

    def refuse(source, target):
        raise PermissionError(errno.EACCES, "Access is denied", str(source))

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(tempfile_owner, "_machine_id", lambda: b"1")
    monkeypatch.setattr(sys, "platform", "win32")
    with (
        pytest.raises(OSError, match="another program"),
        atomic_write(tmp_path / "o.csv") as partial,
    ):
        partial.write_text("new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_numbers_of_errors_are_those_of_the_system():
    assert error_number(RuntimeError("No space left on device (os error 28)")) == 28
    assert error_number(OSError(errno.EIO, "x")) == errno.EIO
    assert error_number(RuntimeError("x")) is None


LACKING = """
import builtins, errno, io, os, pathlib, signal, sys
import click, joblib, multiprocessing, numpy, polars, pyarrow, pyarrow.parquet
import scipy, sklearn, sklearn.pipeline
import subprocess, tempfile, threadpoolctl
for module, names in (
    (os, "fork register_at_fork getuid geteuid getgid getegid chown lchown fchmod fchown"),
    (os, "mkfifo killpg sysconf pathconf sched_getaffinity"),
    (signal, "SIGPIPE SIGHUP SIGALRM SIGKILL SIGUSR1 setitimer pthread_kill pthread_sigmask"),
    (signal, "sigwait alarm"),
    (errno, "EDQUOT"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
os.O_BINARY = 0
absent = ("fcntl", "resource", "pwd", "grp", "select", "termios", "posix")
bring, unfold = builtins.__import__, pathlib.Path.read_text

def importing(name, globals=None, locals=None, fromlist=(), level=0):
    if name in absent and (globals or {}).get("__name__", "").startswith(("odefs", "_odefs")):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return bring(name, globals, locals, fromlist, level)

def reading(self, *arguments, **options):
    if str(self).startswith(("/proc", "/sys", "/etc")):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(self))
    return unfold(self, *arguments, **options)

def linking(self, *arguments, **options):
    raise OSError(errno.EPERM, "A required privilege is not held by the client")

builtins.__import__, pathlib.Path.read_text, pathlib.Path.symlink_to = importing, reading, linking
import _odefs_start
_odefs_start.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("in_parts", ["0", "1"])
def test_a_system_without_what_posix_has(in_parts, tmp_path):
    """Detect and score, in memory and in parts, with all files that these leave."""
    (tmp_path / "b[1].csv").write_text("a,b\n" + "1,2\n3,4\n5,5\n" * 30 + "900,7\n")

    def run(*arguments):
        line = [sys.executable, "-c", LACKING, *arguments, "--force", "--quiet"]
        settings = {**os.environ, "ODEFS_IN_PARTS": in_parts, "TMPDIR": str(tmp_path.parent)}
        done = subprocess.run(
            line, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")

    line = (
        "detect",
        "b[1].csv",
        "-o",
        "o.csv",
        "--save",
        "m.odefs",
        "--report",
        "r.json",
        "--set",
        "n_estimators=2",
    )
    run(*line)
    run(*line)
    run("score", "m.odefs", "b[1].csv", "-o", "s.parquet", "--no-report")
    assert {path.name for path in tmp_path.iterdir()} == {
        "b[1].csv",
        "o.csv",
        "m.odefs",
        "r.json",
        "s.parquet",
    }
    assert len(Path(tmp_path / "o.csv").read_text().splitlines()) == 92
