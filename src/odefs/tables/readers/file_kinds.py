"""Kinds of files: by their suffix, and by their first bytes if these say something else."""

import re
from pathlib import Path, PurePosixPath

from odefs.exceptions import TableError

TEXT = (".csv", ".tsv", ".txt", ".gz", ".bz2", ".xz", ".zst")
ARROW = (".arrow", ".feather", ".ipc")
LINES = (".ndjson", ".jsonl")
EXCEL = (".xlsx", ".xls", ".xlsm", ".ods")
DATABASES = (".sqlite", ".sqlite3", ".db", ".duckdb")
TABLES = (*TEXT, ".parquet", *ARROW, *LINES, ".json", *EXCEL)
"""Files that contain one table, apart from the sheets of a workbook."""
READABLE = (*TABLES, ".zip", *DATABASES)
DOCUMENTS = (
    ".html",
    ".htm",
    ".xml",
    ".md",
    ".pdf",
    ".doc",
    ".docx",
    ".odt",
    ".rtf",
    ".ppt",
    ".pptx",
    ".py",
)
ARCHIVES = (".tar", ".tgz", ".7z", ".rar", ".npz", ".npy", ".pkl", ".pickle", ".odefs")
OTHER = (*DOCUMENTS, *ARCHIVES, ".png", ".jpg", ".jpeg", ".gif", ".svg")
"""Suffixes of files that do not contain tables; for unknown suffixes the content is inspected."""

HEAD_BYTES = 4096
WEB_PAGE = re.compile(rb"\s*(<\?xml[^>]*>\s*)?<(!doctype html|html|table)\b", re.IGNORECASE)
ARFF = re.compile(rb"(?:\xef\xbb\xbf)?(\s*%[^\n]*\n)*\s*@relation\s", re.IGNORECASE)
RECORDS = re.compile(rb'\s*(\[\s*\{\s*"|\{\s*"[^"]*"\s*:)')
TAR = b"ustar"
TAR_PLACE = slice(257, 262)
STARTS = {
    b"PAR1": "a parquet file: rename it to .parquet",
    b"ARROW1": "an Arrow file: rename it to .arrow",
    b"\xd0\xcf\x11\xe0": "an Office document of the old format: rename it to .xls if it is a "
    "workbook",
    b"SQLite format 3\x00": "a SQLite database: rename it to .sqlite",
}
ZIP = b"PK\x03\x04"
MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def copied_suffix(name: str) -> str:
    """Return the suffix of a local copy of a file: with the one before ``.gz``, if it is known."""
    suffixes = PurePosixPath(name).suffixes[-2:]
    known = [suffix for suffix in suffixes if suffix.lower() in (*READABLE, *OTHER)]
    return "".join(known or suffixes[-1:]).lower()


def described_content(head: bytes) -> str | None:
    """Return what a file is and what to do with it; ``None`` if the beginning is not known."""
    for start, description in STARTS.items():
        if head.startswith(start):
            return description
    if head.startswith(ZIP):
        # Excel writes its list of content types first, and OpenDocument demands its media type
        # there, so that the head of the archive shows them.
        is_workbook = b"[Content_Types].xml" in head or b"opendocument.spreadsheet" in head
        workbook = "an Excel or OpenDocument file: rename it to .xlsx or .ods"
        return workbook if is_workbook else "a zip archive: rename it to .zip"
    if head[TAR_PLACE] == TAR:
        return "a tar archive: extract the table first"
    if WEB_PAGE.match(head):
        return "a web page: open it in a browser or spreadsheet and save the table as csv"
    if ARFF.match(head):
        return "an ARFF file of Weka: save the table as csv, with the names in the first line"
    if RECORDS.match(head):
        return "JSON: rename it to .json, or to .ndjson if every line is a record"
    return None


def require_content(source: Path | bytes, suffix: str, name: str) -> None:
    """Raise if a parquet, Arrow or Excel file begins like a file of another kind."""
    if isinstance(source, bytes):
        return
    with open(source, "rb") as file:
        head = file.read(HEAD_BYTES)
    description = described_content(head)
    if description is None and _is_text(head):
        description = f"text: rename it to {TEXT[0]}"
    if description is not None and not _fits(head, suffix):
        raise TableError(f"{name}: the suffix is {suffix}, but this is {description}.")


def _fits(head: bytes, suffix: str) -> bool:
    """Whether the reader of a suffix expects this beginning."""
    expected = {".parquet": b"PAR1", ".xls": b"\xd0\xcf\x11\xe0"}
    expected |= dict.fromkeys(ARROW, b"ARROW1")
    expected |= {known: ZIP for known in EXCEL if known != ".xls"}
    return suffix not in expected or head.startswith(expected[suffix])


def _is_text(head: bytes) -> bool:
    """Whether the bytes are printable; a workbook or parquet file has zero bytes."""
    if head.startswith(MARKS):
        return True
    text = head.decode("latin-1")
    return bool(text.strip()) and all(
        character.isspace() or character.isprintable() for character in text
    )
