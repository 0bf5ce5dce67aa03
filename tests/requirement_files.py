"""The files of ``requirements/`` as data: what is pinned, for whom, with which hashes."""

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent.parent / "requirements"
LAYERS = ("core", "detect", "docs", "dev")


class Line(NamedTuple):
    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def lines_of(name):
    """Requirements of one file, without what it includes."""
    text = re.sub(r"^#.*\n|^-r .*\n", "", (FOLDER / f"{name}.txt").read_text(), flags=re.MULTILINE)
    found = []
    for line in re.sub(r"\\\n *", "", text).splitlines():
        match = re.fullmatch(
            r"([a-z0-9-]+)==([^\s;]+)(?: ; ([^\\]*?))? ?((?: ?--hash=sha256:[0-9a-f]{64})*)", line
        )
        assert match, f"{name}.txt: {line[:80]}"
        found.append(
            Line(
                match[1],
                match[2],
                (match[3] or "").strip(),
                tuple(re.findall("sha256:[0-9a-f]{64}", match[4])),
            )
        )
    return found


def pins_up_to(layer):
    """``name==version`` of a layer and all below it, as constraints without hashes."""
    layers = LAYERS[: LAYERS.index(layer) + 1]
    return [f"{line.name}=={line.version}" for name in layers for line in lines_of(name)]
