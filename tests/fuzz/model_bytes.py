"""Model files taken apart and put together again with valid lengths and checksum.

Faults inside the file are then reached.
"""

import hashlib
import json
import struct
from collections.abc import Iterator
from typing import Any

from odefs.persist.file_format import ALIGNMENT, MAGIC, PREAMBLE, VERSION, aligned


def take_apart(content: bytes) -> tuple[Any, bytes]:
    """The header as an object, and the bytes of the arrays."""
    length = struct.unpack_from("<Q", content, 16)[0]
    start = aligned(PREAMBLE.size + length)
    return json.loads(content[PREAMBLE.size : PREAMBLE.size + length]), content[start:]


def assembled(header: Any, data: bytes) -> bytes:
    """A file with this header (an object or its text) and bytes, and valid lengths and checksum."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = text + (bytes(-len(text) % ALIGNMENT) + data if data else b"")
    front = struct.pack("<8sIIQQ", MAGIC, VERSION, 0, len(text), PREAMBLE.size + len(body))
    return front + hashlib.sha256(front + body).digest() + body


def repaired(content: bytes) -> bytes:
    """The same bytes with the best possible preamble: magic, version, length, checksum."""
    if len(content) < PREAMBLE.size:
        return content
    header_length = min(struct.unpack_from("<Q", content, 16)[0], len(content) - PREAMBLE.size)
    front = struct.pack("<8sIIQQ", MAGIC, VERSION, 0, header_length, len(content))
    body = content[PREAMBLE.size :]
    return front + hashlib.sha256(front + body).digest() + body


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside a JSON object."""
    yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in inner:
        yield from places(item, (*path, key))
