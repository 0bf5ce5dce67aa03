"""Run all benchmarks and update ``docs/explanation/performance.md``.

``python -m benchmarks NAME...`` runs only the named ones and prints their results.
"""

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks.performance_page import write_page
from benchmarks.records import add_record, read_records, record_of
from benchmarks.result import Result

DOCS = Path(__file__).parent.parent / "docs" / "explanation"

BENCHMARKS = (
    "start_up",
    "kernel",
    "block_scoring",
    "lesinn_speed",
    "against_iforest",
    "detect_file",
    "score_files",
    "wide_table",
    "installed_size",
    "adaptive",
    "scale",
    "cost_model",
    "gpu",
)
"""Modules of this folder with a function ``run``, imported when they run: their needs differ."""

WITH_OWN_PAGE = ("review",)
"""Further ones that run only by name, and write a page of their own."""

BY_NAME = ("flags", "groups", "planted", "ranking")
"""Further ones that run only by name."""


def main() -> None:
    known = (*BENCHMARKS, *WITH_OWN_PAGE, *BY_NAME)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"some of {', '.join(known)}; by default those of the page on performance",
    )
    parser.add_argument(
        "--all", action="store_true", help="adaptive: all datasets instead of a few"
    )
    parser.add_argument(
        "--share",
        type=float,
        default=1.0,
        help="scale, cost_model, score_files, wide_table: on this share of the rows, to try it out",
    )
    parser.add_argument("--write", action="store_true", help="put the named ones on the page too")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(known))
    if unknown:
        parser.error(f"{', '.join(unknown)}: no such benchmark; there are {', '.join(known)}.")
    for name in arguments.names or BENCHMARKS:
        results = _results(name, arguments.all, arguments.share)
        for result in results:
            print(*result[:3], "yes" if result.met else "NO", sep=" | ", flush=True)
        # On a share of the rows nothing is measured but whether it runs.
        is_on_page = name in BENCHMARKS and (arguments.write or not arguments.names)
        if results and arguments.share == 1 and is_on_page:
            called = f"{name} --all" if name == "adaptive" and arguments.all else name
            add_record(record_of(called, results, _machine(name)))
            write_page(read_records(), DOCS)


def _results(name: str, every: bool, share: float) -> list[Result]:
    options = {
        "adaptive": {"every": every},
        "scale": {"share": share},
        "cost_model": {"share": share},
        "score_files": {"share": share},
        "wide_table": {"share": share},
    }.get(name, {})
    found: list[Result] = import_module(f"benchmarks.{name}").run(**options)
    return found


def _machine(name: str) -> str | None:
    """What is measured on a GPU goes by its name."""
    if name != "gpu":
        return None
    found: str = import_module("torch").cuda.get_device_name()
    return found


if __name__ == "__main__":
    main()
