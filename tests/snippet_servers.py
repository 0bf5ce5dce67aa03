"""Servers on the loopback interface that answer under the addresses that the pages name."""

import json
import os
import ssl
import subprocess
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit

import adbc_driver_postgresql.dbapi as adbc

from file_server import running, serving
from postgresql_server import postgresql
from snippet_files import sales
from snippet_settings import Setting, program

HOST = "example.com"
BUCKET = "bucket"
DIRECT = {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}


@contextmanager
def postgresql_shop(folder):
    """The database of the page: its user, whose password is three dots, may only read one table."""
    with postgresql() as address:
        shop = address.rpartition("/")[0] + "/shop"
        with adbc.connect(address, autocommit=True) as base, base.cursor() as cursor:
            cursor.execute("CREATE ROLE reader LOGIN PASSWORD '...'")
            cursor.execute("CREATE DATABASE shop")
        with adbc.connect(shop) as base, base.cursor() as cursor:
            cursor.execute("CREATE SCHEMA sales")
            cursor.adbc_ingest("orders", sales().to_arrow(), db_schema_name="sales")
            cursor.execute("GRANT USAGE ON SCHEMA sales TO reader")
            cursor.execute("GRANT SELECT ON sales.orders TO reader")
            base.commit()
        port = str(urlsplit(address).port)
        yield Setting({"PGHOSTADDR": "127.0.0.1", "PGPORT": port})


@contextmanager
def web(folder):
    """A proxy through which example.com is a server of this process, with its own certificate."""
    certificate = _certificate(folder)
    with _proxying({"/sales.csv": sales().write_csv().encode()}, certificate) as proxy:
        yield Setting(
            {
                **dict.fromkeys(("https_proxy", "HTTPS_PROXY"), proxy.address),
                **dict.fromkeys(("no_proxy", "NO_PROXY"), ""),
                "SSL_CERT_FILE": str(certificate),
            },
            after=lambda *_: _require_request(proxy),
        )


def _require_request(server):
    assert server.seen, "nothing was asked of the server"


def _certificate(folder):
    """A certificate of the host and its key, in one file."""
    path, key = folder / "certificate.pem", folder / "key.pem"
    line = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={HOST}"
    files = ["-addext", f"subjectAltName=DNS:{HOST}", "-keyout", key, "-out", path]
    subprocess.run([program("openssl"), *line.split(), *files], check=True, capture_output=True)
    path.write_bytes(key.read_bytes() + path.read_bytes())
    return path


@contextmanager
def _proxying(files, certificate):
    """A proxy that answers for the host itself, over the encrypted connection asked for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    class Handler(BaseHTTPRequestHandler):
        def do_CONNECT(self):
            known = self.path == f"{HOST}:443"
            self.send_response(200 if known else 502)
            self.end_headers()
            if known:
                inside = context.wrap_socket(self.connection, server_side=True)
                with inside:
                    self.rfile, self.wfile = inside.makefile("rb"), inside.makefile("wb")
                    self.handle_one_request()
                self.close_connection = True

        def do_GET(self):
            self.server.seen.append(self.path)
            _send(self, 200 if self.path in files else 404, files.get(self.path, b""), "text/csv")
            self.wfile.flush()

        def log_message(self, *_):
            pass

    with running(Handler) as server:
        yield server


@contextmanager
def s3(folder):
    content = _parquet(folder)
    files = {f"/{BUCKET}/sales/2024.parquet": content, f"/{BUCKET}/sales/2025.parquet": content}
    with serving(files) as server:
        yield Setting(
            {
                **DIRECT,
                "AWS_ENDPOINT_URL": server.address,
                "AWS_ACCESS_KEY_ID": "key",
                "AWS_SECRET_ACCESS_KEY": "secret",
                "AWS_EC2_METADATA_DISABLED": "true",
            },
            after=lambda *_: _require_request(server),
        )


def _parquet(folder):
    path = folder / "of_bucket.parquet"
    sales().write_parquet(path)
    return path.read_bytes()


@contextmanager
def gs(folder):
    """Google Cloud Storage with one object, and a server of access tokens for its user."""
    content = sales().write_csv().encode()
    objects = f"/storage/v1/b/{BUCKET}/o"
    described = {"kind": "storage#object", "bucket": BUCKET, "name": "sales.csv", "generation": "1"}
    described |= {"size": str(len(content)), "updated": "2030-01-01T00:00:00.000Z"}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            token = {"access_token": "t", "expires_in": 3600, "token_type": "Bearer"}
            self._answer(200, {**token, "id_token": "t", "scope": "storage"})

        def do_GET(self):
            parts = urlsplit(self.path)
            path, parameters = unquote(parts.path), parse_qs(parts.query)
            assert self.headers["Authorization"] == "Bearer t"
            self.server.seen.append(self.path)
            if path == f"{objects}/sales.csv" and parameters.get("alt") != ["media"]:
                self._answer(200, described)
            elif path in (f"{objects}/sales.csv", f"/{BUCKET}/sales.csv"):
                self._send_content()
            elif path == objects:
                self._answer(200, {"kind": "storage#objects"})
            else:
                self._answer(404, {"error": {"code": 404, "message": "not found"}})

        def _send_content(self):
            start = int(self.headers.get("Range", "bytes=0-")[6:].split("-")[0])
            _send(self, 206 if start else 200, content[start:], "text/csv")

        def _answer(self, code, value):
            _send(self, code, json.dumps(value).encode(), "application/json")

        def log_message(self, *_):
            pass

    with running(Handler) as server:
        user = {"type": "authorized_user", "client_id": "a", "client_secret": "b"}
        user |= {"refresh_token": "c", "token_uri": f"{server.address}/token"}
        credentials = folder / "credentials.json"
        credentials.write_text(json.dumps(user))
        yield Setting(
            {
                **DIRECT,
                "CLOUD_STORAGE_EMULATOR_ENDPOINT": server.address,
                "GOOGLE_APPLICATION_CREDENTIALS": os.fspath(credentials),
            },
            after=lambda *_: _require_request(server),
        )


def _send(handler, code, content, kind):
    handler.send_response(code)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)
