"""Messages on standard error and JSON documents on standard output.

Messages are text or, with ``--log-format json``, one JSON object per line. With ``--json``,
standard output is always one JSON document: the result, or an error document if there is none.
With ``--format github`` or ``junit`` of ``odefs check``, errors have that format too.
``schemas/output.json`` describes both; exit codes are the same in every format.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise, takewhile
from typing import NoReturn

import click

from odefs._progress import logger
from odefs.report import SCHEMA_VERSION

PROGRESS_PREFIX = "[progress] "
"""Start of progress lines if standard error is not a terminal; scripts can filter by it."""

XML_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


@dataclass
class _Formats:
    """Formats requested on the command line, and whether a document has been written."""

    json_log: bool = False
    json_output: bool = False
    is_written: bool = False
    check_format: str = ""


# Global, because a signal handler reads it too (parting_bytes).
_formats = _Formats()


def choose_formats(arguments: Sequence[str]) -> None:
    """Read the formats before parsing, since they apply to usage errors too.

    These are ``--json``, ``--log-format``, and ``--format`` of ``odefs check``.
    """
    # After --, words are arguments even if they look like options.
    given = list(takewhile(lambda argument: argument != "--", arguments))
    _formats.json_log = "json" in _values(given, "--log-format")
    _formats.json_output = "--json" in given
    _formats.check_format = next(iter(_values(given, "--format")), "")
    _formats.is_written = False
    if _formats.json_log:
        logger.addHandler(_JSONHandler())


def _values(given: Sequence[str], option: str) -> list[str]:
    """Values of an option, given as ``--option value`` or ``--option=value``."""
    # click accepts no abbreviations of options, so exact names are enough.
    separate = [after for word, after in pairwise(given) if word == option]
    return separate + [word.partition("=")[2] for word in given if word.startswith(f"{option}=")]


def logs_json() -> bool:
    """Whether messages on standard error are JSON lines."""
    return _formats.json_log


class _JSONHandler(logging.Handler):
    """Writes log records of the library (``--set verbose=1``) as JSON lines."""

    def emit(self, record: logging.LogRecord) -> None:
        level = "info" if record.levelno < logging.WARNING else "warning"
        _write_line("log", level, record.getMessage())


def _write_line(event: str, level: str, message: str, **fields: object) -> None:
    click.echo(_line(event, level, message, **fields), err=True)


def _line(event: str, level: str, message: str, **fields: object) -> str:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps(
        {"timestamp": now, "level": level, "event": event, "message": message, **fields},
        allow_nan=False,
    )


def say_progress(line: str, stage: str, done: int, total: int, seconds_left: float | None) -> None:
    """Write a line of progress; terminals redraw one line instead."""
    if _formats.json_log:
        _write_line(
            "progress", "info", line, stage=stage, done=done, total=total, seconds_left=seconds_left
        )
    else:
        click.echo(f"{PROGRESS_PREFIX}{line}", err=True)


def say_warning(sentence: str) -> None:
    """Write a warning about a result that was produced nevertheless."""
    _say("warning", "warning", sentence)


def say_limit(sentence: str, exit_code: int) -> None:
    """Report more flagged rows than ``--max-flagged`` allows; the result was written."""
    _say("limit", "error", sentence, exit_code=exit_code)


def say_error(sentence: str, kind: str, exit_code: int, **fields: object) -> None:
    """Report an error, with ``--json`` also on standard output if nothing was written there."""
    _say("error", "error", sentence, kind=kind, exit_code=exit_code, **fields)
    write_error(sentence, kind, exit_code)


def fail(kind: str, sentence: str, exit_code: int, **fields: object) -> NoReturn:
    """Report an error and exit."""
    say_error(sentence, kind, exit_code, **fields)
    raise SystemExit(exit_code) from None


def _say(event: str, level: str, sentence: str, **fields: object) -> None:
    """Write one line, without control characters that names from the data may contain."""
    sentence = _one_line(sentence)
    if _formats.json_log:
        _write_line(event, level, sentence, **fields)
    else:
        click.echo(f"odefs: {sentence}", err=True)


def _one_line(sentence: str) -> str:
    line = " ".join(sentence.split())
    if line.isprintable():
        return line
    # Imported only when needed: it imports NumPy, which is slow on a busy machine.
    from odefs.tables.messages import without_controls

    return without_controls(line)


def write_document(text: str) -> None:
    """Write the result of a command with ``--json``, the only output on standard output."""
    # Set first: if writing fails, a second document would not be valid JSON output either.
    _formats.is_written = True
    # JSON is UTF-8 in every locale; a lone surrogate is written as its JSON escape.
    click.echo((text.rstrip("\n") + "\n").encode("utf-8", "backslashreplace"), nl=False)


def document_text(document: Mapping[str, object]) -> str:
    """The document as JSON text, with the schema version."""
    return json.dumps(
        {"schema_version": SCHEMA_VERSION, **document}, ensure_ascii=False, allow_nan=False
    )


def write_error(sentence: str, kind: str, exit_code: int) -> None:
    """Write the error in the requested format, unless the result has been written."""
    if text := _error_output(sentence, kind, exit_code):
        write_document(text)


def _error_output(sentence: str, kind: str, exit_code: int) -> str:
    """The error for standard output; empty if it has none, or if the result has been written."""
    if _formats.is_written:
        return ""
    message = _one_line(sentence)
    if _formats.json_output:
        document = {"error": {"kind": kind, "message": message, "exit_code": exit_code}}
        return document_text(document) + "\n"
    if _formats.check_format == "github":
        return annotation("error", kind, message)
    if _formats.check_format == "junit":
        return _error_junit(message, kind)
    return ""


def annotation(
    level: str, rule: str, message: str, file: str | None = None, line: int | None = None
) -> str:
    """A command by which GitHub Actions shows an annotation."""
    place = {"file": file, "line": line, "title": f"odefs {rule}"}
    given = [f"{key}={_property(str(value))}" for key, value in place.items() if value is not None]
    return f"::{level} {','.join(given)}::{_data(message)}\n"


def _data(text: str) -> str:
    # Escapes of workflow commands of GitHub Actions; the percent sign first, since the others
    # introduce it.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    # These separate properties from each other and from the message.
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _error_junit(message: str, kind: str) -> str:
    """A JUnit test suite for a check that could not be made: one case with an error."""
    # Without ElementTree, which a signal handler may not import.
    text = message.translate(XML_ESCAPES)
    return (
        "<?xml version='1.0' encoding='utf-8'?>\n"
        '<testsuite name="odefs check" tests="1" failures="0" errors="1" skipped="0">\n'
        '  <testcase classname="odefs.check" name="check">\n'
        f'    <error message="{text}" type="{kind}">{text}</error>\n'
        "  </testcase>\n"
        "</testsuite>\n"
    )


def parting_bytes(sentence: str, kind: str, exit_code: int) -> dict[int, bytes]:
    """Bytes of an error message per file descriptor.

    For signal handlers that end the process at any point and must not use streams.
    """
    line = (
        _line("error", "error", sentence, kind=kind, exit_code=exit_code)
        if _formats.json_log
        else f"odefs: {sentence}"
    )
    return {
        1: _error_output(sentence, kind, exit_code).encode(),
        2: f"{line}\n".encode(),
    }


@contextmanager
def usage_errors() -> Iterator[None]:
    """Report errors of click in the requested formats."""
    try:
        yield
    except click.ClickException as error:
        if _formats.json_log:
            fail("usage", error.format_message(), error.exit_code)
        # Text on standard error is left to click, which adds the usage line.
        write_error(error.format_message(), "usage", error.exit_code)
        raise
