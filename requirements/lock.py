"""Lock files: pinned and hashed requirements (*.txt), written from the short lists in *.in.

Run by ``make lock``. A layer holds the packages it adds to the layer below. All layers come from
one resolution, so their pins agree. Each pin has the hashes of all files of its version in the
index, so the same pins install on other platforms and Python versions. Existing pins are kept where
possible; ``--upgrade`` looks for newer versions. uv resolves with its configured index; no file
names an index. torch-cpu.txt is maintained by hand; a message is printed if its version differs
from that in torch.txt.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker, default_environment

FOLDER = Path(__file__).parent
LAYERS = ("core", "detect", "docs", "dev")
ALONE = ("fuzz", "lock", "recipes")
"""Lists of environments of their own, resolved apart from the layers."""

EXTRAS_AT_LOWEST = (
    *("cli", "report", "review", "dask", "stream", "pyod", "onnx", "shap", "plots", "sql"),
)

TORCH = re.compile(r"torch$|triton$|cuda-|nvidia-")
"""PyTorch and the dependencies of its default Linux wheel, which go to a separate file.

Installations with the wheel without CUDA (torch-cpu.txt) need none of them.
"""

PLACES = [
    {
        "sys_platform": system,
        "platform_system": name,
        "os_name": family,
        "platform_machine": machine,
    }
    | {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.9"}
    for system, name, family, machine in (
        ("linux", "Linux", "posix", "x86_64"),
        ("linux", "Linux", "posix", "aarch64"),
        ("win32", "Windows", "nt", "AMD64"),
        ("darwin", "Darwin", "posix", "arm64"),
    )
    for minor in (11, 12, 13, 14)
]
"""Supported environments; must match ``tool.uv.environments`` in pyproject.toml."""

SHORT_MARKERS = (
    "sys_platform == 'linux'",
    "sys_platform == 'win32'",
    "python_version < '3.12'",
    "python_version < '3.13'",
    "python_version < '3.14'",
)


@dataclass(frozen=True)
class Pin:
    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]

    def __str__(self) -> str:
        condition = f" ; {self.marker}" if self.marker else ""
        return " \\\n    ".join(
            [f"{self.name}=={self.version}{condition}", *(f"--hash={h}" for h in self.hashes)]
        )


def short_marker(marker: str) -> str:
    """A short equivalent of a marker; empty if it holds in all supported environments.

    uv repeats all environments in every marker.
    """

    def holds(condition: str) -> list[bool]:
        return [Marker(condition).evaluate({**default_environment(), **place}) for place in PLACES]

    if not marker or all(holds(marker)):
        return ""
    return next((short for short in SHORT_MARKERS if holds(short) == holds(marker)), marker)


def parse(text: str) -> dict[str, Pin]:
    """The pins of a requirements file by name."""
    joined = re.sub(r"\\\n", " ", re.sub(r"^ *#.*\n|^-r .*\n", "", text, flags=re.MULTILINE))
    pins: dict[str, Pin] = {}
    for line in filter(str.strip, joined.splitlines()):
        hashes = tuple(re.findall(r"--hash=(sha256:[0-9a-f]{64})", line))
        requirement, _, marker = line.split("--hash")[0].partition(";")
        name, version = requirement.strip().split("==")
        if name in pins:
            raise SystemExit(
                f"{name} has two pins ({pins[name].version} and {version}): "
                "require one version in the .in file."
            )
        pins[name] = Pin(name, version, short_marker(marker.strip()), hashes)
    return pins


def resolve(*options: str, kept: str = "") -> dict[str, Pin]:
    """Resolve with uv; versions in ``kept``, the text of an earlier lock file, are preferred."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.txt"
        if kept:
            out.write_text(kept)
        fixed = [
            "--generate-hashes",
            "--no-emit-index-url",
            "--no-header",
            "--no-annotate",
            "--python-version=3.11",
            "--quiet",
        ]
        line = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "compile",
            *fixed,
            f"--output-file={out}",
            *options,
        ]
        subprocess.run(line, check=True, cwd=FOLDER.parent, stdout=subprocess.DEVNULL)
        return parse(out.read_text())


def constraints(pins: dict[str, Pin], folder: str) -> str:
    path = Path(folder) / "constraints.txt"
    path.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in pins.values()))
    return f"--constraint={path}"


def write(name: str, pins: dict[str, Pin], source: str, below: str | None = None) -> None:
    head = f"# Written by requirements/lock.py from {source}: change that, and run make lock.\n"
    include = f"-r {below}.txt\n" if below else ""
    lines = [str(pins[key]) for key in sorted(pins)]
    (FOLDER / f"{name}.txt").write_text(head + include + "\n".join(lines) + "\n")
    print(f"{name}.txt: {len(pins)} packages")


def tell_torch_cpu(version: str) -> None:
    """Print a reminder if torch-cpu.txt is out of date.

    The default index does not list the wheel without CUDA, so it cannot be locked here.
    """
    if f"torch=={version}+cpu" not in (FOLDER / "torch-cpu.txt").read_text():
        print(
            "torch-cpu.txt: to be changed by hand to "
            f"torch=={version}+cpu and the hash of its wheel"
        )


def lock(upgrade: bool) -> None:
    def before(*names: str) -> str:
        texts = [path.read_text() for name in names if (path := FOLDER / f"{name}.txt").exists()]
        return "" if upgrade else re.sub(r"^-r .*\n", "", "".join(texts), flags=re.MULTILINE)

    everywhere = ["--universal", "--fork-strategy=fewest"]
    whole = resolve(*everywhere, "requirements/dev.in", kept=before(*LAYERS, "torch"))
    with tempfile.TemporaryDirectory() as folder:
        pinned = constraints(whole, folder)
        layers = {name: resolve(*everywhere, pinned, f"requirements/{name}.in") for name in LAYERS}
    lower: set[str] = set()
    below = None
    for name, found in layers.items():
        write(
            name,
            {key: whole[key] for key in found if key not in lower and not TORCH.match(key)},
            f"{name}.in",
            below,
        )
        lower |= set(found)
        below = name
    write("torch", {key: pin for key, pin in whole.items() if TORCH.match(key)}, "dev.in")
    tell_torch_cpu(whole["torch"].version)

    tools = [line for line in (FOLDER / "lowest.in").read_text().splitlines() if line in whole]
    with tempfile.TemporaryDirectory() as folder:
        pinned = constraints({name: whole[name] for name in tools}, folder)
        extras = [f"--extra={name}" for name in EXTRAS_AT_LOWEST]
        options = [
            "--resolution=lowest-direct",
            *extras,
            pinned,
            "pyproject.toml",
            "requirements/lowest.in",
        ]
        write("lowest", resolve(*options, kept=before("lowest")), "lowest.in and pyproject.toml")
    for name in ALONE:
        write(
            name, resolve(*everywhere, f"requirements/{name}.in", kept=before(name)), f"{name}.in"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--upgrade", action="store_true", help="use the newest compatible versions")
    lock(parser.parse_args().upgrade)
