"""Interrupts and SIGTERM from the first line of the command on.

Exit codes, no traceback, nothing left behind, and little work after the signal.
"""

import os
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

import pytest

from odefs.cli.terminal.messages import choose_formats, parting_bytes, write_document
from odefs.datasets.transactions import transactions_path
from signal_moments import ENTRY, HOOK, run_until

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows cannot send these signals to another process"
)

DETECT = ("detect", "--no-report", "-o", "o.csv", "--set", "n_estimators=2")
NUMBERS = (signal.SIGINT, signal.SIGTERM)
MOMENTS = 50
QUICK = (0, 7, 22)
CPU_SECONDS = 2.0


@pytest.fixture(scope="module")
def n_imports(tmp_path_factory):
    """How many modules a whole run imports."""
    cwd = tmp_path_factory.mktemp("whole") / "run"
    cwd.mkdir()
    done = run_until(-1, signal.SIGINT, DETECT, cwd)
    assert done.code == 0, done.stderr
    return int(done.noted)


def assert_left(done, number, cwd):
    assert done.noted, "the moment came"
    assert done.code == 128 + number, done.stderr
    assert "Traceback" not in done.stderr
    assert done.cpu < CPU_SECONDS
    assert not list(cwd.iterdir())


@pytest.mark.parametrize(
    "k", [pytest.param(k, marks=() if k in QUICK else pytest.mark.slow) for k in range(MOMENTS)]
)
def test_a_signal_while_modules_are_imported(k, n_imports, tmp_path):
    cwd, number = tmp_path / "run", NUMBERS[k % 2]
    cwd.mkdir()
    moment = 1 + k * (n_imports - 1) // MOMENTS
    assert_left(run_until(moment, number, DETECT, cwd), number, cwd)


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("share", [0.0, 0.2, 0.9])
def test_the_same_for_python_m(number, share, n_imports, tmp_path):
    """From its own first line on, which imports the entry point of the script."""
    cwd = tmp_path / "run"
    cwd.mkdir()
    moment = 1 + int(share * (n_imports - 1))
    assert_left(run_until(moment, number, DETECT, cwd, as_module=True), number, cwd)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_check_that_is_left_writes_the_error_in_its_format(number, tmp_path):
    """In the middle of the imports, where the command exits at once."""
    cwd, kind = tmp_path / "run", {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
    cwd.mkdir()
    check = ("check", transactions_path(), "--model", "absent.odefs", "--format")
    last = int(run_until(-1, number, (*check, "junit"), cwd).noted)
    done = run_until(last, number, (*check, "junit"), cwd)
    assert_left(done, number, cwd)
    suite = ElementTree.fromstring(done.stdout.encode())
    assert [error.get("type") for error in suite.iter("error")] == [kind[number]]
    done = run_until(last, number, (*check, "github"), cwd)
    assert_left(done, number, cwd)
    assert done.stdout.startswith(f"::error title=odefs {kind[number]}::")
    done = run_until(last, number, (*check, "text"), cwd)
    assert_left(done, number, cwd)
    assert done.stdout == ""


@pytest.mark.parametrize("form", ["junit", "github"])
def test_a_written_result_stays_the_only_document(form, capfd):
    try:
        choose_formats(["check", f"--format={form}"])
        assert parting_bytes("terminated.", "terminated", 143)[1]
        write_document("the result")
        assert parting_bytes("terminated.", "terminated", 143)[1] == b""
    finally:
        choose_formats([])


WRITES = """
noted, entry = sys.argv[3], sys.argv[4]
class Telling:
    def find_spec(self, name, path=None, target=None):
        global seen
        if name == first:
            seen = 0
        elif seen >= 0:
            seen += 1
            if seen == moment:
                os.write(1, b"x")
sys.meta_path[0] = Telling()
sys.argv = ["odefs", *sys.argv[5:]]
sys.exit(__import__(entry, fromlist=["main"]).main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("k", range(10))
def test_a_signal_from_outside(k, n_imports, tmp_path):
    """At a moment that the scheduler determines: between bytecodes or in an extension module."""
    number = NUMBERS[k % 2]
    line = [
        sys.executable,
        "-c",
        HOOK + WRITES,
        "0",
        str(1 + k * n_imports // 10),
        "",
        ENTRY,
        *DETECT,
    ]
    with subprocess.Popen(
        line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout.read(1) == b"x"
        time.sleep(0.003 * k)
        running.send_signal(number)
        _, said = running.communicate(timeout=300)
    assert running.returncode in (128 + number, 0), said
    assert b"Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} == (
        {"o.csv"} if running.returncode == 0 else set()
    )


TEMPORARY = """
import os, signal, sys
number = int(sys.argv.pop())
signal.signal(signal.SIGINT, signal.default_int_handler)
from _odefs_start import main
import odefs.tables.readers.open as reading
def stop(*arguments, **options):
    import stopping_here
reading.read_text = stop
class Stops:
    def find_spec(self, name, path=None, target=None):
        if name == "stopping_here":
            assert [name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("odefs-")]
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Stops())
main()
"""


@pytest.mark.parametrize("number", NUMBERS)
def test_temporary_folders_go_when_an_import_is_interrupted(number, tmp_path):
    """No exception unwinds the stack there, so that whoever leaves takes them away."""
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 1000)
    (tmp_path / "tmp").mkdir()
    settings = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "ODEFS_IN_PARTS": "1"}
    line = [sys.executable, "-c", TEMPORARY, "detect", "t.csv", "--no-report", str(int(number))]
    done = subprocess.run(
        line, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 128 + number, done.stderr
    assert not [path for path in (tmp_path / "tmp").iterdir() if path.name.startswith("odefs-")]


def test_importing_the_library_leaves_handlers_alone():
    script = """
