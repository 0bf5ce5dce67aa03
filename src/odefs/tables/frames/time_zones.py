"""Time zones in which times are displayed; stored and encoded times are seconds since 1970, UTC.

A zone is the name of a typed column's zone, such as ``Europe/Berlin``, an offset such as
``+02:00``, or ``UTC`` for text with several offsets. It is empty where cells have no zone or are
in UTC themselves: their times are displayed as they are.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from odefs.tables.frames.columns import Columns

SEVERAL = "UTC"
"""The zone of text with several offsets."""
_UTC_NAMES = frozenset(["UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "Zulu"])
_OFFSET = re.compile(r"(?:UTC)?(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2})?")
_ZONE_FILE = re.compile(r"zoneinfo/(?P<name>[\w+/-]+)")
_WITH_OFFSET = re.compile(
    r"\s*\d{4}[-/]\d{2}[-/]\d{2}.\d.*?(?P<zone>[zZ]|[+-]\d{2}(?::?\d{2})?)\s*"
)


def zone_of_type(name: object) -> str:
    """Return the zone of a column whose type has one; ``None`` is none."""
    text = "" if name is None else str(name)
    return "" if text in _UTC_NAMES or _offset(text) == timedelta(0) else text


def zone_of_object(zone: tzinfo) -> str:
    """Return the zone of a pandas column, whatever library it is of."""
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)  # zoneinfo, pytz
    if name is not None:
        return zone_of_type(name)
    offset = zone.utcoffset(None)
    if offset is not None:
        return zone_of_type(timezone(offset))
    file = _ZONE_FILE.search(str(zone))  # dateutil
    return zone_of_type(str(zone) if file is None else file["name"])


def zone_of_texts(texts: Iterable[str]) -> str:
    """Return the zone of ISO dates: their offset if all have the same one."""
    found = {_offset_in(text) for text in texts}
    if len(found) > 1:
        return SEVERAL
    (offset,) = found or {timedelta(0)}
    return str(timezone(offset)).removeprefix("UTC")


class SeenZones:
    """Zones of a table that is read in batches, so that they are those of all rows."""

    def __init__(self) -> None:
        self._zones: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, batch: Columns) -> None:
        for column in batch:
            # Missing cells have no offset, and the batches of text without others no zone.
            if column.kind == "time" and not column.missing.all():
                self._zones[column.name].add(column.zone)

    def of_columns(self) -> dict[str, str]:
        """Return the zone of each column of times: the only one, or that of several."""
        return {
            name: next(iter(zones)) if len(zones) == 1 else SEVERAL
            for name, zones in self._zones.items()
        }


def zone_named(name: str) -> tuple[tzinfo, str]:
    """Return a zone, and a mark that follows times in UTC which the table has in another one."""
    return (UTC, "") if not name else _zone_named(name)


@lru_cache(maxsize=64)
def _zone_named(name: str) -> tuple[tzinfo, str]:
    offset = _offset(name)
    if offset is not None:
        return timezone(offset), ""
    try:
        return (UTC, " UTC") if name == SEVERAL else (ZoneInfo(name), "")
    except (KeyError, ValueError, OSError):  # no such zone, or a system without a list of them
        return UTC, " UTC"


def _offset_in(text: str) -> timedelta:
    """Return the offset of a date; without one it is read as UTC."""
    match = _WITH_OFFSET.fullmatch(text)
    return timedelta(0) if match is None else _offset(match["zone"]) or timedelta(0)


def _offset(name: str) -> timedelta | None:
    match = _OFFSET.fullmatch(name)
    if match is None:
        return None
    size = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
    # Python's zones are less than a day from UTC.
    return None if size >= timedelta(days=1) else -size if match["sign"] == "-" else size
