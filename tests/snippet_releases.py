"""What the commands of ``RELEASING.md`` work on: an index of packages, and a repository."""

import os
import subprocess
from contextlib import contextmanager
from importlib.metadata import distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import odefs
from building import build_wheel, copy_sources
from file_server import serving
from locations import ROOT
from snippet_settings import Setting, program

REHEARSAL = "/tmp/rehearsal"
PACKAGES = ("numpy", "scipy", "scikit-learn", "threadpoolctl", "joblib", "narwhals")


def plain_pip():
    """Variables under which pip has no settings of this machine."""
    own = {name: "" for name in os.environ if name.startswith("PIP_")}
    return {**own, "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


@contextmanager
def pip(folder):
    """Packages are looked for in the environment of the tests, and none is installed."""
    yield Setting(
        {**plain_pip(), "PIP_DRY_RUN": "1", "PIP_NO_INDEX": "1"}, after=_require_known_extras
    )


def _require_known_extras(snippet, done):
    """An extra that does not exist is only a warning of pip."""
    assert "does not provide the extra" not in done.stderr, done.stderr


@contextmanager
def rehearsal(folder):
    yield Setting(plain_pip(), {REHEARSAL: str(folder / "rehearsal")})


@contextmanager
def rehearsal_packages(folder):
    """The new environment finds the packages of this one, but nothing else of it."""
    linked = folder / "packages"
    linked.mkdir()
    for found in _with_dependencies(PACKAGES):
        for top in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
            (linked / top).symlink_to(found.locate_file(top))
    (site,) = (folder / "rehearsal").glob("lib/python3*/site-packages")
    (site / "packages.pth").write_text(f"{linked}\n")
    environment = {**plain_pip(), "PYTHONPATH": "", "PIP_NO_INDEX": "1"}
    yield Setting(environment, {REHEARSAL: str(folder / "rehearsal")})


def _with_dependencies(names):
    """The installed distributions of these names, and of all that they need."""
    found, left = {}, list(names)
    while left:
        name = canonicalize_name(left.pop())
        if name not in found:
            found[name] = distribution(name)
            needed = map(Requirement, found[name].requires or ())
            left += [
                one.name
                for one in needed
                if one.marker is None or one.marker.evaluate({"extra": ""})
            ]
    return found.values()


@contextmanager
def index(folder):
    """An index with the wheel of the checkout, as the version that it has."""
    dist = folder / "dist"
    if not dist.exists():
        dist.mkdir()
        (folder / "source").mkdir()
        copy_sources(folder / "source")
        built = build_wheel(folder / "source", dist)
        assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = dist.glob("odefs-*.whl")
    page = f'<!DOCTYPE html><a href="/{wheel.name}">{wheel.name}</a>'.encode()
    files = {"/simple/odefs/": page, f"/{wheel.name}": wheel.read_bytes()}
    types = {"/simple/odefs/": "text/html", f"/{wheel.name}": "application/zip"}
    with serving(files, types) as server:
        address = f"{server.address}/simple"
        variables = {"REHEARSAL_INDEX_URL": address, "PIP_INDEX_URL": address, "PYTHONPATH": ""}
        replaced = {
            REHEARSAL: str(folder / "rehearsal"),
            "X.Y.Z": odefs.__version__,
            "PATH_TO_CHECKOUT": str(ROOT),
        }
        yield Setting({**plain_pip(), **variables, "no_proxy": "127.0.0.1"}, replaced)


@contextmanager
def repository(folder):
    """A repository with one commit, a key to sign with, and a bare repository as its origin."""
    checkout, key = folder / "checkout", folder / "key"
    settings = folder / "gitconfig"
    line = [program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", key]
    subprocess.run(line, check=True)
    settings.write_text(
        "[user]\n\tname = tester\n\temail = tester@example.com\n"
        f"\tsigningKey = {key}\n[gpg]\n\tformat = ssh\n"
    )
    variables = {"GIT_CONFIG_GLOBAL": str(settings), "GIT_CONFIG_NOSYSTEM": "1"}
    environment = {**os.environ, **variables}
    for command in (
        ["init", "--quiet", "--bare", folder / "origin.git"],
        ["init", "--quiet", checkout],
        ["-C", checkout, "commit", "--quiet", "--allow-empty", "--message", "first"],
        ["-C", checkout, "remote", "add", "origin", folder / "origin.git"],
    ):
        subprocess.run([program("git"), *command], check=True, env=environment)
    yield Setting(variables, {"X.Y.Z": odefs.__version__}, checkout)
