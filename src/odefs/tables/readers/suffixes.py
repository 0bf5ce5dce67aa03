"""Suffixes of the files that can be read, and of known files that contain no tables."""

from pathlib import PurePosixPath

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


def copied_suffix(name: str) -> str:
    """Return the suffix of a local copy of a file: with the one before ``.gz``, if it is known."""
    suffixes = PurePosixPath(name).suffixes[-2:]
    known = [suffix for suffix in suffixes if suffix.lower() in (*READABLE, *OTHER)]
    return "".join(known or suffixes[-1:]).lower()