import signal
before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
import odefs, odefs.cli.main, odefs.cli.errors, odefs.cli.commands.detect
odefs.detect
assert before == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_signal_that_is_ignored_stays_ignored(tmp_path):
    script = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
import _odefs_start
assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
from odefs.cli.signals import leave_on_signals, raising_on_signals
leave_on_signals()
with raising_on_signals():
    signal.raise_signal(signal.SIGINT)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_interrupt_that_a_library_replaces_is_still_one(tmp_path):
    """Such as the RuntimeError of Python 3.11 for exceptions while a class is created."""
    script = """
import os, signal
import click
from odefs.cli.errors import guarded
try:
    with guarded(False):
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt as error:
            raise ImportError("numpy.core.multiarray failed to import") from error
except SystemExit as error:
    os._exit(error.code)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (
        143,
        "odefs: terminated; nothing half-written is left.\n",
    )


COMPILED = """
import hashlib, os, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
from odefs.cli.errors import guarded
with guarded(False):
    threading.Timer(0.2, lambda: os.kill(os.getpid(), int(sys.argv[1]))).start()
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", 300_000_000)
"""


CAUGHT = COMPILED.replace(
    "    hashlib",
    """    try:
        signal.pause()
    except KeyboardInterrupt:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), int(sys.argv[1]))).start()
    hashlib""",
)


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("script", [COMPILED, CAUGHT], ids=["the first", "the second"])
def test_compiled_code_that_does_not_return_is_not_waited_for(script, number, tmp_path):
    """Such as the reader of a large Excel file; this one would take minutes."""
    running = subprocess.Popen([sys.executable, "-c", script, str(int(number))], cwd=tmp_path)
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 128 + number
    assert used.ru_utime + used.ru_stime < 30


FORKED = """
import os, signal, time
from odefs.cli.errors import guarded
with guarded(False):
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))
        time.sleep(60)
        os._exit(1)
    time.sleep(0.5)
    os.kill(child, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    time.sleep(1)
"""


@pytest.mark.slow
def test_a_signal_to_a_child_is_none_of_its_parents(tmp_path):
    assert subprocess.run([sys.executable, "-c", FORKED], cwd=tmp_path, check=False).returncode == 0
