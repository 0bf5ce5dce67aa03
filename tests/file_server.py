"""A server on the loopback interface: files on the web, and the same files as a bucket of S3."""

import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


@contextmanager
def serving(files, types=None, redirects=None, cut=(), unstated=(), certificate=None):
    """The address of a server of ``files`` (path to content), for the ``with`` block.

    ``types`` are content types, ``redirects`` other addresses, and of the files in ``cut`` only
    the first half is sent; the sizes of those ``unstated`` are not sent. With a ``certificate``, a
    file of it and its key, the server is encrypted. Requests are appended to the attribute
    ``seen`` of the server.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            parts = urlsplit(self.path)
            path, parameters = unquote(parts.path), parse_qs(parts.query)
            server.seen.append(self.path)
            if "list-type" in parameters:
                self._send(200, _listing(files, path, parameters), "application/xml")
            elif path in (redirects or {}):
                self.send_response(302)
                self.send_header("Location", redirects[path])
                self.end_headers()
            elif path in files:
                self._send(200, files[path], (types or {}).get(path, "text/csv"), path in cut)
            else:
                self._send(404, b"", "text/plain")

        def _send(self, code, content, kind, is_cut=False):
            # Arrow reads objects in ranges.
            start = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")
            if code == 200 and "Range" in self.headers:
                code = 206
                content = content[int(start[0]) : int(start[1] or len(content) - 1) + 1]
            self.send_response(code)
            self.send_header("Content-Type", kind)
            if urlsplit(self.path).path not in unstated:
                self.send_header("Content-Length", str(len(content)))
            self.send_header("Last-Modified", "Tue, 01 Jan 2030 00:00:00 GMT")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content[: len(content) // 2] if is_cut else content)

        def log_message(self, *_):
            pass

    with running(Handler, certificate) as server:
        yield server


@contextmanager
def running(handler, certificate=None):
    """A server of the handler in a thread, for the ``with`` block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.seen = []
    scheme = "http"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    server.address = f"{scheme}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _listing(files, bucket, parameters):
    bucket = "/" + bucket.strip("/") + "/"
    prefix = parameters.get("prefix", [""])[0]
    keys = [path.removeprefix(bucket) for path in files if path.startswith(bucket + prefix)]
    contents = "".join(
        f"<Contents><Key>{escape(key)}</Key><Size>{len(files[bucket + key])}</Size>"
        "<LastModified>2030-01-01T00:00:00.000Z</LastModified></Contents>"
        for key in keys
    )
    return (
        '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<KeyCount>{len(keys)}</KeyCount><IsTruncated>false</IsTruncated>{contents}"
        "</ListBucketResult>"
    ).encode()
