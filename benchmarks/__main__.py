"""Run all benchmarks and write ``docs/performance.md``; ``python -m benchmarks NAME...`` runs those named and only prints."""

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks.result import Result
from odefs.versions import collect_versions, processor_name

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"

BENCHMARKS = (
    "start_up",
    "kernel",
    "block_scoring",
    "lesinn_speed",
    "against_iforest",
    "detect_file",
    "adaptive",
    "scale",
    "cost_model",
    "gpu",
)
"""Modules of this folder with a function ``run``; imported when run, for each has needs of its own."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--all", action="store_true", help="adaptive: all datasets instead of a few")
    parser.add_argument(
        "--share", type=float, default=1.0, help="scale, cost_model: on this share of the rows, to try it out"
    )
    parser.add_argument("--write", action="store_true", help="write the page from the named ones alone")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"{', '.join(unknown)}: no such benchmark; there are {', '.join(BENCHMARKS)}.")
    named = [*arguments.names, "--write"] if arguments.names else []
    lines = _heading(" ".join(["python -m benchmarks", *named, *(["--all"] if arguments.all else [])]))
    for name in arguments.names or BENCHMARKS:
        for result in _results(name, arguments.all, arguments.share):
            lines.append(
                f"| {result.what} | {result.measured} | {result.target} | {'yes' if result.met else '**no**'} |"
            )
            print(lines[-1], flush=True)
    if arguments.write or not arguments.names:
        PAGE.write_text("\n".join(lines) + "\n")
        print(f"Written to {PAGE}")


def _results(name: str, every: bool, share: float) -> list[Result]:
    options = {"adaptive": {"every": every}, "scale": {"share": share}, "cost_model": {"share": share}}.get(name, {})
    found: list[Result] = import_module(f"benchmarks.{name}").run(**options)
    return found


def _heading(command: str) -> list[str]:
    versions = collect_versions()
    used = ", ".join(f"{name} {versions[name]}" for name in ("python", "numpy", "scikit-learn", "blas", "kernel"))
    return [
        "# Performance",
        "",
        f"Written by `{command}`. Every line is a ratio, a size or a difference measured in one run on one machine:",
        f"{processor_name()}, {versions['threads']} threads; {used}.",
        "",
        "| what | measured | target | met |",
        "| --- | --- | --- | --- |",
    ]


if __name__ == "__main__":
    main()
