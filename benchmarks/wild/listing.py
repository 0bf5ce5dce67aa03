"""Reads ``files.toml``: packages with their hashes, and the files in them that are used."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LISTING = Path(__file__).parent / "files.toml"


@dataclass(frozen=True)
class Package:
    """A file of the registry: a wheel or a source distribution."""

    name: str
    version: str
    archive: str
    sha256: str
    within: str | None = None
    """Archive inside the archive that contains the files."""


@dataclass(frozen=True)
class WildFile:
    """A file of a package, and what is known about it."""

    package: Package
    path: str
    shape: tuple[int, int] | None = None
    """Rows and columns that a person finds in the file."""
    is_refused: bool | None = None
    """Whether the file contains no table; ``None`` if both answers are acceptable."""

    known: tuple[str, ...] = ()
    """Faults that are known, which are shown but do not fail the run."""

    @property
    def label(self) -> str:
        return f"{self.package.name}: {Path(self.path).name}"

    @property
    def format(self) -> str:
        """Suffixes of the file, such as ``csv.gz``."""
        *_, first, last = ("", *Path(self.path).name.lower().rsplit(".", 2))
        packed = last in ("gz", "bz2", "xz", "zst", "zip") and first.isalpha()
        return f"{first}.{last}" if packed else last


def read_listing(path: Path = LISTING) -> list[WildFile]:
    """Return all files of the listing, in its order."""
    with open(path, "rb") as file:
        packages = tomllib.load(file)["package"]
    return [_file(package, one) for package in packages for one in package["files"]]


def _file(package: dict[str, Any], one: str | dict[str, Any]) -> WildFile:
    known = {"path": one} if isinstance(one, str) else dict(one)
    fields = {key: value for key, value in package.items() if key not in ("files", "folder")}
    path = known["path"]
    folder = package.get("folder")
    return WildFile(
        Package(**fields),
        f"{folder}/{path}" if folder else path,
        tuple(known["shape"]) if "shape" in known else None,
        known.get("refused", False if "shape" in known else None),
        tuple(known.get("known", ())),
    )
