"""The server of the review page: this machine only, one secret address, no other origin.

Only this file imports tornado. Requests are handled one after the other, so a review changes in one
order for all windows. The page has its own script and style sheet and no data, which the script
requests; its content security policy allows script and style sheet by their hashes, and requests
to this server.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from importlib.resources import files
from socket import socket
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

from odefs.exceptions import TableError
from odefs.report.page import content_policy, in_one_scope, template_text
from odefs.review_page.session import ReviewSession

LOOPBACK = "127.0.0.1"
HOST_NAMES = (LOOPBACK, "localhost")
# An answer takes less than 100 bytes. tornado's own limit is 100 MB.
MAX_BODY = 4096
SIGNAL_SECONDS = 0.2
"""Longest wait of the main thread; Windows handles signals only between two of them."""
ANSWERS: dict[str, bool | None] = {"yes": True, "no": False, "unsure": None}
HEADERS = {
    # Values of the table do not stay in the browser's cache.
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Not no-referrer, with which browsers would hide the origin of the page's own requests.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def serve(session: ReviewSession, port: int, started: Callable[[str], None]) -> None:
    """Serve the page until it is finished; ``started`` is called with its address.

    Port 0 takes a free one. Requests are handled in a thread of their own: a signal, which raises
    in the main thread, leaves the event loop whole and waits for the request being handled.
    """
    # Refused requests would be logged on standard error, among the messages of the command.
    for name in ("tornado.access", "tornado.general"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        (listening,) = bind_sockets(port, LOOPBACK)
    except OSError as error:
        raise OSError(error.errno, f"port {port} cannot be used ({error.strerror})") from error
    port, secret = listening.getsockname()[1], secrets.token_urlsafe(24)
    ended = asyncio.Event()
    settings = {"session": session, "port": port, "secret": secret, "ended": ended}
    with asyncio.Runner() as runner, ThreadPoolExecutor(1) as thread:
        loop = runner.get_loop()
        try:
            serving = thread.submit(runner.run, _serve(listening, settings))
            started(f"http://{LOOPBACK}:{port}/{secret}/")
            while not serving.done():
                wait([serving], SIGNAL_SECONDS)
        finally:
            # asyncio's events are not safe to set from another thread.
            loop.call_soon_threadsafe(ended.set)
        serving.result()


async def _serve(listening: socket, settings: dict[str, Any]) -> None:
    server = HTTPServer(Application([(r"/(.*)", _Handler, settings)]), max_body_size=MAX_BODY)
    server.add_socket(listening)
    await settings["ended"].wait()
    server.stop()
    await server.close_all_connections()


class _Handler(RequestHandler):
    """Every address; those without the secret are refused, whether they exist or not."""

    def initialize(
        self, session: ReviewSession, port: int, secret: str, ended: asyncio.Event
    ) -> None:
        self.session, self.secret, self.ended = session, secret, ended
        self.hosts = [f"{name}:{port}" for name in HOST_NAMES]

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        given = self.request.path.split("/")[1]
        headers = self.request.headers
        host, origin = headers.get("Host", ""), headers.get("Origin")
        own = f"http://{host}"
        refused = (
            # As bytes: compare_digest() refuses text that is not ASCII, which an address may
            # contain.
            not secrets.compare_digest(given.encode(), self.secret.encode())
            # Another name that leads to this machine is a sign of DNS rebinding.
            or host not in self.hosts
            # Browsers send no Origin with a GET request of the page itself, but always with POST.
            or origin not in ((own,) if self.request.method == "POST" else (own, None))
            or not (self._is_navigation() or self._is_from_own_page())
        )
        if refused:
            raise HTTPError(403)

    def _is_from_own_page(self) -> bool:
        # Browsers say "none" if the user has typed the address; old ones do not send the header.
        return self.request.headers.get("Sec-Fetch-Site", "none") in ("same-origin", "none")

    def _is_navigation(self) -> bool:
        """Whether a window goes to the page, which holds no data.

        The file that leads the browser there counts as another site.
        """
        headers = self.request.headers
        return (
            self.request.method == "GET"
            and self.request.path in (f"/{self.secret}", f"/{self.secret}/")
            and headers.get("Sec-Fetch-Mode") == "navigate"
            and headers.get("Sec-Fetch-Dest") == "document"
        )

    def get(self, path: str) -> None:
        _, slash, name = path.partition("/")
        if name == "state":
            self._send(self.session.state())
        elif name == "" and slash:
            page, policy = render_review_page()
            self.set_header("Content-Security-Policy", policy)
            self.set_header("Content-Type", "text/html; charset=utf-8")
            self.write(page)
        elif name == "":
            self.redirect(f"/{self.secret}/")
        else:
            raise HTTPError(404)

    async def post(self, path: str) -> None:
        name = path.partition("/")[2]
        asked = self._body()
        if name == "finish":
            self._send({})
            # The page gets the reply before the server closes its connections.
            await self.flush()
            self.ended.set()
            return
        changes: dict[str, Callable[[], str]] = {
            "answer": lambda: self.session.answer(
                _whole(asked, "sequence"), _whole(asked, "row"), _answer(asked)
            ),
            "undo": lambda: self.session.undo(_whole(asked, "sequence")),
        }
        if name not in changes:
            raise HTTPError(404)
        try:
            notice = changes[name]()
        except (TableError, OSError) as error:
            self.set_status(507)
            self._send({"error": str(error)})
            return
        self._send(self.session.state(notice))

    def write_error(self, status_code: int, **details: object) -> None:
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{status_code} {self._reason}\n")

    def _body(self) -> dict[str, object]:
        # Pages of other sites can send forms, but JSON only after a preflight request, which is
        # refused.
        if self.request.headers.get("Content-Type") != "application/json":
            raise HTTPError(415)
        try:
            asked = json.loads(self.request.body)
        # Four kilobytes of brackets are too deep for the parser.
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            raise HTTPError(400)
        return asked

    def _send(self, content: dict[str, object]) -> None:
        self.set_header("Content-Type", "application/json")
        self.write(json.dumps(content, allow_nan=False))


def _whole(asked: dict[str, object], name: str) -> int:
    value = asked.get(name)
    # In Python, JSON's true is an int too.
    if not isinstance(value, int) or isinstance(value, bool):
        raise HTTPError(400)
    return value


def _answer(asked: dict[str, object]) -> bool | None:
    answer = asked.get("answer")
    if not isinstance(answer, str) or answer not in ANSWERS:
        raise HTTPError(400)
    return ANSWERS[answer]


SHARED_SCRIPTS = ("elements", "axes", "strip")
"""Parts of the report's script that this page uses."""


@lru_cache(maxsize=1)
def render_review_page() -> tuple[str, str]:
    """Return the page and its content security policy."""
    style = template_text("style.css") + _text("review.css")
    shared = [template_text(f"script/{name}.js") for name in SHARED_SCRIPTS]
    script = in_one_scope([*shared, _text("curve.js"), _text("review.js")])
    policy = content_policy(script, style, connects=True)
    page = _text("review.html")
    for mark, content in (("STYLE", style), ("SCRIPT", script)):
        page = page.replace(f"/*{mark}*/", content)
    # Only here, because browsers ignore frame-ancestors in a meta element, which the report has.
    return page, f"{policy}; frame-ancestors 'none'"


def _text(name: str) -> str:
    return (files("odefs.review_page") / "templates" / name).read_text(encoding="utf-8")
