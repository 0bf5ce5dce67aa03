"""The command ``odefs review`` in a process of its own, and requests to its page."""

import http.client
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

START = """
import signal, sys
# A shell that runs the tests in the background has them ignore interrupts, and all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
{before}
from odefs.cli.main import main
sys.argv[0] = "odefs"
main()
"""
FAST = ("--set", "n_estimators=2", "--set", "n_subsets=8")
"""Options with which a fit takes little time."""


@dataclass
class Server:
    process: subprocess.Popen
    address: str

    @property
    def netloc(self):
        return urlsplit(self.address).netloc

    def request(self, name, body=None, secret=None, **headers):
        """Status, headers and content of one request, with the page's own headers by default."""
        path = f"/{secret}/" if secret is not None else urlsplit(self.address).path
        connection = http.client.HTTPConnection(self.netloc, timeout=60)
        given = {"Origin": f"http://{self.netloc}", "Content-Type": "application/json"}
        given = given if body is not None else {}
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        given = {key: value for key, value in {**given, **sent}.items() if value is not None}
        method = "GET" if body is None else "POST"
        content = None if body is None else json.dumps(body)
        try:
            connection.request(method, path + name, content, given)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def state(self):
        status, _, content = self.request("state")
        assert status == 200
        return json.loads(content)

    def answer(self, state, word, row=None):
        """The next state, after an answer on the row of ``state``."""
        row = state["row"]["row"] if row is None else row
        body = {"sequence": state["sequence"], "row": row, "answer": word}
        status, _, content = self.request("answer", body)
        assert status == 200, content
        return json.loads(content)

    def end(self, number):
        """Send a signal; exit code and the rest of standard output and error."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def launch(cwd, *arguments, before="", **environment):
    """The process of the command, which may fail before there is a page.

    ``before`` is code that it runs first.
    """
    return subprocess.Popen(
        [sys.executable, "-c", START.format(before=before), "review", *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1", **environment},
    )


@contextmanager
def review(cwd, *arguments, before="", **environment):
    """A running review; the process has ended after the block."""
    process = launch(cwd, "--no-browser", *FAST, *arguments, before=before, **environment)
    try:
        line = process.stdout.readline()
        if not line.startswith("Review: "):
            raise AssertionError(f"no address: {line}{process.stderr.read()}")
        yield Server(process, line.removeprefix("Review: ").strip())
    finally:
        process.kill()
        process.communicate()
