"""A PostgreSQL server of its own for a test, on the loopback interface, in a temporary folder."""

import os
import pwd
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

PASSWORD = "hunter2/x@y:z"
ENCODED = "hunter2%2Fx%40y%3Az"
SECONDS = 120
"""Time to start, on a busy machine."""


def _program(name):
    """The path of a program, which Debian does not put on the search path."""
    found = shutil.which(name)
    others = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    assert found or others, f"{name} is missing: install PostgreSQL (apt-get install postgresql)"
    return found or str(others[-1])


def _unprivileged():
    """What runs a program as another user than root, which the server refuses to run as."""
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def postgresql():
    """The address of a running server, for the ``with`` block; its user is tester."""
    who = _unprivileged()
    # Not in the folder of pytest, which other users may not enter.
    with TemporaryDirectory(prefix="postgresql-") as name:
        folder = Path(name)
        (folder / "password").write_text(PASSWORD)
        if who:
            shutil.chown(folder, who["user"], who["group"])
            shutil.chown(folder / "password", who["user"], who["group"])
        data, port = folder / "data", _free_port()
        options = ["-A", "scram-sha-256", "--pwfile", folder / "password", "-N", "-E", "UTF8"]
        made = [_program("initdb"), "-D", data, "-U", "tester", "--locale=C", *options]
        subprocess.run(made, check=True, cwd=folder, capture_output=True, **who)
        line = [_program("postgres"), "-D", data, "-p", str(port), "-k", folder]
        line += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        with open(folder / "log", "wb") as log:
            server = subprocess.Popen(line, cwd=folder, stdout=log, stderr=log, **who)
        try:
            _await(server, folder / "log")
            yield f"postgresql://tester:{ENCODED}@127.0.0.1:{port}/postgres"
        finally:
            server.terminate()
            server.wait(SECONDS)


def _await(server, log):
    deadline = time.monotonic() + SECONDS
    while "ready to accept connections" not in log.read_text():
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
