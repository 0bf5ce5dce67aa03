"""Downloads: a file at an address on the web, or in a bucket, is copied to a local file.

Buckets (``s3://``, ``gs://``) are read through Arrow, with the credentials of the environment.
"""

import http.client
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote, urlsplit

from odefs._progress import report_progress, stage
from odefs.exceptions import TableError
from odefs.system.atomic_write import error_number
from odefs.tables.error_messages import first_line
from odefs.tables.readers.file_kinds import copied_suffix
from odefs.tables.readers.sources.addresses import (
    DOWNLOADS,
    PARAMETER,
    address_name,
    scheme_of,
    without_secrets,
)

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

TIMEOUT = 60
"""Seconds without an answer after which a download ends."""
PIECE = 2**20
UNSTATED_SHARE = 0.5
"""Share of the free disk space that a file may take whose size the server does not state."""
WEB_PAGES = ("text/html", "application/xhtml+xml")
IN_ADDRESSES = ":/?#[]@!$&'()*+,;=%~"
"""Characters of an address that are not encoded; encoded ones stay as they are."""
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""As in the tools of AWS, the variable of the service takes precedence."""


def download(address: str, name: str, folder: Path) -> Path:
    """Copy the file at an address to ``folder``; a folder of parquet files becomes a folder."""
    with stage("downloading"):
        report_progress(0, 0)
        if scheme_of(address) in ("http", "https"):
            return _download_page(address, name, folder)
        return _download_object(address, name, folder)


def _download_page(address: str, name: str, folder: Path) -> Path:
    if "@" in address.partition("://")[2].partition("/")[0]:
        # The library would take the password for a port, and quote it.
        raise TableError(
            f"{name}: addresses with a user name or password are not supported: download the file "
            "first."
        )
    try:
        headers = {"User-Agent": "odefs", "Accept": "*/*"}
        request = urllib.request.Request(quote(address, safe=IN_ADDRESSES), headers=headers)
        opener = urllib.request.build_opener(_WebRedirects(name))
        with opener.open(request, timeout=TIMEOUT) as answer:
            file = answer.headers.get_filename() or address_name(address)
            if answer.headers.get_content_type() in WEB_PAGES:
                raise TableError(
                    f"{name}: the server answered with a web page instead of a table: check the "
                    "address, or download the file in a browser if it needs a login."
                )
            size = max(0, int(answer.headers.get("Content-Length") or 0))
            target = folder / f"download{copied_suffix(file)}"
            _copy(answer.read, target, size, name)
            return target
    # Errors are not chained: the address in them may have a signature or a token.
    except urllib.error.HTTPError as error:
        raise TableError(f"{name}: the server answered {error.code} ({error.reason}).") from None
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        _refuse(error, address, name)


class _WebRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to other web addresses, but not from an encrypted one to a plain one."""

    def __init__(self, name: str) -> None:
        self._name = name

    def redirect_request(
        self,
        request: urllib.request.Request,
        answer: IO[bytes],
        code: int,
        message: str,
        headers: http.client.HTTPMessage,
        address: str,
    ) -> urllib.request.Request | None:
        before, after = scheme_of(request.full_url), scheme_of(address)
        if after not in DOWNLOADS or (before == "https" and after == "http"):
            answer.close()
            raise TableError(
                f"{self._name}: the server redirects from {before}:// to {after}://, which is not "
                "followed: download the file first if you trust that address."
            )
        return super().redirect_request(request, answer, code, message, headers, address)


def _refuse(error: Exception, address: str, name: str) -> NoReturn:
    """Raise an error about a download in one sentence that does not quote passwords."""
    if isinstance(error, TableError):
        raise error
    reason = getattr(error, "reason", error)
    number = error_number(error) if not isinstance(error, urllib.error.URLError) else None
    if isinstance(reason, TimeoutError):
        reason = f"no answer within {TIMEOUT} seconds"
    elif number is not None:
        reason = os.strerror(number)
    elif isinstance(reason, OSError) and reason.strerror:
        reason = reason.strerror
    elif isinstance(reason, Exception):
        reason = first_line(reason)
    text = without_secrets(str(reason).replace(address, name))
    is_web = scheme_of(address) in DOWNLOADS
    remedy = "the connection" if is_web else "the credentials in the environment"
    raise TableError(
        f"{name}: cannot be downloaded ({text}): check the address and {remedy}."
    ) from None


