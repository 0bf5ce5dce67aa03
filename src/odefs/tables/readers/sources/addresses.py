"""Addresses of tables: what they are called, and their display without passwords.

Passwords and signatures in an address must not reach messages, reports or model files.
"""

import re
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

DATABASES = ("postgresql", "postgres")
DOWNLOADS = ("https", "http")
BUCKETS = ("s3", "gs")
SCHEMES = (*DATABASES, *DOWNLOADS, *BUCKETS)
SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
HIDDEN = "***"

LOGIN = re.compile(r"(?<=://)(.*)@", re.DOTALL)
"""User and password: everything up to the last ``@``, as passwords may contain any character."""
PARAMETER = re.compile(r"(?<=[?&])([^=&#\s]+)=([^&\s]*)")
BARE_PARAMETER = re.compile(r"(?<=[?&])[^=&\s]+(?=&|\s|$)")
"""A parameter without a value, which may be the rest of a password with an ``&``."""
SECRET = re.compile(r"pass|secret|token|key|sig|cred|auth", re.IGNORECASE)


def scheme_of(file: object) -> str | None:
    """Return the scheme of an address in lower case; ``None`` for files."""
    found = SCHEME.match(str(file))
    return found[1].lower() if found else None


def without_secrets(text: str) -> str:
    """Return a text with the passwords of all addresses in it replaced.

    These are passwords before ``@``, parameters whose names suggest a secret or that have no value
    and, on the web, all parameters: any of them may be a signature.
    """
    if "://" not in text:
        return text
    hides_all = re.search(r"https?://", text, re.IGNORECASE) is not None
    text = BARE_PARAMETER.sub(HIDDEN, LOGIN.sub(_hidden_login, text))
    return PARAMETER.sub(
        lambda found: f"{found[1]}={HIDDEN}" if hides_all or SECRET.search(found[1]) else found[0],
        text,
    )


def _hidden_login(found: re.Match[str]) -> str:
    user, mark, _ = found[1].partition(":")
    return f"{user}:{HIDDEN}@" if mark else f"{user}@"


def address_name(address: str) -> str:
    """Return the name of the file or database at an address, without parameters."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return "table"
    return PurePosixPath(unquote(parts.path)).name or host or "table"
