"""Tables at addresses: downloads and buckets, and passwords that are not shown."""

import io
import json
import os
import shutil
import subprocess
import zipfile
from types import SimpleNamespace

import polars as pl
import pytest

from command import odefs
from file_server import serving
from odefs.exceptions import TableError
from odefs.tables.readers.sources import downloads as remote_files
from odefs.tables.readers.sources.addresses import address_name, without_secrets
from odefs.tables.readers.sources.kinds import source_stem
from opening import in_both_modes, read

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None], "c": [0.5, None, 2.5]})
TEXT = FRAME.write_csv().encode()


def parquet():
    out = io.BytesIO()
    FRAME.write_parquet(out)
    return out.getvalue()


def archive():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as opened:
        opened.writestr("t.csv", TEXT)
        opened.writestr("u.csv", "a\n1\n2\n")
    return out.getvalue()


@pytest.fixture(autouse=True)
def no_proxy_and_no_leftovers(tmp_path, monkeypatch):
    """Loopback is reached directly, and temporary files are gone after each test."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield
    assert not list((tmp_path / "temporary").glob("odefs-*"))


FILES = {
    "/t.csv": TEXT,
    "/a b.csv": TEXT,
    "/t.parquet": parquet(),
    "/t.json": json.dumps(FRAME.to_dicts()).encode(),
    "/export": TEXT,
}


@pytest.mark.parametrize("path", FILES)
@in_both_modes
def test_downloads_are_read_like_files(mode, path):
    with serving(FILES) as server:
        found = read(f"{server.address}{path}?token=secret", mode)
    assert found.frame.rows() == FRAME.rows()
    assert found.source[:2] == (path[1:], len(FILES[path]))


def test_a_table_of_an_archive_on_the_web_is_chosen():
    with serving({"/t.zip": archive()}) as server:
        assert read(f"{server.address}/t.zip", "in memory", table="t.csv").frame.height == 3
        with pytest.raises(TableError, match=r"2 tables \(t\.csv, u\.csv\)"):
            read(f"{server.address}/t.zip", "in memory")
        server.seen.clear()
        with pytest.raises(TableError, match="--query is for databases"):
            read(f"{server.address}/t.csv", "in memory", query="x")
        assert not server.seen  # refused before the download


def test_redirects_are_followed():
    with serving({"/t.csv": TEXT}, redirects={"/old.csv": "/t.csv"}) as server:
        assert read(f"{server.address}/old.csv", "in memory").frame.rows() == FRAME.rows()


@pytest.fixture
def certificate(tmp_path, monkeypatch):
    """A certificate of this machine that downloads trust, in a file with its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl to make a certificate")
    path = tmp_path / "server.pem"
    line = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1"
    files = ["-keyout", path.with_suffix(".key"), "-out", path]
    name = ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([openssl, *line.split(), *name, *files], check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    whole = tmp_path / "server-with-key.pem"
    whole.write_bytes(path.with_suffix(".key").read_bytes() + path.read_bytes())
    return whole


def test_redirects_from_encrypted_to_plain_addresses_are_refused(certificate):
    with serving({"/t.csv": TEXT}) as plain:
        redirects = {"/old.csv": "/t.csv", "/plain.csv": f"{plain.address}/t.csv?key=hunter2"}
        files = {"/t.csv": TEXT}
        with serving(files, redirects=redirects, certificate=certificate) as server:
            found = read(f"{server.address}/old.csv", "in memory")
            assert found.frame.rows() == FRAME.rows()
            with pytest.raises(TableError, match="redirects from https:// to http://") as caught:
                read(f"{server.address}/plain.csv", "in memory")
        assert plain.seen == []
    assert "hunter2" not in str(caught.value)


def test_redirects_to_other_than_web_addresses_are_refused():
    with (
        serving({}, redirects={"/t.csv": "ftp://127.0.0.1/t.csv"}) as server,
        pytest.raises(TableError, match="redirects from http:// to ftp://"),
    ):
        read(f"{server.address}/t.csv", "in memory")


def test_a_file_of_unstated_size_may_take_half_of_the_free_space(monkeypatch):
    content = TEXT + b"4,z,1.5\n" * 300_000
    with serving({"/t.csv": content}, unstated=["/t.csv"]) as server:
        assert read(f"{server.address}/t.csv", "in memory").n_rows == 300_003
        usage = SimpleNamespace(free=2 * len(content) - 100)
        monkeypatch.setattr(remote_files.shutil, "disk_usage", lambda _: usage)
        with pytest.raises(TableError, match="does not state the size"):
            read(f"{server.address}/t.csv", "in memory")


def test_failed_downloads_give_one_sentence():
    files = {"/page": b"<html>log in</html>", "/cut.csv": TEXT * 9}
    with serving(files, types={"/page": "text/html"}, cut=["/cut.csv"]) as server:
        address = server.address
        for path, sentence in {
            "/none.csv": "the server answered 404",
            "/page": "a web page instead of a table",
            "/cut.csv": "the download ended after",
        }.items():
            with pytest.raises(TableError, match=sentence) as caught:
                read(address + path, "in memory")
            assert str(caught.value).startswith(address + path)
    with pytest.raises(TableError, match="cannot be downloaded") as caught:
        read(f"{address}/t.csv", "in memory")
    assert "\n" not in str(caught.value)


def test_passwords_on_the_web_are_refused_and_not_shown():
    with pytest.raises(TableError, match="download the file first") as caught:
        read("https://me:hunter2@127.0.0.1/t.csv", "in memory")
    assert "hunter2" not in str(caught.value)


def test_keys_of_buckets_are_refused_and_not_shown():
    for address in ("s3://key:hunter2@shop/t.csv", "s3://key:hun/ter2@shop/t.csv?region=x"):
        with pytest.raises(TableError, match="AWS_SECRET_ACCESS_KEY") as caught:
            read(address, "in memory")
        assert "hun" not in str(caught.value)


def test_unknown_schemes_are_refused():
    with pytest.raises(TableError, match="mysql:// cannot be read") as caught:
        read("mysql://me:hunter2@localhost/shop", "in memory")
    assert "hunter2" not in str(caught.value)


BUCKET = {
    "/shop/in/t.csv": TEXT,
    "/shop/in/a%20+.csv": TEXT,
    "/shop/parts/1.parquet": parquet(),
    "/shop/parts/2.parquet": parquet(),
    "/shop/parts/_SUCCESS": b"",
}


@in_both_modes
def test_objects_of_a_bucket_are_read(mode, monkeypatch):
    with serving(BUCKET) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        assert read("s3://shop/in/t.csv", mode).frame.rows() == FRAME.rows()
        assert read("s3://shop/in/a%20+.csv", mode).frame.rows() == FRAME.rows()
        assert read("s3://shop/parts/", mode).frame.rows() == FRAME.rows() * 2
        with pytest.raises(TableError, match=r"s3://shop/none\.csv: there is no such file"):
            read("s3://shop/none.csv", mode)


@pytest.mark.parametrize("address", ["gs://shop/t.csv", "gs://anonymous@shop/t.csv?scheme=https"])
def test_google_cloud_is_given_up_after_a_minute(address, monkeypatch):
    given = []
    monkeypatch.setattr("pyarrow.fs.FileSystem", SimpleNamespace(from_uri=given.append))
    remote_files._bucket(address)
    assert given[0].startswith(address)
    assert given[0].endswith("retry_limit_seconds=60")


SECRETS = {
    "postgresql://me:hunter2@db/shop": "postgresql://me:***@db/shop",
    "postgresql://me:hunter/2@x@db/shop": "postgresql://me:***@db/shop",
    "postgresql://me@db/shop?sslmode=require&password=hunter2": (
        "postgresql://me@db/shop?sslmode=require&password=***"
    ),
    "postgresql://me:hunter 2@db/shop": "postgresql://me:***@db/shop",
    "postgresql://db/shop?password=hunter#2&x&user=me": (
        "postgresql://db/shop?password=***&***&user=me"
    ),
    "https://host/t.csv?hunter2": "https://host/t.csv?***",
    "https://host/t.csv?X-Amz-Signature=hunter2&v=1": (
        "https://host/t.csv?X-Amz-Signature=***&v=***"
    ),
    "--reference=postgres://me:hunter2@db/shop": "--reference=postgres://me:***@db/shop",
    "s3://key:hunter2@bucket/t.csv": "s3://key:***@bucket/t.csv",
    "a?b=c@d.csv": "a?b=c@d.csv",
}


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_removed_from_addresses(text):
    assert without_secrets(text) == SECRETS[text]


def test_tables_at_addresses_have_names():
    assert address_name("https://host/data/t%20u.csv?x=1#y") == "t u.csv"
    assert address_name("postgresql://me:pw@db:5432/shop?x=/y") == "shop"
    assert source_stem("https://host/data/t.csv.gz?x=1") == "t"
    assert source_stem("shop.sqlite", "orders") == "shop.orders"
    assert source_stem("shop.zip", "x/orders.csv") == "shop.orders"


def test_the_command_line_downloads_and_shows_no_secret(tmp_path):
    rows = "".join(f"{i % 7},{i % 11},{i}\n" for i in range(60))
    with serving({"/t.csv": b"a,b,c\n" + rows.encode()}) as server:
        address = f"{server.address}/t.csv?token=hunter2"
        found = odefs(
            *("detect", address, "--save", "m.odefs", "-o", "s.csv", "--report", "r.json"),
            cwd=tmp_path,
            no_proxy="*",
        )
        assert found.returncode == 0, found.stderr
        assert found.stdout.startswith("t.csv: 60 rows")
        failed = odefs("detect", address.replace("t.csv", "none.csv"), "--json", cwd=tmp_path)
    assert failed.returncode == 1
    written = [(tmp_path / name).read_bytes() for name in ("m.odefs", "s.csv", "r.json")]
    shown = [part.encode() for done in (found, failed) for part in (done.stdout, done.stderr)]
    assert not any(b"hunter2" in content for content in (*written, *shown))
    assert b"token=***" in written[2]
    assert os.listdir(tmp_path / "temporary") == []
