"""Builds the site: ``python docs/site/build.py [FOLDER]``, by default into ``build/docs``.

Pages are staged first, so that nothing is generated among the sources: everything under ``docs``,
and pages that are elsewhere in the repository because readers look for them there. Links between
them are rewritten for the site. Sphinx then stops at any warning.
"""

import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = {
    "SECURITY.md": "project/security.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "RELEASING.md": "project/releasing.md",
    "CHANGELOG.md": "project/changelog.md",
    "src/odefs/report/templates/README.md": "project/report-templates.md",
}
TEXT = (".md", ".py", ".rst", ".css", ".txt", ".svg")
GENERATED = ("gallery", "reference/api/generated")
EXAMPLE = re.compile(r"examples/(\w+)\.py")  # scripts become pages of the gallery
LINK = re.compile(r"(?<=\]\()([^)#\s]+)")
FENCE = re.compile(r"(^ *```.*?^ *```)", re.DOTALL | re.MULTILINE)


def places(root: Path = ROOT) -> dict[str, str]:
    """Files of the repository that make up the site, and their places among the staged sources."""
    docs = root / "docs"
    own = (path.relative_to(docs) for path in sorted(docs.rglob("*")) if path.is_file())
    found = {
        f"docs/{path.as_posix()}": path.as_posix()
        for path in own
        if "__pycache__" not in path.parts
    }
    found |= {name: place for name, place in ELSEWHERE.items() if (root / name).exists()}
    found["docs/site/conf.py"] = "conf.py"
    return found


def turn_links(text: str, name: str, staged: dict[str, str]) -> str:
    """Text of the file ``name`` with links to other files rewritten to their staged places."""
    here = PurePosixPath(staged[name]).parent

    def turned(match: re.Match[str]) -> str:
        target = match[1]
        if re.match(r"[a-z]+:", target):
            return target
        origin = os.path.normpath(PurePosixPath(name).parent / target)
        if origin not in staged:
            if name.startswith("docs/") and not origin.startswith("docs/"):
                raise SystemExit(
                    f"{name} links to {target}, which is no part of the site: add it to ELSEWHERE "
                    f"in {__file__}."
                )
            return target
        return os.path.relpath(EXAMPLE.sub(r"gallery/\1.rst", staged[origin]), here)

    parts = FENCE.split(text)
    return "".join(part if FENCE.match(part) else LINK.sub(turned, part) for part in parts)


def stage(source: Path, root: Path = ROOT) -> None:
    """Update ``source``; unchanged files keep their times, so that they are not built again."""
    staged = places(root)
    for name, place in staged.items():
        path, content = source / place, (root / name).read_bytes()
        if name.endswith(".md"):
            content = turn_links(content.decode(), name, staged).encode()
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in source.rglob("*"):
        place = path.relative_to(source).as_posix()
        if path.is_file() and place not in staged.values() and not place.startswith(GENERATED):
            path.unlink()


def main(folder: str = str(ROOT / "build" / "docs")) -> int:
    build = Path(folder).resolve()
    stage(build / "source")
    options = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet", "--builder", "html"]
    paths = [f"--doctree-dir={build / 'doctrees'}", str(build / "source"), str(build / "html")]
    environment = {**os.environ, "MPLBACKEND": "agg", "ODEFS_ROOT": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, *paths], check=False, env=environment
    )
    if done.returncode == 0:
        print(f"The site: {build / 'html' / 'index.html'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