def _copy(
    read: Callable[[int], bytes],
    target: Path,
    size: int,
    name: str,
    before: int = 0,
    total: int = 0,
) -> None:
    """Copy to a local file; raise if the disk is too small or the end is missing.

    ``size`` is 0 if it is not known: an endless answer would fill the disk.
    """
    free = shutil.disk_usage(target.parent).free
    if size > free:
        raise TableError(
            f"{name}: the file has {size / 1e6:,.0f} MB, but only {free / 1e6:,.0f} MB are free "
            f"for temporary files in {target.parent.parent}: set TMPDIR to another folder."
        )
    done, most = 0, size or int(UNSTATED_SHARE * free)
    with open(target, "wb") as out:
        while piece := read(PIECE):
            done += len(piece)
            if done > most:
                raise TableError(
                    f"{name}: the server does not state the size of the file, and it has more than "
                    f"{most / 1e6:,.0f} MB, half of what is free for temporary files in "
                    f"{target.parent.parent}: download it first, or set TMPDIR to another folder."
                )
            out.write(piece)
            report_progress(before + done, max(total or size, before + done) if size else 0)
    if size and done != size:
        raise TableError(f"{name}: the download ended after {done:,} of {size:,} bytes: try again.")


def _download_object(address: str, name: str, folder: Path) -> Path:
    import pyarrow as pa
    from pyarrow.fs import FileType

    if ":" in address.partition("://")[2].partition("/")[0]:
        # Arrow would take the keys for a part of the bucket's name, and quote them.
        raise TableError(
            f"{name}: addresses of buckets with keys are not supported: set the credentials in "
            "the environment, for S3 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    try:
        files, path = _bucket(address)
        found = files.get_file_info(path)
        if found.type == FileType.NotFound:
            raise TableError(f"{name}: there is no such file in the bucket.")
        if found.type == FileType.Directory:
            parts, target = _parquet_parts(files, path, name), folder / "parts"
            target.mkdir()
            _copy_objects(files, [(part, target / part.base_name) for part in parts], name)
        else:
            target = folder / f"download{copied_suffix(found.base_name)}"
            _copy_objects(files, [(found, target)], name)
        return target
    except (pa.ArrowException, OSError, ValueError) as error:
        _refuse(error, address, name)


def _parquet_parts(files: "FileSystem", path: str, name: str) -> "list[FileInfo]":
    """Return the parquet files of a folder; raise if there are none."""
    from pyarrow.fs import FileSelector

    inside = files.get_file_info(FileSelector(path))
    parts = [part for part in inside if _is_parquet(part.base_name) and part.is_file]
    if not parts:
        raise TableError(f"{name}: there is no parquet file in this folder.")
    return parts


def _copy_objects(
    files: "FileSystem", copies: "Sequence[tuple[FileInfo, Path]]", name: str
) -> None:
    total, before = sum(part.size for part, _ in copies), 0
    for part, target in copies:
        with files.open_input_stream(part.path) as stream:
            _copy(stream.read, target, part.size, name, before, total)
        before += part.size


def _is_parquet(file: str) -> bool:
    # Spark and Hive mark files that are not part of the table with a leading dot or underscore.
    return file.lower().endswith(".parquet") and not file.startswith((".", "_"))


def _bucket(address: str) -> "tuple[FileSystem, str]":
    """Return the file system of a bucket, and the path in it."""
    from pyarrow.fs import FileSystem, S3FileSystem

    if scheme_of(address) == "gs":
        # The library tries for 15 minutes by default.
        if "retry_limit_seconds=" not in address:
            address += f"{'&' if '?' in address else '?'}retry_limit_seconds={TIMEOUT}"
        return FileSystem.from_uri(address)
    if PARAMETER.search(address):
        return FileSystem.from_uri(address)
    # Keys are taken literally: they may contain any character.
    path = address.partition("://")[2].rstrip("/")
    return S3FileSystem(**_s3_settings(path.partition("/")[0])), path


def _s3_settings(bucket: str) -> dict[str, Any]:
    """Return the server and the region of a bucket, from the environment where it names them."""
    from pyarrow.fs import resolve_s3_region

    endpoint = next((os.environ[name] for name in ENDPOINTS if os.environ.get(name)), None)
    settings: dict[str, Any] = {"connect_timeout": 15, "request_timeout": TIMEOUT}
    if endpoint:
        server = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
        settings |= {"endpoint_override": server.netloc, "scheme": server.scheme}
    elif not (os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")):
        settings["region"] = resolve_s3_region(bucket)
    return settings
