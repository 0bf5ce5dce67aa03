"""Print architecture metrics as Markdown tables, for one checkout or two side by side."""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.architecture.calls import trace_actions
from benchmarks.architecture.sources import SIZES, n_cycles, read_source

HERE = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.architecture", description=__doc__)
    parser.add_argument(
        "--source", type=Path, metavar="PATH", help="another checkout; its code is read, not run"
    )
    parser.add_argument(
        "--compare", type=Path, metavar="PATH", help="a checkout to show in columns 'before'"
    )
    given = parser.parse_args()
    checkouts = [path.resolve() for path in (given.source or HERE, given.compare) if path]
    found = [count(checkout) for checkout in checkouts]
    table = max((HERE / "src").rglob("*.csv"), key=lambda path: path.stat().st_size)
    for tables, checkout in zip(found, [] if given.source else checkouts, strict=False):
        tables["Calls"] = trace_actions(checkout, table, installed=checkout == HERE)
    for title, rows in found[0].items():
        shown = _beside(found[1][title], rows) if given.compare else rows
        print(f"## {title}\n\n{_markdown(shown)}\n")


def count(checkout: Path) -> dict[str, dict[str, list]]:
    """Tables by title: rows by name, of which the first, without a name, has the columns."""
    root = checkout / "src" / "odefs"
    files = [read_source(path, root) for path in sorted(root.rglob("*.py"))]
    packages = {
        name: [f.sizes for f in files if f.package == name]
        for name in sorted({f.package for f in files})
    }
    packages["total"] = [file.sizes for file in files]
    sizes = {name: np.sum(each, axis=0).tolist() for name, each in packages.items()}
    c_lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in root.rglob("*.[ch]")]
    style = {name: [sum(file.style[name] for file in files)] for name in files[0].style}
    total = dict(zip(SIZES, sizes["total"], strict=True))
    density = f"{total['comments'] / total['code']:.3f}"
    lines = [file.sizes[SIZES.index("lines")] for file in files]
    lengths = {
        "lines of a file": lines,
        "lines of a function": [n for file in files for n in file.function_lines],
    }
    spread = {
        name: np.percentile(x, [50, 90, 100], method="inverted_cdf").tolist()
        for name, x in lengths.items()
    }
    style |= {
        "import cycles at module level": [n_cycles(files)],
        "comment lines per code line": [density],
    }
    return {
        "Packages": {
            "": SIZES,
            **sizes,
            "C sources": [len(c_lines), sum(c_lines), *[""] * (len(SIZES) - 2)],
        },
        "Style": {"": ["number"], **style},
        "Lengths": {"": ["median", "p90", "max"], **spread},
    }


def _beside(before: dict[str, list], after: dict[str, list]) -> dict[str, list]:
    """Two columns for each; rows that are gone come first, so that totals stay last."""
    empty = [""] * len(after[""])
    names = ["", *(name for name in before if name not in after), *list(after)[1:]]
    both = {
        name: zip(before.get(name, empty), after.get(name, empty), strict=True) for name in names
    }
    rows = {name: [value for pair in pairs for value in pair] for name, pairs in both.items()}
    return rows | {"": [f"{column} {when}" for column in after[""] for when in ("before", "after")]}


def _markdown(rows: dict[str, list]) -> str:
    cells = [
        [name, *(f"{x:,}" if isinstance(x, int) else x for x in row)] for name, row in rows.items()
    ]
    cells.insert(1, ["---", *["---:"] * (len(cells[0]) - 1)])
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


if __name__ == "__main__":
    main()
