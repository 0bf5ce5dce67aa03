"""Messages on standard error, as text or (``--log-format json``) as one JSON object per line, and JSON documents on standard output.

With ``--json`` standard output is one JSON document in every case: the result, or an error document if there is none.
``schemas/output.json`` describes both; exit codes are the same in every format.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise, takewhile
from typing import Any, NoReturn

import click

from odefs._logging import logger
from odefs.report import SCHEMA_VERSION

PROGRESS_PREFIX = "[progress] "
"""Start of progress lines where standard error is not a terminal. No other line starts with it, so scripts can filter."""


@dataclass
class _Formats:
    """What the command line asks for."""

    json_log: bool = False
    json_output: bool = False
    is_written: bool = False


_formats = _Formats()


def choose_formats(arguments: Sequence[str]) -> None:
    """Look for ``--json`` and ``--log-format`` before the command line is parsed: errors of the parser follow them too."""
    given = list(takewhile(lambda argument: argument != "--", arguments))
    separate = [after for option, after in pairwise(given) if option == "--log-format"]
    joined = [option.partition("=")[2] for option in given if option.startswith("--log-format=")]
    _formats.json_log = "json" in (*separate, *joined)
    _formats.json_output = "--json" in given
    _formats.is_written = False
    if _formats.json_log:
        logger.addHandler(_JSONHandler())


def logs_json() -> bool:
    """Whether lines on standard error are JSON."""
    return _formats.json_log


class _JSONHandler(logging.Handler):
    """What the library logs (``--set verbose=1``) as JSON lines."""

    def emit(self, record: logging.LogRecord) -> None:
        level = "info" if record.levelno < logging.WARNING else "warning"
        _write_line("log", level, record.getMessage())


def _write_line(event: str, level: str, message: str, **fields: Any) -> None:
    click.echo(_line(event, level, message, **fields), err=True)


def _line(event: str, level: str, message: str, **fields: Any) -> str:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps(
        {"timestamp": now, "level": level, "event": event, "message": message, **fields},
        allow_nan=False,
    )


def say_progress(line: str, stage: str, done: int, total: int, seconds_left: float | None) -> None:
    """How far the work has come; not for terminals, where one line is redrawn."""
    if _formats.json_log:
        _write_line(
            "progress", "info", line, stage=stage, done=done, total=total, seconds_left=seconds_left
        )
    else:
        click.echo(f"{PROGRESS_PREFIX}{line}", err=True)


def say_warning(sentence: str) -> None:
    """A note about a result that is there nevertheless."""
    _say("warning", "warning", sentence)


def say_limit(sentence: str, exit_code: int) -> None:
    """More rows are flagged than ``--max-flagged`` allows; the result is there."""
    _say("limit", "error", sentence, exit_code=exit_code)


def say_error(sentence: str, kind: str, exit_code: int, **fields: Any) -> None:
    """An error, also on standard output if ``--json`` was given and nothing has been written there."""
    _say("error", "error", sentence, kind=kind, exit_code=exit_code, **fields)
    write_error(sentence, kind, exit_code)


def fail(kind: str, sentence: str, exit_code: int, **fields: Any) -> NoReturn:
    """Report an error and end the command."""
    say_error(sentence, kind, exit_code, **fields)
    raise SystemExit(exit_code) from None


def _say(event: str, level: str, sentence: str, **fields: Any) -> None:
    """One line; names from the data cannot act on the terminal."""
    sentence = _one_line(sentence)
    if _formats.json_log:
        _write_line(event, level, sentence, **fields)
    else:
        click.echo(f"odefs: {sentence}", err=True)


def _one_line(sentence: str) -> str:
    line = " ".join(sentence.split())
    if line.isprintable():
        return line
    # Imported where it is needed: it brings others along, which takes seconds on a busy machine.
    from odefs.tables.messages import without_controls

    return without_controls(line)


def write_document(text: str) -> None:
    """The result of a command with ``--json``: the only thing on standard output."""
    # Before it is written: after an output that failed, a second document would make it worse.
    _formats.is_written = True
    # JSON is UTF-8 whatever the terminal shows. A lone surrogate is written as the escape that JSON has for it.
    click.echo((text.rstrip("\n") + "\n").encode("utf-8", "backslashreplace"), nl=False)


def document_text(document: dict[str, Any]) -> str:
    """A document of the command line as text."""
    return json.dumps(
        {"schema_version": SCHEMA_VERSION} | document, ensure_ascii=False, allow_nan=False
    )


def write_error(sentence: str, kind: str, exit_code: int) -> None:
    """The error document, where one is expected."""
    if _formats.json_output and not _formats.is_written:
        write_document(_error_document(sentence, kind, exit_code))


def _error_document(sentence: str, kind: str, exit_code: int) -> str:
    return document_text(
        {"error": {"kind": kind, "message": _one_line(sentence), "exit_code": exit_code}}
    )


def parting_bytes(sentence: str, kind: str, exit_code: int) -> dict[int, bytes]:
    """What an error writes to each file descriptor, for a process that ends in the middle of anything and may touch no stream."""
    said = (
        _line("error", "error", sentence, kind=kind, exit_code=exit_code)
        if _formats.json_log
        else f"odefs: {sentence}"
    )
    document = _formats.json_output and not _formats.is_written
    return {
        1: f"{_error_document(sentence, kind, exit_code)}\n".encode() if document else b"",
        2: f"{said}\n".encode(),
    }


@contextmanager
def usage_errors() -> Iterator[None]:
    """Errors that click would show itself, in the formats that were asked for."""
    try:
        yield
    except click.ClickException as error:
        if _formats.json_log:
            fail("usage", error.format_message(), error.exit_code)
        write_error(error.format_message(), "usage", error.exit_code)
        raise
