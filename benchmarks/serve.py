"""Throughput of the server on the page ``docs/how-to/serve.md``.

``python -m benchmarks.serve`` starts it as one process on the loopback interface, sends it rows of
the bundled example, and prints the table of the page. Processor time is that of the server, which
other work on the machine changes least.
"""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from odefs.datasets.transactions import transactions_path

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "serve.md"
START_SECONDS = 120
BATCH = 1000
CLIENTS = 2


class Server(NamedTuple):
    """A server that answers."""

    port: int
    pid: int

    def request(self, records: Sequence[dict[str, Any]]) -> tuple[int, Any]:
        """Send one request; return the status and the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_SECONDS)
        try:
            return _post(connection, body_of(records))
        finally:
            connection.close()

    def cpu_seconds(self) -> float:
        """Processor time of the process so far (Linux)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def page_code() -> str:
    """The server's code, as the page shows it."""
    (code,) = re.findall(r"```py\n(# serve\.py\n.*?)```", PAGE.read_text(), flags=re.DOTALL)
    return str(code)


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Train a model of the bundled example and run the page's server in a process of its own."""
    (folder / "serve.py").write_text(page_code())
    line = [sys.executable, "-m", "odefs", "detect", str(transactions_path()), "--id"]
    options = ["transaction", "--save", "model.odefs", "--no-report", "--quiet"]
    subprocess.run([*line, *options], cwd=folder, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "serve:app", f"--port={port}"]
    process = subprocess.Popen(
        [*command, "--log-level=warning"],
        cwd=folder,
        env={**os.environ, "ODEFS_MODEL": "model.odefs"},
    )
    try:
        _wait(port, process)
        yield Server(port, process.pid)
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def _wait(port: int, process: subprocess.Popen) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"the server did not start: exit code {process.poll()}")


def records() -> list[dict[str, Any]]:
    """Rows of the bundled example, without their name."""
    return pl.read_csv(transactions_path()).drop("transaction").to_dicts()


def body_of(rows: Sequence[dict[str, Any]]) -> bytes:
    return json.dumps({"records": list(rows)}).encode()


def _post(connection: http.client.HTTPConnection, body: bytes) -> tuple[int, Any]:
    connection.request("POST", "/score", body, {"content-type": "application/json"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


class Throughput(NamedTuple):
    """What one measurement found."""

    requests_per_second: float
    cpu_ms_per_request: float


def measure(server: Server, bodies: Sequence[bytes], clients: int = CLIENTS) -> Throughput:
    """Send the requests from some clients, each over one connection."""

    def send(own: Sequence[bytes]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=START_SECONDS)
        for body in own:
            status, _ = _post(connection, body)
            assert status == 200
        connection.close()

    threads = [threading.Thread(target=send, args=(bodies[k::clients],)) for k in range(clients)]
    start, used = time.perf_counter(), server.cpu_seconds()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds, used = time.perf_counter() - start, server.cpu_seconds() - used
    return Throughput(len(bodies) / seconds, 1000 * used / len(bodies))


def table(n_single: int = 300, n_batches: int = 12, repeats: int = 3) -> str:
    """Measure and return the table of the page; the best of some repeats each."""
    rows = records()
    lines = [
        "| request | requests a second | rows a second | processor time of a request |",
        "| -- | -: | -: | -: |",
    ]
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
        _, answers = server.request(rows)
        flags = [answer["outlier"] for answer in answers]
        ordinary = [row for row, is_flagged in zip(rows, flags, strict=True) if not is_flagged]
        flagged = [row for row, is_flagged in zip(rows, flags, strict=True) if is_flagged]
        batch = (rows * (BATCH // len(rows) + 1))[:BATCH]
        n_flagged = sum((flags * (BATCH // len(rows) + 1))[:BATCH])
        cases = [
            ("one ordinary row", 1, [body_of([ordinary[k % 500]]) for k in range(n_single)]),
            (
                "one flagged row, with reasons",
                1,
                [body_of([flagged[k % len(flagged)]]) for k in range(n_single // 2)],
            ),
            (
                f"{BATCH:,} rows, {n_flagged} of them flagged",
                BATCH,
                [body_of(batch) for _ in range(n_batches)],
            ),
        ]
        for what, size, bodies in cases:
            measure(server, bodies[: CLIENTS * 2])
            found = [measure(server, bodies) for _ in range(repeats)]
            rate = max(one.requests_per_second for one in found)
            cpu = min(one.cpu_ms_per_request for one in found)
            lines.append(f"| {what} | {rate:,.0f} | {rate * size:,.0f} | {cpu:.1f} ms |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
